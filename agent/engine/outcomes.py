"""What a tool's function returned: as text for the record, and kept so that the same can be returned once more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from agent.engine.bounding import text_of_parts, within_bounds
from agent.engine.decoding import Strict
from agent.review.bounds import bounded, spelt

_serde = Strict(allowed_msgpack_modules=None)
PAIR = "pair:"
"""Marks a content with its artifact, which a tool's function returns as a tuple."""
THE_TEXT = b""
"""Kept where what was returned is its own text, which stands on record already."""

UNWRITABLE = "It was run, but what it returned cannot be written as text (a value of type {kind})."


@dataclass(frozen=True)
class Again:
    """What was returned the first time."""

    value: Any


def recorded(returned: Any, limit: int, *, paired: bool = False) -> tuple[Any, str]:
    """What a graph gets of what a function returned, and its text for the record.

    Where it is `paired`, it is a content with its artifact. That the function was run is true whatever it returned: a value of which no text can be made is replaced by a
    sentence, since else its call would look like one that failed.
    """
    try:
        cleaned = recordable(returned, limit, paired=paired)
        return cleaned, bounded(_written_out(text_of(cleaned, paired=paired)), limit)
    except Exception:  # a value that holds itself, is nested without end, or raises when it is to be printed
        text = UNWRITABLE.format(kind=type(returned).__name__)
        return ((text, None) if paired else text), text


def recordable(returned: Any, limit: int, *, paired: bool = False) -> Any:
    """The same, as ledger and checkpoint can hold it: model, record and every later entry get this one.

    Its content is bounded to `limit` bytes, and halves of surrogate pairs are written out.
    """
    whole = _whole(returned)
    match whole:
        case ToolMessage():
            content = within_bounds(whole.content, limit)
            return whole if content is whole.content else whole.model_copy(update={"content": content})
        case str() | list():
            return within_bounds(whole, limit)
        case (content, artifact) if paired:
            return recordable(content, limit), artifact
        case Command(update=dict() as update) if isinstance(update.get("messages"), list):
            # What it writes into the state beside messages is not cut: the graph works with it.
            said = [recordable(one, limit) for one in update["messages"]]
            return replace(whole, update={**update, "messages": said})
    return whole


def _whole(returned: Any) -> Any:
    """The same without any half of a surrogate pair, however deep it is."""
    match returned:
        case str():
            return _written_out(returned)
        case list() | tuple() if type(returned) in (list, tuple):
            return type(returned)(_whole(one) for one in returned)
        case dict() if type(returned) is dict:
            return {_whole(name): _whole(one) for name, one in returned.items()}
        case ToolMessage():
            content = _whole(returned.content)
            return (
                returned if content == returned.content else returned.model_copy(update={"content": content})
            )
        case Command() if isinstance(returned.update, dict):
            return replace(returned, update=_whole(returned.update))
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


def text_of(returned: Any, *, paired: bool = False) -> str:
    """What the model reads of it."""
    messages = _messages(returned)
    if messages:
        return "\n".join(str(one.text) for one in messages)
    content = returned[0] if paired and isinstance(returned, tuple) and returned else returned
    if isinstance(content, list):
        content = text_of_parts(content) or content
    return spelt(content)


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
