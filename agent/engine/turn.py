"""Read the current turn from the conversation's messages; nothing is counted anywhere else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from agent.review.repeats import REJECTED_BEFORE, is_loop

REJECTED = "rejected"
"""Key in the artifact of a rejection's result that holds which call was rejected."""


def within(messages: Sequence[AnyMessage], window: int) -> list[AnyMessage]:
    """Return the last messages from the start of a turn: at most `window`, but always the complete current turn."""
    starts = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
    fitting = [place for place in starts if len(messages) - place <= window]
    cut = 0 if len(messages) <= window else (fitting or starts[-1:] or [0])[0]
    return list(messages[cut:])


def rounds(messages: Sequence[AnyMessage]) -> int:
    """Return how often the model has been called in the current turn."""
    count = 0
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        count += isinstance(message, AIMessage)
    return count


def rejections(messages: Sequence[AnyMessage]) -> Counter[str]:
    """Return how often a person rejected each call of the current turn."""
    found: Counter[str] = Counter()
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        if (
            isinstance(message, ToolMessage)
            and isinstance(message.artifact, dict)
            and REJECTED in message.artifact
        ):
            found[message.artifact[REJECTED]] += 1
    return found


def looping(messages: Sequence[AnyMessage], calls: Sequence[Mapping[str, Any]]) -> int:
    """Return how often a person rejected the call that this turn's last message repeats too often; 0 without one."""
    if not messages or isinstance(messages[-1], HumanMessage):
        return 0  # the calls are of the turn before
    return max((call["notes"][REJECTED_BEFORE] for call in calls if is_loop(call["notes"])), default=0)


def answered(messages: Sequence[AnyMessage]) -> set[str]:
    """Return the ids of the current calls that have a result already."""
    found: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, ToolMessage):
            found.add(message.tool_call_id)
    return found
