"""The names that people act under, and those that the console itself writes where no person acted."""

from __future__ import annotations

import unicodedata

from agent.review.errors import InvalidMessage

MAX_NAME = 80
NOBODY = "nobody"
"""Written for what happened by itself, such as the end of a review that nobody decided."""
THE_AGENT = "the agent"
"""Written for the end of a review that was answered outside this console."""
ANONYMOUS = "api"
"""Written for a caller of the HTTP API that gives no name."""
RESERVED = (NOBODY, THE_AGENT, ANONYMOUS)

# Printable to Python, though they show nothing: fillers, variation selectors, joiners, blanks.
_BLANKS = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0x1D159}
_BLANKS |= {*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}


def check_name(name: str) -> str:
    """Return the name a person acts under, without blanks around it. Raises `InvalidMessage` if it cannot be used."""
    chosen = name.strip()
    if len(chosen) > MAX_NAME:
        raise InvalidMessage(
            f"The name has {len(chosen):,} characters; at most {MAX_NAME} are taken. Shorten it."
        )
    for char in chosen:
        if _is_hidden(char):
            raise InvalidMessage(
                f"The name holds U+{ord(char):04X}, which is hidden or breaks the line. Leave it out."
            )
    if not any(unicodedata.category(char)[0] in "LNPS" for char in chosen):
        raise InvalidMessage("The name is empty. Use some letters.")
    if _folded(chosen) in _RESERVED:
        raise InvalidMessage(
            f"“{chosen}” is what the console writes where no person acted. Use a name of your own."
        )
    return chosen


def is_name(name: str) -> bool:
    """Return whether a person may act under this name as it is."""
    try:
        return check_name(name) == name
    except InvalidMessage:
        return False


def _is_hidden(char: str) -> bool:
    return not char.isprintable() or ord(char) in _BLANKS


def _folded(name: str) -> str:
    """Return a form that two names share if they look the same but for width, case, blanks and hidden characters."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(char for char in plain if not _is_hidden(char) and not char.isspace())


_RESERVED = {_folded(name) for name in RESERVED}
