"""Letters that pass for others: mixed scripts and look-alikes in names and words, after Unicode's UTS #39.

What looks like what, and which script a letter belongs to, is Unicode's own data (`confusables.txt`,
`Scripts.txt`) as `confusable-homoglyphs` carries it. Text in one script is never reported, except a name
in which every letter of a script could be a Latin one.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from string import ascii_letters
from typing import Literal, TypeAlias

import regex
from confusable_homoglyphs.categories import alias
from confusable_homoglyphs.confusables import confusables_data

from agent.review.text.dotless import DOTLESS, imitates

Kind: TypeAlias = Literal["text", "name"]
Finding: TypeAlias = tuple[str, str]
"""The name or word, and the letter in it that is not what it seems."""

# UTS #39, "highly restrictive": scripts that are written together.
_TOGETHER = (
    {"LATIN", "HAN", "HIRAGANA", "KATAKANA"},
    {"LATIN", "HAN", "BOPOMOFO"},
    {"LATIN", "HAN", "HANGUL"},
)
_NO_SCRIPT = {"COMMON", "INHERITED", "UNKNOWN"}
_ALPHABETS = {"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"}
"""Scripts whose letters can be mistaken for one another's; those of other scripts stand out among Latin letters."""
_ORTHOGRAPHIES = "ıɣɩʋ"
"""Letters of Turkish, Ewe and Kabiye that Unicode lists as look-alikes of ASCII ones."""
_LONGEST, _MOST = 80, 8  # characters of a name, and letters of it, that are shown


def lookalikes(text: str, kind: Kind = "text") -> list[str]:
    """Return what in the text could be mistaken for something else: one short text for each name or word.

    With the kind `name`, the whole text is one name. In other text, hosts, addresses and paths are held to the rules
    for names, and words are reported only for what no ordinary text does.
    """
    if text.isascii() and "xn--" not in text.lower():
        return []
    if kind == "name":
        return _told(_in_name(text, strict=True))
    found: list[Finding] = []
    words: list[str] = []
    for token in dict.fromkeys(text.split()):
        if token.isascii() and "xn--" not in token.lower():
            continue
        names = list(_names(token))
        found += [finding for name, strict in names for finding in _in_name(name, strict=strict)]
        if not names:
            words.append(token)
    found += _in_words(words, beside_latin=_ASCII_LETTER.search(text) is not None)
    found += _in_forms(words, beside_wide=_WIDE_SCRIPT.search(text) is not None)
    found += _dotless(" ".join(words))
    return _told(found)


def _told(found: Iterable[Finding]) -> list[str]:
    letters: dict[str, list[str]] = {}
    for name, char in dict.fromkeys(found):
        letters.setdefault(name, []).append(char)
    return [f"{_cut(name)}: {', '.join(map(_described, chars[:_MOST]))}" for name, chars in letters.items()]


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else name[:_LONGEST] + "…"


def _described(char: str) -> str:
    what = f"U+{ord(char):04X} {unicodedata.name(char, 'UNNAMED')}"
    if like := _looks().get(char) or _plain(char):
        return f"{what} looks like {like}"
    return f"{what} passes for punctuation" if char in _SLASHES else f"{what} among letters of another script"


# Finding names in a text. Every repetition is bounded, so that no text makes the search slow.

_ASCII_LETTER = re.compile(r"[A-Za-z]")
_SLASHES = "∕⁄⧸╱⟋／﹨＼⧵∖．․＠﹫"
"""Characters that look like the punctuation that ends a host, but do not end it."""
_IN_HOST = rf"[\p{{L}}\p{{M}}\p{{N}}._\-{_SLASHES}]"
_URL = regex.compile(rf"://(?:[^\s/@]{{1,200}}@)?({_IN_HOST}{{1,253}})")
_EMAIL = regex.compile(rf"""([^\s@/\\<>()\[\],;:"'«»“”]{{1,100}})@({_IN_HOST}{{1,253}})""")
_HOST = regex.compile(r"[\p{L}\p{M}\p{N}_\-]{1,63}(?:\.[\p{L}\p{M}\p{N}_\-]{2,63}){1,20}")


def _names(token: str) -> Iterator[tuple[str, bool]]:
    """Yield the hosts, addresses and paths in a text without spaces, and whether any mixture of scripts is odd there."""
    if "://" in token:
        for match in _URL.finditer(token):
            yield _decoded(match[1]), True
    elif "@" in token:
        for match in _EMAIL.finditer(token):
            yield match[1], True
            yield _decoded(match[2]), True
    elif "/" not in token and "\\" not in token:
        for match in _HOST.finditer(token):
            yield _decoded(match[0]), True
    if "/" in token or "\\" in token:
        yield token.partition("://")[2].partition("/")[2] if "://" in token else token, False


def _decoded(host: str) -> str:
    """Return the host with its `xn--` labels decoded."""
    return ".".join(_label(label) for label in host.split("."))


def _label(label: str) -> str:
    if not label.lower().startswith("xn--") or not label.isascii():
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return label


# What is odd in a name, and in a word of ordinary text.


