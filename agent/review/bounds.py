"""How much is kept of a text that somebody else made: as much as a limit allows, and a line that identifies the whole."""

from __future__ import annotations

import hashlib
import json
from typing import Any

MAX_RESULT = 1_000_000
"""Bytes of a tool's result, where its policy names no other limit."""
MAX_REFUSED = 16_000
"""Bytes of the text of a proposal that was refused."""
SMALLEST, LARGEST = 1_000, 50_000_000
"""The limits that a policy may name: the last line needs some room, and a page has to hold the whole."""
LAST_LINE = "\n[Cut here. The whole is {size:,} bytes, SHA-256 {digest}.]"


def bounded(text: str, limit: int) -> str:
    """The text itself if it has at most `limit` bytes as UTF-8; else its beginning and a last line about the whole.

    The last line gives the size and the SHA-256 of the whole. With it the result has at most `limit` bytes, which must
    be at least `SMALLEST`; it is cut between characters. What was bounded once stays as it is under the same limit.
    """
    if len(text) * 4 <= limit:
        return text
    whole = text.encode("utf-8", "surrogatepass")  # a tool may return half a pair
    if len(whole) <= limit:
        return text
    line = LAST_LINE.format(size=len(whole), digest=hashlib.sha256(whole).hexdigest())
    end = limit - len(line)
    while whole[end] & 0xC0 == 0x80:  # inside a character
        end -= 1
    return whole[:end].decode("utf-8", "surrogatepass") + line


def spelt(value: Any) -> str:
    """The text of arguments or of a result: a text itself, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)


def of_refused(args: Any) -> Any:
    """What is kept of refused arguments: themselves, or the beginning of their text."""
    text = spelt(args)
    return args if (kept := bounded(text, MAX_REFUSED)) == text else kept
