"""Work out what a turn resumes with: the results of its calls, or the delivery of its last run."""

from __future__ import annotations

from collections.abc import Sequence

from agent.console.checks import was_superseded
from agent.ports import Reads
from agent.review import tool_messages
from agent.review.actions import Action, ActionState
from agent.review.deliveries import AnswerCalls, AnyDelivery, CatchUp, Continue, ToolResult, readable
from agent.review.errors import NothingToRetry
from agent.review.external import OF_AN_INTERRUPT
from agent.review.threads import Run, Status, Thread

BROKEN = (Status.FAILED, Status.STOPPED)


def latest_calls(actions: Sequence[Action], last_run: Run | None = None) -> list[Action]:
    """Return the calls of the latest turn, each in its last attempt, and those that ended since the last run began."""
    proposing = [a.key.message_id for a in actions if not a.key.message_id.startswith(OF_AN_INTERRUPT)]
    # What is still open or ended since belongs to the turn wherever it was proposed: it may be a question, or a call
    # on either side of a subgraph.
    open_still = (ActionState.PENDING, ActionState.APPROVED, ActionState.SUSPENDED)
    since = last_run.started_at if last_run else None
    latest = {(a.key.message_id, a.key.tool_call_id): a for a in actions}
    return [
        action
        for action in latest.values()
        if action.key.message_id in proposing[-1:]
        or action.state in open_still
        or (since is not None and action.ended_at is not None and action.ended_at >= since)
    ]


def settlement(actions: Sequence[Action], last_run: Run | None) -> AnswerCalls:
    """Return the results of all calls of the turn; those of finished siblings are in the ledger, not the checkpoint."""
    calls = latest_calls(actions, last_run)
    again = [a for a in calls if a.decision and a.decision.get("outcome") == "ask_again"]
    results = [
        ToolResult(action.key.tool_call_id, action.tool, tool_messages.status(action.state), action.result)
        for action in calls
        if action.result is not None and action not in again
    ]
    return AnswerCalls(tuple(results), ask_again=tuple(action.key.tool_call_id for action in again))


def brought_again(reads: Reads, thread: Thread) -> AnyDelivery:
    """Return the delivery of the thread's broken run, to be delivered again.

    Raises `NothingToRetry` and `RecordDamaged`.
    """
    last = reads.last_run(thread.thread_id)
    if thread.status not in BROKEN or last is None:
        raise NothingToRetry(thread.thread_id)
    delivery = readable(last.delivery, last.thread_id)
    if isinstance(delivery, CatchUp) or was_superseded(reads, last.thread_id, delivery):
        return Continue()  # there is nothing to deliver: resume from what another client left
    return delivery
