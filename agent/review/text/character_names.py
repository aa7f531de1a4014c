"""Names of characters: Unicode's own, or a description of those that have none there."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

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


@lru_cache(maxsize=4_096)
def named(char: str) -> str:
    """Return the code and the name of one character: `U+202E RIGHT-TO-LEFT OVERRIDE`."""
    code = ord(char)
    if code < len(_CONTROLS):
        name = _CONTROLS[code]
    elif code == 0x7F:
        name = "DELETE"
    else:
        name = unicodedata.name(char, "") or _UNNAMED[unicodedata.category(char)]
    return f"U+{code:04X} {name}"
