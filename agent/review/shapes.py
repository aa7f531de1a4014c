"""The wire format of a pause and of its answer: LangChain's human-in-the-loop format, JSON only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agent.review.actions import Action, Review
from agent.review.screening import Call
from agent.review.threads import Message


def interrupt_value(calls: Iterable[Call]) -> dict[str, Any]:
    """The value an interrupt carries: one request and one config per call, in the calls' order."""
    waiting = list(calls)
    return {
        "action_requests": [
            {"name": call.tool, "args": call.args, "description": call.summary} for call in waiting
        ],
        "review_configs": [{"action_name": call.tool, "allowed_decisions": call.allowed} for call in waiting],
    }


def pending_review(review: Review) -> dict[str, Any]:
    """The same fields as the interrupt's value, with the ids and digests a caller decides by."""
    return {
        "review_id": review.review_id,
        "action_requests": [_request(action) for action in review.actions],
        "review_configs": [
            {"action_name": action.tool, "allowed_decisions": list(action.allowed)}
            for action in review.actions
        ],
    }


def _request(action: Action) -> dict[str, Any]:
    return {
        "name": action.tool,
        "args": action.args,
        "description": action.summary,
        "tool_call_id": action.key.tool_call_id,
        "shown_digest": action.shown_digest,
    }


def resume_value(decisions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the interrupt is answered with."""
    return {"decisions": list(decisions)}


def message(item: Message) -> dict[str, Any]:
    """A message as the API shows it; fields that do not apply are absent."""
    shown: dict[str, Any] = {"id": item.id, "type": item.type, "content": item.content}
    if item.tool_calls:
        shown["tool_calls"] = [{"id": c.id, "name": c.name, "args": c.args} for c in item.tool_calls]
    if item.tool_call_id is not None:
        shown["tool_call_id"] = item.tool_call_id
    if item.status is not None:
        shown["status"] = item.status
    return {**shown, "at": item.at}
