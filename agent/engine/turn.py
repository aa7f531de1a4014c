"""The present turn, read from the conversation's messages: nothing is counted anywhere else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from agent.review.repeats import REJECTED_BEFORE, is_loop

REJECTED = "rejected"
"""Under this a rejection's result keeps, in its artifact, which call was rejected."""


def within(messages: Sequence[AnyMessage], window: int) -> list[AnyMessage]:
    """The last messages, at most `window`, from the start of a turn; the present turn is kept whole."""
    starts = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
    fitting = [place for place in starts if len(messages) - place <= window]
    cut = 0 if len(messages) <= window else (fitting or starts[-1:] or [0])[0]
    return list(messages[cut:])


def rounds(messages: Sequence[AnyMessage]) -> int:
    """How often the model has been called in the present turn."""
    count = 0
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        count += isinstance(message, AIMessage)
    return count


def rejections(messages: Sequence[AnyMessage]) -> Counter[str]:
    """How often each call of the present turn was rejected by a person."""
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
    """How often the call was rejected that this turn's last message brought once too often; 0 if none is."""
    if not messages or isinstance(messages[-1], HumanMessage):
        return 0  # the calls are of the turn before
    return max((call["notes"][REJECTED_BEFORE] for call in calls if is_loop(call["notes"])), default=0)


def answered(messages: Sequence[AnyMessage]) -> set[str]:
    """Ids of the present calls that have a result already."""
    found: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, ToolMessage):
            found.add(message.tool_call_id)
    return found
