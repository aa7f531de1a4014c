"""Where in a graph something happens: LangGraph's checkpoint namespaces, read.

A namespace names the tasks that lead to a place, `helper:1f0c|tools:77aa`: the names of nodes with the tasks' ids. A
graph's own is that of the task that called it, and is empty for the outermost. A number alone counts the graphs that
one task called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import ToolCall
from langgraph.types import Interrupt

# LangGraph's own: a function in a task's config that reads the channels of the graph the task belongs to.
READ = "__pregel_read"


def task_of(config: Mapping[str, Any]) -> str:
    """The namespace of the task a config belongs to; "" outside of any graph."""
    return str((config.get("configurable") or {}).get("checkpoint_ns") or "")


def graph_of(task: str) -> str:
    """The namespace of the graph that a task belongs to; "" for the outermost."""
    return task.rpartition("|")[0]


def id_of(task: str) -> str:
    """A task's own id."""
    return task.rpartition("|")[2].rpartition(":")[2]


def interrupt_id(task: str, answers: int = 0) -> str:
    """The id of an interrupt raised in a task that has this many answers; a test holds it."""
    return str(Interrupt.from_ns(None, f"{task}|{answers}" if answers else task).id)


def messages_at(config: Mapping[str, Any]) -> Sequence[BaseMessage]:
    """The conversation of the graph that a task belongs to, as it was when the task's step began."""
    read = (config.get("configurable") or {}).get(READ)
    if read is None:
        return ()
    try:
        found = read("messages")
    except Exception:  # a graph without messages
        return ()
    return [one for one in found if isinstance(one, BaseMessage)] if isinstance(found, list) else ()


def open_calls(messages: Sequence[BaseMessage]) -> list[tuple[str, ToolCall]]:
    """The calls that were proposed last and have no result yet, each with the id of its message."""
    answered: set[str | None] = set()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return [
                (str(message.id or ""), call) for call in message.tool_calls if call["id"] not in answered
            ]
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
    return []
