"""Static breakpoints: a graph that was compiled to stop before or after some of its nodes, while calls are open.

LangGraph tells of no interrupt there. The open calls are read as the question, so that they are decided like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Interrupt, StateSnapshot

from agent.review.external import OpenCall, open_calls
from agent.review.threads import Message, result_id

Graph = CompiledStateGraph[Any, Any, Any, Any]
BREAKPOINT = "breakpoint-"
"""Begins the id of a review at a breakpoint; the id of the checkpoint follows."""
ALLOWED = ("approve", "edit", "reject")


def has_breakpoints(graph: Graph) -> bool:
    return bool(graph.interrupt_before_nodes or graph.interrupt_after_nodes)


def breakpoint_at(graph: Graph, snapshot: StateSnapshot, said: Sequence[Message]) -> Interrupt[Any] | None:
    """Return the question of a breakpoint that the graph stands at with calls open; None where it does not."""
    if not snapshot.next or any(task.error or task.interrupts for task in snapshot.tasks):
        return None
    if not _stands_at_one(graph, snapshot):
        return None
    calls = waiting_calls(said)
    if not calls:
        return None
    value = {
        "action_requests": [
            {"name": call.tool, "args": call.args, "tool_call_id": call.tool_call_id} for call in calls
        ],
        "review_configs": [{"action_name": call.tool, "allowed_decisions": list(ALLOWED)} for call in calls],
    }
    return Interrupt(value=value, id=f"{BREAKPOINT}{snapshot.config['configurable']['checkpoint_id']}")


def waiting_calls(said: Sequence[Message]) -> list[OpenCall]:
    """Return the open calls that a breakpoint asks about: those whose arguments can be read."""
    return [call for call in open_calls(said) if isinstance(call.args, dict)]


def is_of(review_id: str, snapshot: StateSnapshot) -> bool:
    """Whether the snapshot is the one that was asked about, or the same with the calls changed as was decided."""
    places = (snapshot.config, snapshot.parent_config or {})
    return review_id in [f"{BREAKPOINT}{one.get('configurable', {}).get('checkpoint_id')}" for one in places]


def changed(
    snapshot: StateSnapshot,
    said: Sequence[Message],
    decisions: Sequence[Mapping[str, Any]],
    results: Mapping[str, str],
    *,
    answers: bool,
) -> list[AnyMessage]:
    """Return the messages that make the calls what was decided on them; none where all were approved.

    Edited calls replace the proposed ones under the same id. Rejected ones get their result, if the graph sends only
    calls without one to the tools (`answers`); else they are left out of the message.
    """
    calls = waiting_calls(said)
    by_id = {call.tool_call_id: one for call, one in zip(calls, decisions, strict=True)}
    rejected = {call_id for call_id, one in by_id.items() if one["type"] == "reject"}
    edits = {call_id: one["edited_action"] for call_id, one in by_id.items() if one["type"] == "edit"}
    dropped = set() if answers else rejected
    found: list[AnyMessage] = []
    if edits or dropped:
        found.append(_edited(snapshot, calls[0].message_id, edits, dropped))
    for call in calls if answers else ():
        if call.tool_call_id in rejected:
            found.append(
                ToolMessage(
                    results[call.tool_call_id],
                    id=result_id(call.message_id, call.tool_call_id),
                    tool_call_id=call.tool_call_id,
                    name=call.tool,
                    status="error",
                )
            )
    return found


def _edited(
    snapshot: StateSnapshot, message_id: str, edits: Mapping[str, Mapping[str, Any]], dropped: set[str]
) -> AIMessage:
    proposal = next(
        one
        for one in reversed(snapshot.values["messages"])
        if isinstance(one, AIMessage) and one.id == message_id
    )
    calls = [
        {
            **call,
            **({"name": edit["name"], "args": edit["args"]} if (edit := edits.get(str(call["id"]))) else {}),
        }
        for call in proposal.tool_calls
        if call["id"] not in dropped
    ]
    return proposal.model_copy(update={"tool_calls": calls})


def _stands_at_one(graph: Graph, snapshot: StateSnapshot) -> bool:
    before, after = graph.interrupt_before_nodes, graph.interrupt_after_nodes
    if before == "*" or any(node in before for node in snapshot.next):
        return True
    if not after or snapshot.parent_config is None:
        return False
    ran = graph.get_state(snapshot.parent_config).next
    return after == "*" or any(node in after for node in ran)
