"""Text that is not what it seems: hidden characters made visible, and what a reviewer should be warned of.

Ordinary text of any language and emoji stay as they are. What shows nothing, moves or covers other text, or
could be taken for another character's blank is written as a mark: `⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

import regex

from agent.review.lookalikes import Kind as TextKind
from agent.review.lookalikes import lookalikes

PADDING = 80
"""Spaces in a row from which on they can push what follows out of sight."""
FLOOD = 10
"""Line breaks in a row from which on they can."""
TOLD = 20
"""Findings told one by one; a megabyte of them must not become a page of its own."""
_KEPT = 64  # answers kept, since a page asks anew with every click


class Suspicion(StrEnum):
    """What a warning is about."""

    HIDDEN = "hidden"
    """Characters that show nothing, or move or cover other text."""
    PADDING = "padding"
    """So much blank space that what follows may be overlooked."""
    IMITATION = "imitation"
    """Text written as if it were one of the marks."""
    LOOKALIKE = "lookalike"
    """Letters of another script that pass for the ones expected."""


@dataclass(frozen=True)
class Caution:
    """Something to look at twice in one argument, or in a tool's name or a summary."""

    argument: str
    suspicion: Suspicion
    found: tuple[str, ...]
    """What was found, one short text each; it may quote the argument, so it is shown literally too."""


@lru_cache(maxsize=_KEPT)
def visible(text: str) -> str:
    """The text with everything hidden or deceptive replaced by marks.

    Different texts are always shown differently, also where one of them imitates a mark. Nothing stands
    indented or blank at the start or the end, where a page would cut it off.
    """
    shown, done = [], 0
    for start, end, mark, _, _ in _marks(text):
        shown += [text[done:start], mark]
        done = end
    return "".join([*shown, text[done:]]) if shown else text


@lru_cache(maxsize=_KEPT)
def cautions(argument: str, text: str, kind: TextKind = "text") -> tuple[Caution, ...]:
    """What a reviewer should be warned of, at most one caution for each suspicion.

    `kind` is `name` where the whole text is one, as a tool's. Elsewhere hosts, addresses and paths are looked for.
    """
    found: dict[Suspicion, dict[str, int]] = {}
    for start, end, _, suspicion, told in _marks(text):
        if suspicion:
            each = found.setdefault(suspicion, {})
            each[told] = each.get(told, 0) + (end - start if suspicion is Suspicion.HIDDEN else 1)
    if alike := lookalikes(text, kind):
        found[Suspicion.LOOKALIKE] = dict.fromkeys(alike, 1)
    return tuple(Caution(argument, suspicion, _told(each)) for suspicion, each in found.items())


def _told(found: dict[str, int]) -> tuple[str, ...]:
    each = [f"{told} ×{times:,}" if times > 1 else told for told, times in found.items()]
    return (*each[:TOLD], f"and {len(each) - TOLD:,} more") if len(each) > TOLD else tuple(each)


# The prepended marks of Arabic, Syriac and Kaithi are format characters that can be seen.
_HIDDEN = (
    r"[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Variation_Selector}\u2800\U0001D159]"
    r"--[ \n\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\U000110BD\U000110CD]]"
)
_MARK_LIKE = r"⟨(?=U\+|NEWLINE|TAB|SPACE|CR⟩|\d+[ ](?:NEWLINE|TAB|SPACE))"
# A flag of England, Scotland or Wales is spelt with tags; other tags after a flag carry hidden text.
_FLAGS = "|".join("".join(chr(0xE0000 + ord(c)) for c in code) for code in ("gbeng", "gbsct", "gbwls"))


def _suspect(hidden: str) -> regex.Pattern[str]:
    return regex.compile(
        rf"""(?V1)
        (?P<flag>\U0001F3F4(?:{_FLAGS})\U000E007F)
        |(?P<flood>\n{{{FLOOD},}}+)
        |(?P<newline>\A\n|\n\Z)
        |(?P<cr>\r(?=\n))
        |(?P<tabs>\t++)
        |(?P<spaces>\A[ ]++|(?<![ ])[ ]++(?=\r?\n|\Z))
        |(?P<padding>(?<![ ])[ ]{{{PADDING},}}+)
        |(?P<imitation>{_MARK_LIKE})
        |(?P<hidden>{hidden})(?P=hidden)*+
        """,
        regex.VERBOSE,
    )


_SUSPECT = _suspect(_HIDDEN)
_SUSPECT_IN_ASCII = _suspect(r"[\x00-\x08\x0B-\x1F\x7F]")

