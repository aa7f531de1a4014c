"""Text that is not what it seems: hidden characters made visible, and what a reviewer should be warned of.

Ordinary text of any language and emoji stay as they are. A character that shows nothing, moves or covers other text,
or could be mistaken for an ordinary blank is written as a mark: `⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩`.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from heapq import merge
from itertools import groupby, islice

import regex

from agent.review.text.character_names import named
from agent.review.text.lookalikes import Kind as TextKind
from agent.review.text.lookalikes import lookalikes
from agent.review.text.url_users import url_users

PADDING = 80
"""This many spaces in a row can push what follows out of sight."""
FLOOD = 10
"""This many line breaks in a row can push what follows out of sight."""
TOLD = 20
"""Findings that are listed one by one: a megabyte of them must not fill a page."""
MOST_MARKS = 200
"""If more hidden characters than this alternate in a row, they are not written out one by one."""
_SPELT_OUT = 400
"""Up to this many different hidden characters are searched for as a set, which is quick once it is made."""
_KEPT = 64  # results kept, since a page asks again with every click


class Suspicion(StrEnum):
    """What a warning is about."""

    HIDDEN = "hidden"
    """Characters that show nothing, or move or cover other text."""
    PADDING = "padding"
    """So much blank space that what follows may be overlooked."""
    IMITATION = "imitation"
    """Text written as if it were one of the marks."""
    LOOKALIKE = "lookalike"
    """Letters of another script or form that pass for the ones expected."""
    URL_USER = "url user"
    """A URL that names a user before its host, which may be taken for the host."""


@dataclass(frozen=True)
class Caution:
    """Something to look at twice in one argument, or in a tool's name or a summary."""

    argument: str
    suspicion: Suspicion
    found: tuple[str, ...]
    """What was found, one short text each; it may quote the argument, so it is shown literally too."""


@lru_cache(maxsize=_KEPT)
def visible(text: str) -> str:
    """Return the text with everything hidden or deceptive replaced by marks.

    Different texts are always shown differently, even if one of them imitates a mark. No indent or blank is left at
    the start or the end, where a page would cut it off.
    """
    shown, done = [], 0
    for start, end, mark, _, _ in _marks(text):
        shown += [text[done:start], mark]
        done = end
    return "".join([*shown, text[done:]]) if shown else text


@lru_cache(maxsize=_KEPT)
def cautions(argument: str, text: str, kind: TextKind = "text") -> tuple[Caution, ...]:
    """Return what a reviewer should be warned of, at most one caution for each suspicion.

    `kind` is `name` if the whole text is a name, such as a tool's. In other text, hosts, addresses and paths are
    looked for.
    """
    found: dict[Suspicion, Counter[str]] = {}
    for start, end, _, suspicion, told in _marks(text):
        if suspicion:
            each = found.setdefault(suspicion, Counter())
            if suspicion is Suspicion.HIDDEN:
                each.update(text[start:end])
            else:
                each[told] += 1
    if alike := lookalikes(text, kind):
        found[Suspicion.LOOKALIKE] = Counter(alike)
    if users := url_users(text):
        found[Suspicion.URL_USER] = Counter(users)
    return tuple(Caution(argument, suspicion, _told(suspicion, each)) for suspicion, each in found.items())


def _told(suspicion: Suspicion, found: Counter[str]) -> tuple[str, ...]:
    some = [
        (named(one) if suspicion is Suspicion.HIDDEN else one, times)
        for one, times in islice(found.items(), TOLD)
    ]
    each = [f"{told} ×{times:,}" if times > 1 else told for told, times in some]
    return (*each, f"and {len(found) - TOLD:,} more") if len(found) > TOLD else tuple(each)


# The prepended marks of Arabic, Syriac and Kaithi are format characters that can be seen.
_HIDDEN = regex.compile(
    r"(?V1)[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Variation_Selector}\u2800\U0001D159]"
    r"--[ \n\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\U000110BD\U000110CD]]"
)
_MARK_LIKE = r"⟨(?=U\+|NEWLINE|TAB|SPACE|CR⟩|\d+[ ](?:NEWLINE|TAB|SPACE|HIDDEN))"
# A flag of England, Scotland or Wales is spelt with tags; other tags after a flag carry hidden text.
_FLAGS = "|".join("".join(chr(0xE0000 + ord(c)) for c in code) for code in ("gbeng", "gbsct", "gbwls"))


def _suspect(hidden: str, changing: str) -> str:
    """Return the pattern of what is to be marked.

    Both arguments are contents of a set of characters: all hidden ones, and those without tab and CR.
    """
    return rf"""(?=[\n\ ⟨\U0001F3F4{hidden}])(?:
        (?P<flag>\U0001F3F4(?:{_FLAGS})\U000E007F)
        |(?P<flood>\n{{{FLOOD},}}+)
        |(?P<newline>\A\n|\n\Z)
        |(?P<cr>\r(?=\n))
        |(?P<tabs>\t++)
        |(?P<spaces>\A[ ]++|(?<![ ])[ ]++(?=\r?\n|\Z))
        |(?P<padding>(?<![ ])[ ]{{{PADDING},}}+)
        |(?P<imitation>{_MARK_LIKE})
        |(?P<many>[{changing}]{{{MOST_MARKS},}}+)
        |(?P<hidden>[{hidden}])(?P=hidden)*+
    )"""


