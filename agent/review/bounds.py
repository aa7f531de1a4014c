"""Limits on stored text that somebody else made: a longer text is cut, and a last line identifies the complete one."""

from __future__ import annotations

import hashlib
import json
from typing import Any

MAX_RESULT = 1_000_000
"""Bytes kept of a tool's result, unless its policy names another limit."""
MAX_REFUSED = 16_000
"""Bytes kept of the text of a refused proposal."""
SMALLEST, LARGEST = 1_000, 50_000_000
"""The range of limits that a policy may name: the last line needs some room, and a page has to hold the result."""
LAST_LINE = "\n[Cut here. The whole is {size:,} bytes, SHA-256 {digest}.]"


def bounded(text: str, limit: int) -> str:
    """Return the text itself if it has at most `limit` bytes as UTF-8, else its beginning and a last line.

    The last line gives the size and the SHA-256 of the complete text. The result, with that line, has at most `limit`
    bytes, which must be at least `SMALLEST`, and is cut between characters. Bounding it again changes nothing.
    """
    if len(text) * 4 <= limit:
        return text
    whole = text.encode("utf-8", "surrogatepass")  # a tool may return a lone surrogate
    if len(whole) <= limit:
        return text
    line = LAST_LINE.format(size=len(whole), digest=hashlib.sha256(whole).hexdigest())
    end = limit - len(line)
    while whole[end] & 0xC0 == 0x80:  # inside a character
        end -= 1
    return whole[:end].decode("utf-8", "surrogatepass") + line


def spelt(value: Any) -> str:
    """Return the text of arguments or of a result: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)


def of_refused(args: Any) -> Any:
    """Return what is kept of refused arguments: the arguments themselves, or the beginning of their text."""
    text = spelt(args)
    return args if (kept := bounded(text, MAX_REFUSED)) == text else kept
