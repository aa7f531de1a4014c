"""What a tool's function returned: as text for the record, and kept so that the same can be returned once more."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.types import Command

from agent.engine.decoding import Strict
from agent.review.bounds import bounded

_serde = Strict(allowed_msgpack_modules=None)
PAIR = "pair:"
"""Marks a content with its artifact, which a tool's function returns as a tuple."""
THE_TEXT = b""
"""Kept where what was returned is its own text, which stands on record already."""


@dataclass(frozen=True)
class Again:
    """What was returned the first time."""

    value: Any


def recordable(returned: Any, limit: int) -> Any:
    """The same, with halves of surrogate pairs written out, since neither ledger nor checkpoint can hold them.

    A text is bounded to `limit` bytes, so that model, record and every later entry get the same.
    """
    match returned:
        case str():
            return bounded(_written_out(returned), limit)
        case list() | tuple() if type(returned) in (list, tuple):
            return type(returned)(recordable(one, limit) for one in returned)
        case dict() if type(returned) is dict:
            return {recordable(name, limit): recordable(one, limit) for name, one in returned.items()}
        case BaseMessage():
            content = recordable(returned.content, limit)
            return (
                returned if content == returned.content else returned.model_copy(update={"content": content})
            )
    return returned


def _written_out(text: str) -> str:
    """The text, with each half of a surrogate pair written as an escape."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text


def is_error(returned: Any) -> bool:
    """Whether the function itself says that it failed."""
    return any(one.status == "error" for one in _messages(returned))


def text_of(returned: Any) -> str:
    """What the model reads of it."""
    messages = _messages(returned)
    if messages:
        return "\n".join(str(one.text) for one in messages)
    content = returned[0] if isinstance(returned, tuple) and len(returned) == 2 else returned
    if isinstance(content, str):
        return content
    try:
        return json.dumps(content, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(content)


def kept(returned: Any, text: str, limit: int) -> bytes | None:
    """It, in LangGraph's strict serialisation; None where that is too large, or where reading it gives something else."""
    if type(returned) is str and returned == text:
        return THE_TEXT
    try:
        kind, written = _serde.dumps_typed(list(returned) if isinstance(returned, tuple) else returned)
        whole = (f"{PAIR}{kind}" if isinstance(returned, tuple) else kind).encode() + b"\n" + written
        return whole if len(whole) <= 2 * limit and _is_same(_read(whole), returned) else None
    except Exception:  # whatever a value of the tool's own makes the serialiser raise
        return None


def again(returned: bytes | None, text: str, *, settled: bool) -> Again | None:
    """What was kept; where a person settled the outcome, that person's words. None where nothing was kept."""
    if returned == THE_TEXT or (returned is None and settled):
        return Again(text)
    if returned is None:
        return None
    return Again(_read(returned))


def _read(whole: bytes) -> Any:
    kind, _, written = whole.partition(b"\n")
    read = _serde.loads_typed((kind.decode().removeprefix(PAIR), written))
    return tuple(read) if kind.startswith(PAIR.encode()) else read


def _is_same(read: Any, returned: Any) -> bool:
    """Whether what was read is what was returned, but for a tuple within, which every checkpoint makes a list."""
    if isinstance(read, list | tuple) and isinstance(returned, list | tuple):
        return len(read) == len(returned) and all(map(_is_same, read, returned))
    if type(read) is dict and type(returned) is dict:
        return read.keys() == returned.keys() and all(_is_same(read[key], returned[key]) for key in read)
    return type(read) is type(returned) and (read == returned or repr(read) == repr(returned))


def _messages(returned: Any) -> list[ToolMessage]:
    found = returned[0] if isinstance(returned, tuple) and returned else returned
    if isinstance(found, Command):
        update = found.update if isinstance(found.update, dict) else {}
        found = update.get("messages", ())
    each = found if isinstance(found, list | tuple) else [found]
    return [one for one in each if isinstance(one, ToolMessage)]