_JOINING = (
    r"[\p{L}\p{M}&&[\p{Arabic}\p{Syriac}\p{Mandaic}\p{Nko}\p{Mongolian}\p{Devanagari}\p{Bengali}\p{Gurmukhi}"
    r"\p{Gujarati}\p{Oriya}\p{Tamil}\p{Telugu}\p{Kannada}\p{Malayalam}\p{Sinhala}\p{Khmer}\p{Myanmar}]]"
)
_UNSPACED = r"[\p{L}\p{M}&&[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]]"
_WIDE = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\u3001-\u303F\uFF00-\uFFEF]"
_PICTURE = r"\p{Extended_Pictographic}"
_IN_A_WORD = rf"(?<={_JOINING}).(?={_JOINING})|(?<=\p{{Canonical_Combining_Class=9}})."
_NUMBER = r"\p{Nd}\p{Sc}"
_IN_A_NUMBER = rf"(?<=[{_NUMBER}«‹„“—–§№]).(?=\S)|(?<=\S).(?=[{_NUMBER}?!;:»›%‰°—–…])"
_AFTER_MONGOLIAN = r"(?<=[\p{L}&&\p{Mongolian}])."
_ORDINARY = {
    "\u200d": rf"{_IN_A_WORD}|(?<=[\p{{L}}&&\p{{Arabic}}]).|(?<=[{_PICTURE}\p{{Emoji_Modifier}}\uFE0F]).(?={_PICTURE})",
    "\u200c": _IN_A_WORD,
    "\u200b": rf"(?<={_UNSPACED}).(?={_UNSPACED})",
    "\ufe0e": r"(?<=[\p{Emoji}--[0-9#*]]).",
    "\ufe0f": r"(?<=[\p{Emoji}--[0-9#*]]).|(?<=[0-9#*]).(?=\u20E3)",
    "\u00a0": rf"{_IN_A_NUMBER}|(?<=\b\p{{L}}).(?=\p{{L}})",
    "\u202f": _IN_A_NUMBER,
    "\u2009": _IN_A_NUMBER,
    "\u3000": rf"(?<={_WIDE})\u3000{{1,2}}(?=\S)|(?<![^\n])\u3000{{1,2}}(?={_WIDE})|(?<=\S)\u3000(?={_WIDE})",
    "\u180b": _AFTER_MONGOLIAN,
    "\u180c": _AFTER_MONGOLIAN,
    "\u180d": _AFTER_MONGOLIAN,
    "\u180f": _AFTER_MONGOLIAN,
    "\u180e": r"(?<=\p{Mongolian}).(?=[\p{L}&&\p{Mongolian}])",
    "\u2800": r"(?<=[\u2801-\u28FF]).(?=[\u2801-\u28FF])",
}
"""Where ordinary writing uses a character that is suspect elsewhere."""


@cache
def _ordinary(char: str) -> regex.Pattern[str] | None:
    return regex.compile(f"(?V1){_ORDINARY[char]}") if char in _ORDINARY else None


def _is_ordinary(text: str, start: int, end: int) -> bool:
    pattern = _ordinary(text[start])
    found = pattern.match(text, start) if pattern else None
    return found is not None and found.end() == end


_Mark = tuple[int, int, str, Suspicion | None, str]
"""From, to, the mark shown there, what it makes suspect, and how that is told."""


def _marks(text: str) -> Iterator[_Mark]:
    pattern = _SUSPECT_IN_ASCII if text.isascii() else _SUSPECT
    for match in pattern.finditer(text):
        start, end = match.span()
        count = end - start
        match match.lastgroup:
            case "flag":
                continue
            case "flood":
                # At the edge of the text a page would trim the line break.
                before, after = "\n" if start else "", "\n" if end < len(text) else ""
                mark = f"{before}⟨{count} NEWLINES⟩{after}"
                yield start, end, mark, Suspicion.PADDING, f"{count:,} line breaks in a row"
            case "newline":
                # The line break itself is drawn only where text follows it.
                yield start, end, "⟨NEWLINE⟩" if end == len(text) else "⟨NEWLINE⟩\n", None, ""
            case "cr":
                yield start, end, "⟨CR⟩", None, ""
            case "tabs":
                yield start, end, _counted("TAB", count), None, ""
            case "spaces" | "padding":
                suspicion = Suspicion.PADDING if count >= PADDING else None
                yield start, end, _counted("SPACE", count), suspicion, f"{count:,} spaces in a row"
            case "imitation":
                yield start, end, f"⟨{_named('⟨')}⟩", Suspicion.IMITATION, "a mark that is part of the text"
            case _:
                if not _is_ordinary(text, start, end):
                    named = _named(text[start])
                    times = f" ×{count}" if count > 1 else ""
                    yield start, end, f"⟨{named}{times}⟩", Suspicion.HIDDEN, named


def _counted(what: str, count: int) -> str:
    return f"⟨{what}⟩" if count == 1 else f"⟨{count} {what}S⟩"


_CONTROLS = [
    "NULL",
    "START OF HEADING",
    "START OF TEXT",
    "END OF TEXT",
    "END OF TRANSMISSION",
    "ENQUIRY",
    "ACKNOWLEDGE",
    "BELL",
    "BACKSPACE",
    "CHARACTER TABULATION",
    "LINE FEED",
    "LINE TABULATION",
    "FORM FEED",
    "CARRIAGE RETURN",
    "SHIFT OUT",
    "SHIFT IN",
    "DATA LINK ESCAPE",
    "DEVICE CONTROL ONE",
    "DEVICE CONTROL TWO",
    "DEVICE CONTROL THREE",
    "DEVICE CONTROL FOUR",
    "NEGATIVE ACKNOWLEDGE",
    "SYNCHRONOUS IDLE",
    "END OF TRANSMISSION BLOCK",
    "CANCEL",
    "END OF MEDIUM",
    "SUBSTITUTE",
    "ESCAPE",
    "INFORMATION SEPARATOR FOUR",
    "INFORMATION SEPARATOR THREE",
    "INFORMATION SEPARATOR TWO",
    "INFORMATION SEPARATOR ONE",
]
_UNNAMED = {"Cc": "CONTROL", "Co": "PRIVATE USE", "Cs": "SURROGATE", "Cn": "UNASSIGNED"}


@cache
def _named(char: str) -> str:
    """`U+202E RIGHT-TO-LEFT OVERRIDE`."""
    code = ord(char)
    if code < len(_CONTROLS):
        name = _CONTROLS[code]
    elif code == 0x7F:
        name = "DELETE"
    else:
        name = unicodedata.name(char, "") or _UNNAMED[unicodedata.category(char)]
    return f"U+{code:04X} {name}"
