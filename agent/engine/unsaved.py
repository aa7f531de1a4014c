"""A step that is not over: what its finished tasks wrote, which LangGraph shows and would lose with the step.

What is written to a thread from outside starts from the step's beginning. So it has to bring along what stands there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage
from langgraph.channels import LastValue
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.types import ERROR
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel._task_status import CONTROL_WRITES
from langgraph.types import Overwrite, StateSnapshot

Graph = CompiledStateGraph[Any, Any, Any, Any]
Saver = BaseCheckpointSaver[Any]
MESSAGES = "messages"


def unsaved(saver: Saver, graph: Graph, snapshot: StateSnapshot) -> dict[str, Any]:
    """Return the state that the step's finished tasks have written so far, without the conversation."""
    values, found = snapshot.values, dict[str, Any]()
    if not isinstance(values, Mapping):
        return found
    for name in {channel for _, channel, _ in _written(saver, snapshot)} & values.keys() - {MESSAGES}:
        plain = isinstance(graph.channels.get(name), LastValue)
        found[name] = values[name] if plain else Overwrite(values[name])
    return found


def unsaved_messages(saver: Saver, snapshot: StateSnapshot) -> list[AnyMessage]:
    """Return what the step's finished tasks have said so far, and results of calls, in the conversation's order."""
    values = snapshot.values
    said = values.get(MESSAGES, ()) if isinstance(values, Mapping) and snapshot.tasks else ()
    found: list[AnyMessage] = []
    written = _ids(saver, snapshot)
    for message in reversed(said):
        if message.id not in written and not isinstance(message, ToolMessage):
            break
        if isinstance(message, ToolMessage) or (isinstance(message, AIMessage) and not message.tool_calls):
            found.insert(0, message)
    return found


def routed_wrong(saver: Saver, graph: Graph, snapshot: StateSnapshot) -> tuple[str, dict[str, Any]] | None:
    """Return the step's only task and what it wrote, where it wrote everything and then failed in its router.

    LangGraph takes such a task for finished, so that nothing would run behind it.
    """
    if len(snapshot.tasks) != 1 or snapshot.tasks[0].error is None:
        return None
    (task,), found = snapshot.tasks, dict[str, Any]()
    for _, channel, value in _written(saver, snapshot):
        if channel in found or channel not in graph.channels:
            return None
        found[channel] = value
    return (task.name, found) if found else None


def _written(saver: Saver, snapshot: StateSnapshot) -> list[tuple[str, str, Any]]:
    kept = saver.get_tuple(snapshot.config) if snapshot.tasks else None
    tasks = {task.id for task in snapshot.tasks}
    writes = (kept.pending_writes or []) if kept else []
    return [one for one in writes if one[0] in tasks and one[1] not in CONTROL_WRITES | {ERROR}]


def _ids(saver: Saver, snapshot: StateSnapshot) -> set[str | None]:
    """Return the ids of the messages that the step's finished tasks wrote."""
    found: set[str | None] = set()
    for _, channel, value in _written(saver, snapshot):
        if channel == MESSAGES:
            each = value if isinstance(value, list | tuple) else [value]
            found |= {one.id for one in each if isinstance(one, BaseMessage) and one.id}
    return found