@cache
def _looks() -> dict[str, str]:
    """Return the letters outside ASCII that Unicode calls confusable with an ASCII letter, each with that letter."""
    return {
        other["c"]: letter
        for letter in ascii_letters
        for other in confusables_data.get(letter, ())
        if len(other["c"]) == 1 and other["c"].isalpha() and not other["c"].isascii()
    }


@cache
def _script(char: str) -> str:
    return str(alias(char)).upper()


def _scripts(word: str) -> Counter[str]:
    counted = Counter(_script(char) for char in word if char.isalpha())
    return Counter({script: times for script, times in counted.items() if script not in _NO_SCRIPT})


@lru_cache(maxsize=4_096)
def _in_name(name: str, *, strict: bool) -> tuple[Finding, ...]:
    odd = [char for char in name if not char.isascii() and _passes(char)]
    for word in _WORD.findall(name):
        if not word.isascii():
            odd += _mixed(word, strict=strict)
    for script, letters in _by_script(name).items():
        if script in _ALPHABETS - {"LATIN"} and all(char in _looks() for char in letters):
            odd += letters
    return (*((name, char) for char in odd), *_dotless(name))


def _passes(char: str) -> bool:
    """Return whether the character is another form of a Latin letter, or of punctuation that ends a host."""
    if char in _SLASHES:
        return True
    return char in _looks() and char not in _ORTHOGRAPHIES and _script(char) in ("LATIN", "COMMON")


_WORD = re.compile(r"[^\W\d_]+")


def _mixed(word: str, *, strict: bool) -> list[str]:
    """Return the letters of a word that are not of its main script, if it mixes scripts as no language does."""
    scripts = _scripts(word)
    if len(scripts) < 2 or any(set(scripts) <= together for together in _TOGETHER):
        return []
    if not strict and len(set(scripts) & _ALPHABETS) < 2:
        return []
    most = max(scripts.values())
    main = "LATIN" if scripts["LATIN"] == most else scripts.most_common(1)[0][0]
    return [char for char in word if _script(char) in scripts and _script(char) != main]


def _by_script(name: str) -> dict[str, list[str]]:
    letters: dict[str, list[str]] = {}
    for char in name:
        if not char.isascii() and char.isalpha():
            letters.setdefault(_script(char), []).append(char)
    return letters


@cache
def _word_patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return three patterns: a look-alike next to an ASCII letter; a word of look-alikes only; and a letter of their
    scripts that is not a look-alike."""
    foreign = "".join(char for char in _looks() if _script(char) in _ALPHABETS - {"LATIN"})
    clear = rf"(?![{foreign}])[\u0370-\u052F\u0531-\u0587\u13A0-\u13FF]"
    meets = rf"[A-Za-z][{foreign}]|[{foreign}][A-Za-z]"
    return re.compile(meets), re.compile(rf"(?<!\w)[{foreign}]{{2,{_LONGEST}}}(?!\w)"), re.compile(clear)


def _in_words(tokens: list[str], *, beside_latin: bool) -> Iterator[Finding]:
    meets, alone, clear = _word_patterns()
    for token in tokens:
        for word in _WORD.findall(token) if meets.search(token) else ():
            odd = [char for char in word if not char.isascii()]
            # Two or three letters may be a formula, in which Greek letters are next to Latin ones.
            is_formula = len(word) < 4 and set(_scripts(word)) <= {"LATIN", "GREEK"}
            if meets.search(word) and all(char in _looks() for char in odd) and not is_formula:
                yield from ((word, char) for char in odd)
    if beside_latin and not any(clear.search(token) for token in tokens):
        for token in tokens:
            yield from ((word, char) for word in alone.findall(token) for char in word)


# Letters and digits in another form: full-width, as among Chinese, Japanese and Korean ones, and those of formulas.

_WIDE_SCRIPT = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}]")
_FULL_WIDTH = "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a"
_MATHEMATICAL = "\U0001d400-\U0001d7ff"
_LETTERLIKE = "".join(char for char in map(chr, range(0x2100, 0x2150)) if char.isalpha())
_FORM = re.compile(f"[{_FULL_WIDTH}{_MATHEMATICAL}{_LETTERLIKE}]")
_IN_FORM = re.compile(r"[^\W_]+")


def _in_forms(tokens: list[str], *, beside_wide: bool) -> Iterator[Finding]:
    for token in tokens:
        for word in _IN_FORM.findall(token) if _FORM.search(token) else ():
            is_mixed = _ASCII_LETTER.search(word) is not None
            for char in _FORM.findall(word):
                is_wide, is_alone = "\uff10" <= char <= "\uff5a", len(word) == 1
                # ５ or ＡＢＣ among full-width scripts is how those are written, and ℝ or ℓ alone is a symbol.
                is_usual = (
                    beside_wide and not (is_mixed and char.isalpha())
                    if is_wide
                    else is_alone and char in _LETTERLIKE
                )
                if not is_usual:
                    yield word, char


def _plain(char: str) -> str:
    """Return the ASCII letter or digit that the character is another form of, or ""."""
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 and plain.isascii() and plain.isalnum() else ""


def _dotless(text: str) -> Iterator[Finding]:
    return ((word, char) for word in imitates(text) for char in DOTLESS if char in word)
