"""Recognise the same call again: by what would run, never by how the model wrote it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from agent.review.actions import Action, ActionState
from agent.review.digest import canonical

MOST_REJECTIONS = 3
"""A call rejected this often in one turn is not asked about again: proposing it once more ends the turn."""
REJECTED_BEFORE = "rejected_before"
"""The note that counts how often a call was rejected before in this turn."""
EXPIRED_BEFORE = "expired_before"
"""The note that names the action on which nobody decided in time, where this same call is proposed again."""


def same_call(tool: str, args: Mapping[str, Any] | None) -> str:
    """Return a hash that two calls share if, and only if, they would run the same: tool and canonical arguments."""
    return hashlib.sha256(canonical([tool, args])).hexdigest()


def is_loop(notes: Mapping[str, Any]) -> bool:
    """Return whether a call with these notes was rejected so often that it is not asked about again."""
    return int(notes.get(REJECTED_BEFORE, 0)) >= MOST_REJECTIONS


def expired_before(action: Action, earlier: Iterable[Action]) -> dict[str, Any]:
    """Return the note on a call that was proposed before and expired; empty if its last proposal ended otherwise.

    `earlier` are the actions of the thread, in the order they were proposed.
    """
    same = [one for one in earlier if one.key != action.key and _is_same(one, action)]
    if not same or same[-1].state is not ActionState.EXPIRED:
        return {}
    key, at = same[-1].key, same[-1].ended_at
    named = {"message_id": key.message_id, "tool_call_id": key.tool_call_id, "attempt": key.attempt}
    return {EXPIRED_BEFORE: {**named, "expired_at": at}}


def _is_same(one: Action, other: Action) -> bool:
    try:
        return same_call(one.proposed_tool, one.args) == same_call(other.tool, other.args)
    except (TypeError, ValueError):  # a row that was changed past the console
        return False