@lru_cache(maxsize=_KEPT)
def _suspect_among(hidden: str) -> re.Pattern[str] | regex.Pattern[str]:
    """Return the pattern of what is to be marked in a text that holds no other hidden characters than these."""
    if len(hidden) > _SPELT_OUT:
        every = _HIDDEN.pattern.removeprefix("(?V1)")
        return regex.compile(_suspect(every, rf"{every}--[\t\r]"), regex.VERBOSE | regex.VERSION1)
    each = {char: f"\\U{ord(char):08x}" for char in hidden}
    changing = (code for char, code in each.items() if char not in "\t\r")
    return re.compile(_suspect("".join(each.values()), "".join(changing)), re.VERBOSE)


_STACKING = regex.compile(r"(?V1)[[\p{Mn}\p{Me}]--[\p{Default_Ignorable_Code_Point}\p{Variation_Selector}]]")
# Marks that are wider than a letter, and strokes through one.
_COVERING = r"[\u0488\u0489]|(?<=[\p{L}\p{N}\p{M}])[\u0336-\u0338\u20E5\u20EA\u20EB]"
_STACKS = regex.compile(rf"(?P<stack>{_STACKING.pattern}{{3,}}+)|(?P<covering>(?:{_COVERING})++)")


def _suspects(text: str) -> Iterator[re.Match[str] | regex.Match[str]]:
    beyond = "" if text.isascii() else "".join(sorted(char for char in set(text) if char > "\x7f"))
    hidden, has_stacks = _judged(beyond)
    found = _suspect_among(hidden).finditer(text)
    return merge(found, _STACKS.finditer(text), key=lambda match: match.start()) if has_stacks else found


@lru_cache(maxsize=_KEPT)
def _judged(alphabet: str) -> tuple[str, bool]:
    """Return what is hidden in a text of these characters beyond ASCII, and whether marks may stack in it.

    What is hidden includes all controls. Properties are slow to look up and sets of characters are quick, so each
    character is looked up once.
    """
    return _CONTROLS + "".join(_HIDDEN.findall(alphabet)), _STACKING.search(alphabet) is not None


_CONTROLS = "".join(map(chr, [*range(0x0A), *range(0x0B, 0x20), 0x7F]))

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
"""Start, end, the mark shown there, its suspicion, and the finding's text, which is unused for hidden characters."""


def _marks(text: str) -> Iterator[_Mark]:
    for match in _suspects(text):
        start, end = match.span()
        match match.lastgroup:
            case "hidden":
                if not _is_ordinary(text, start, end):
                    yield start, end, _written(text[start], end - start), Suspicion.HIDDEN, ""
            case "flag":
                continue
            case "stack":
                if _covers(match[0]):
                    yield from _one_by_one(text, start, end)
            case "covering" | "many":
                yield from _one_by_one(text, start, end)
            case blank:
                yield _of_blank(text, start, end, str(blank))


def _of_blank(text: str, start: int, end: int, kind: str) -> _Mark:
    count = end - start
    match kind:
        case "flood":
            # At the edge of the text a page would trim the line break.
            before, after = "\n" if start else "", "\n" if end < len(text) else ""
            mark = f"{before}⟨{count} NEWLINES⟩{after}"
            return start, end, mark, Suspicion.PADDING, f"{count:,} line breaks in a row"
        case "newline":
            # The line break itself is drawn only where text follows it.
            return start, end, "⟨NEWLINE⟩" if end == len(text) else "⟨NEWLINE⟩\n", None, ""
        case "cr":
            return start, end, "⟨CR⟩", None, ""
        case "tabs":
            return start, end, _counted("TAB", count), None, ""
        case "imitation":
            return start, end, f"⟨{named('⟨')}⟩", Suspicion.IMITATION, "a mark that is part of the text"
        case _:
            suspicion = Suspicion.PADDING if count >= PADDING else None
            return start, end, _counted("SPACE", count), suspicion, f"{count:,} spaces in a row"


def _one_by_one(text: str, start: int, end: int) -> Iterator[_Mark]:
    """Yield each hidden character of a row with its repetitions; for a long row, only its length and digest."""
    row = text[start:end]
    if len(list(islice(groupby(row), MOST_MARKS + 1))) > MOST_MARKS:
        digest = hashlib.sha256(row.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        yield start, end, f"⟨{len(row)} HIDDEN CHARACTERS, SHA-256 {digest}⟩", Suspicion.HIDDEN, ""
        return
    for char, alike in groupby(row):
        end = start + sum(1 for _ in alike)
        if not _is_ordinary(text, start, end):
            yield start, end, _written(char, end - start), Suspicion.HIDDEN, ""
        start = end


# A letter with more marks than any language writes covers the lines around it: Unicode's UTS #39 (5.4) allows 4 of the
# marks that any letter can take. Tibetan, Hebrew and Burmese put more of their own on one, but never the same one thrice.
_MOST_ON_ONE, _MOST_OF_ANY = 8, 4
_OF_ANY = regex.compile(
    r"(?V1)[\u0300-\u036F\u0483-\u0489\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20F0\uFE20-\uFE2F]"
)
_THRICE = regex.compile(r"(.)\1\1")


def _covers(stack: str) -> bool:
    of_any = _OF_ANY.findall(stack[: _MOST_ON_ONE + 1])
    return len(stack) > _MOST_ON_ONE or len(of_any) > _MOST_OF_ANY or _THRICE.search(stack) is not None


def _counted(what: str, count: int) -> str:
    return f"⟨{what}⟩" if count == 1 else f"⟨{count} {what}S⟩"


@lru_cache(maxsize=4_096)
def _written(char: str, count: int) -> str:
    times = f" ×{count}" if count > 1 else ""
    return f"⟨{named(char)}{times}⟩"
