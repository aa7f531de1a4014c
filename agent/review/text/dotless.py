"""The dotless i, which passes for an i: where it is Turkish, and where it is not.

No list of words is needed: Turkish itself has no q, w or x and no three consonants in a row, and other letters of its
alphabet are close by. A text or a name in which nothing but `ı` is Turkish imitates an i.
"""

from __future__ import annotations

import re

DOTLESS = "ıȷ"
_OTHERS = re.compile("[çğöşüÇĞÖŞÜİəƏ]")
"""Letters of the alphabets that have a dotless i, without those of English."""
# Both cases are spelt out: a search that ignores case takes a dotless i for an i.
_NOT_TURKISH = re.compile("[qwxQWXȷ]|[bcdfghjklmnpqrstvwxyzBCDFGHJKLMNPQRSTVWXYZ]{3}")
_DISHARMONY = re.compile("[eiE]")
"""Vowels that are rare in a word with two dotless i's."""
_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST = 4
"""The shortest word that is judged by its ending: Turkish words often end in `ı`, and English ones hardly ever in i."""


def imitates(text: str) -> list[str]:
    """Return the words of a text, or of a name, in which a dotless letter takes the place of one with a dot."""
    if not any(char in text for char in DOTLESS):
        return []
    words = [word for word in _WORD.findall(text) if any(char in word for char in DOTLESS)]
    is_turkish = _OTHERS.search(text) is not None or any(map(_is_turkish, words))
    return [] if is_turkish else list(dict.fromkeys(words))


def _is_turkish(word: str) -> bool:
    if _NOT_TURKISH.search(word):
        return False
    if len(word) >= _SHORTEST and word.endswith("ı"):
        return True
    return word.count("ı") > 1 and _DISHARMONY.search(word) is None
