"""Read the conversation of the graph in which a call is made, from that graph's own state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import ToolCall

# LangGraph's key in a task's config for a function that reads the channels of the graph the task belongs to.
READ = "__pregel_read"


def messages_at(config: Mapping[str, Any]) -> Sequence[BaseMessage]:
    """Return the conversation of the graph that a task belongs to, as it was when the task's step began."""
    read = (config.get("configurable") or {}).get(READ)
    if read is None:
        return ()
    try:
        found = read("messages")
    except Exception:  # a graph without messages
        return ()
    return [one for one in found if isinstance(one, BaseMessage)] if isinstance(found, list) else ()


def open_calls(messages: Sequence[BaseMessage]) -> list[tuple[str, ToolCall]]:
    """Return the calls that were proposed last and have no result yet, each with the id of its message."""
    answered: set[str | None] = set()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return [
                (str(message.id or ""), call) for call in message.tool_calls if call["id"] not in answered
            ]
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
    return []
