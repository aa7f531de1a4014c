"""Turn what a tool's function returned into text for the record, and keep it so that it can be returned again."""

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
"""Kept if what was returned is exactly its text, which is on record already."""

UNWRITABLE = "It was run, but what it returned cannot be written as text (a value of type {kind})."


@dataclass(frozen=True)
class Again:
    """What a call returned the first time, to be returned again."""

    value: Any


def recorded(returned: Any, limit: int, *, paired: bool = False) -> tuple[Any, str]:
    """Return what the graph gets of what a function returned, and its text for the record.

    If `paired`, the value is a content with its artifact. A value that cannot be written as text is replaced by a
    sentence: the function was run, and its call would otherwise look like one that failed.
    """
    try:
        cleaned = recordable(returned, limit, paired=paired)
        return cleaned, bounded(_written_out(text_of(cleaned, paired=paired)), limit)
    except Exception:  # the value contains itself, is nested too deeply, or raises when printed
        text = UNWRITABLE.format(kind=type(returned).__name__)
        return ((text, None) if paired else text), text


def recordable(returned: Any, limit: int, *, paired: bool = False) -> Any:
    """Return the value as ledger and checkpoint can hold it: model, record and every later entry get this one.

    Its content is cut to `limit` bytes, and lone surrogates are written as escapes.
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
            # What it writes into the state besides messages is not cut: the graph works with it.
            said = [recordable(one, limit) for one in update["messages"]]
            return replace(whole, update={**update, "messages": said})
    return whole


def _whole(returned: Any) -> Any:
    """Return the value with every lone surrogate, at any depth, written as an escape."""
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
    """Return the text with each lone surrogate written as an escape."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text


def is_error(returned: Any) -> bool:
    """Return whether the function itself reports that it failed."""
    return any(one.status == "error" for one in _messages(returned))


def text_of(returned: Any, *, paired: bool = False) -> str:
    """Return the text that the model reads of it."""
    messages = _messages(returned)
    if messages:
        return "\n".join(str(one.text) for one in messages)
    content = returned[0] if paired and isinstance(returned, tuple) and returned else returned
    if isinstance(content, list):
        content = text_of_parts(content) or content
    return spelt(content)


def kept(returned: Any, text: str, limit: int) -> bytes | None:
    """Return it in LangGraph's strict serialisation, or None if that is too large or does not read back the same."""
    if type(returned) is str and returned == text:
        return THE_TEXT
    try:
        kind, written = _serde.dumps_typed(list(returned) if isinstance(returned, tuple) else returned)
        whole = (f"{PAIR}{kind}" if isinstance(returned, tuple) else kind).encode() + b"\n" + written
        return whole if len(whole) <= 2 * limit and _is_same(_read(whole), returned) else None
    except Exception:  # a tool's own types can make the serialiser raise anything
        return None


def again(returned: bytes | None, text: str, *, settled: bool) -> Again | None:
    """Return what was kept, or the person's text if a person settled the outcome; None if nothing was kept."""
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
    """Return whether what was read is what was returned, except inner tuples, which every checkpoint makes lists."""
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
