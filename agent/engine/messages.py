"""LangChain's messages in the console's own terms, and the results that are written as messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from agent.review import tool_messages
from agent.review.arguments.args import MAX_BYTES
from agent.review.bounds import LARGEST, bounded, of_refused, spelt
from agent.review.deliveries import ToolResult
from agent.review.external import open_calls
from agent.review.threads import Message, ToolCall, result_id


def message_of(message: BaseMessage, limit: int = LARGEST) -> Message:
    """Return the message as the record keeps it: at most `limit` bytes of a call's result, and of a call what can be one."""
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    unread = message.invalid_tool_calls if isinstance(message, AIMessage) else []
    tool = message if isinstance(message, ToolMessage) else None
    return Message(
        id=str(message.id),
        type=message.type,
        content=bounded(str(message.text), limit) if tool else str(message.text),
        tool_calls=tuple(
            ToolCall(call["id"] or "", call["name"] or "", _kept(call["args"])) for call in [*calls, *unread]
        ),
        tool_call_id=tool.tool_call_id if tool else None,
        status=tool.status if tool else None,
    )


def _kept(args: Any) -> Any:
    """Return the arguments, or the beginning of their text if no call can have them."""
    text = spelt(args)
    fits = not isinstance(args, str) and bounded(text, MAX_BYTES) == text
    return args if fits else of_refused(args)


class Transcript(Sequence[Message]):
    """A conversation in the console's own terms, each message converted when it is looked at: mostly only the last are."""

    def __init__(self, messages: Sequence[BaseMessage], limit: int = LARGEST) -> None:
        """Of a call's result at most `limit` bytes are shown."""
        self._messages, self._limit = messages, limit

    @overload
    def __getitem__(self, place: int) -> Message: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, place: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(place, slice):
            return tuple(message_of(message, self._limit) for message in self._messages[place])
        return message_of(self._messages[place], self._limit)

    def __len__(self) -> int:
        return len(self._messages)

    def holds(self, message_id: str) -> bool:
        """Whether a message of this id is among them."""
        return any(message.id == message_id for message in self._messages)


def results_for(
    said: Sequence[Message], known: Iterable[ToolResult], rest: str | None = tool_messages.NO_RESULT
) -> list[ToolMessage]:
    """Return a result for each open call: the known one, or `rest` as an error; with None the others stay open."""
    by_call = {result.tool_call_id: result for result in known}
    found: list[ToolMessage] = []
    for call in open_calls(said):
        result = by_call.get(call.tool_call_id)
        if result is None and rest is not None:
            result = ToolResult(call.tool_call_id, call.tool, "error", rest)
        if result is not None:
            found.append(_tool_message(result, call.message_id))
    return found


def _tool_message(result: ToolResult, message_id: str) -> ToolMessage:
    return ToolMessage(
        result.text,
        id=result_id(message_id, result.tool_call_id),
        tool_call_id=result.tool_call_id,
        name=result.tool,
        status=result.status,
    )
