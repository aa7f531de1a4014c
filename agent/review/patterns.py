"""Search, in linear time, for regular expressions that come from files, tools and people.

They run on RE2, which never backtracks: the time of a search is at most the size of the pattern times that of the
text, and other threads go on meanwhile. RE2 differs from Python's `re` and is mostly what JSON Schema means:

    \\d \\w \\s \\b   are ASCII only. `\\d` does not find "٣", and `\\s` finds neither a no-break space nor `\\v`.
                  `\\pL`, `\\p{Greek}`, `\\pN` name Unicode's classes.
$             is the end of the text only, never the place before a last line break. `\\Z` is read as `\\z`.
    \\uXXXX        is read as that character, which RE2 itself writes `\\x{XXXX}`.
    {,3}          would be literal text to RE2 and "at most three" to Python: it is refused. Write {0,3}.
    not taken     lookahead and lookbehind, backreferences, atomic groups, possessive quantifiers, conditions,
                  comments, the flags a, L, u and x, and a repetition of more than 1,000.

A pattern that is not taken raises `PatternRefused`, and so does a search that would be too much work. The caller then
does not know whether the pattern is found, and has to take the safe side.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import re2

MAX_PATTERN = 10_000
"""Characters that a pattern may have."""
MOST_WORK = 1_000_000_000
"""Instructions of the compiled pattern times bytes of the text: a few seconds at the very worst."""
MEMORY = 2_000_000
"""Bytes that one compiled pattern may take, including the states it finds while searching."""

# An escape, a complete class or a repetition without a lower bound. An unclosed class ends with the text.
_PART = re.compile(
    r"\\(?:u(?P<code>[0-9A-Fa-f]{4})|.)|\[\^?\]?(?:\\.|[^\]\\])*+(?:\]|\\?\Z)|(?P<open>\{,\d*\})", re.S
)
_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9A-Fa-f]{4})|.)", re.S)


class PatternRefused(ValueError):
    """A pattern that cannot be searched for in linear time, or a search that is too much work. Says what to write."""


def search(pattern: str, text: str) -> bool:
    """Return whether the pattern is found anywhere in the text. Raises `PatternRefused`."""
    compiled = _compiled(pattern)
    encoded = text.encode("utf-8", "surrogatepass")
    if compiled.programsize * len(encoded) > MOST_WORK:
        raise PatternRefused(
            f"The pattern {_brief(pattern)} is too large for a text of {len(encoded):,} bytes. "
            "Write it with smaller repetitions, or bound the text's length."
        )
    return compiled.search(encoded) is not None


def check(pattern: object) -> None:
    """Raise `PatternRefused` if the pattern cannot be searched for at all."""
    if not isinstance(pattern, str):
        raise PatternRefused(
            f"{_brief(str(pattern))} is not a regular expression but a {type(pattern).__name__}. Write a text."
        )
    _compiled(pattern)


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> Any:
    if len(pattern) > MAX_PATTERN:
        raise PatternRefused(
            f"The pattern {_brief(pattern)} has {len(pattern):,} characters; at most {MAX_PATTERN:,} are taken."
        )
    options = re2.Options()
    options.max_mem, options.log_errors, options.never_capture = MEMORY, False, True
    try:
        return re2.compile(_PART.sub(_rewritten, pattern).encode("utf-8"), options=options)
    except (re2.error, UnicodeEncodeError) as error:
        words = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        raise PatternRefused(
            f"{_brief(pattern)} is not a regular expression that RE2 takes: {words}. "
            "Write it without lookaround, backreferences and possessive or very large repetitions."
        ) from None


def _rewritten(part: re.Match[str]) -> str:
    """Return a part of a pattern in RE2's spelling, where that differs."""
    if part["open"]:
        raise PatternRefused(
            f"A repetition {part['open']} means different things to different readers. Write {{0{part['open'][1:]}."
        )
    if part[0].startswith("["):
        return _ESCAPE.sub(_escape, part[0])
    return _escape(part)


def _escape(part: re.Match[str]) -> str:
    if part["code"]:
        if 0xD800 <= int(part["code"], 16) <= 0xDFFF:
            raise PatternRefused(
                f"{part[0]} is half of a character. Write the complete one, such as \\x{{1F600}}."
            )
        return f"\\x{{{part['code']}}}"
    return r"\z" if part[0] == r"\Z" else part[0]


def _brief(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 80 else f"{pattern[:80]}…")
