"""The outcomes a person can set for an action whose outcome is unknown, and when they can be set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, get_args

from agent.ports import Reads, Runs
from agent.review import tool_messages
from agent.review.actions import Action, ActionState
from agent.review.errors import InvalidDecision, NothingToSettle, StillAlive, ThreadBusy
from agent.review.threads import check_words, pid_of

Outcome = Literal["happened", "failed", "ask_again"]

TOLD_OF_OUTCOME: Mapping[Outcome, Callable[[str], str]] = {
    "happened": lambda words: words or tool_messages.HAPPENED,
    "failed": tool_messages.settled_as_failed,
    "ask_again": lambda words: tool_messages.DID_NOT_HAPPEN,
}


def check_outcome(outcome: str, result: str) -> None:
    """Raise `InvalidDecision` for an outcome that does not exist, or a result that cannot be stored."""
    check_words(result, "result")
    if outcome not in get_args(Outcome):
        raise InvalidDecision(f"There is no outcome {outcome!r}. Use one of {', '.join(get_args(Outcome))}.")


def unsettled(reads: Reads, thread_id: str, tool_call_id: str) -> Action:
    """Return the action under this call id, whose outcome is unknown. Raises `NothingToSettle` and `ThreadBusy`."""
    action = reads.latest_action(thread_id, tool_call_id)
    if action is None or action.state is not ActionState.UNKNOWN:
        raise NothingToSettle(thread_id, tool_call_id)
    if reads.open_run(thread_id) is not None:
        raise ThreadBusy(thread_id)
    return action


def check_ended(action: Action, runs: Runs) -> None:
    """Raise `StillAlive` if the action's process could still run it: another process, or this one after a freeze."""
    owner = action.owner
    if owner and (runs.lives(owner) or runs.progress(action.key.thread_id) is not None):
        raise StillAlive(action.tool, pid_of(owner))
