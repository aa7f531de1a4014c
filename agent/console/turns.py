"""What a thread's turn goes on with: the results of its calls, or what its last run brought."""

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
    """The calls of the turn that was proposed last, each in its last attempt, with all that ended since its last run."""
    proposing = [a.key.message_id for a in actions if not a.key.message_id.startswith(OF_AN_INTERRUPT)]
    # What is still open belongs to it wherever it was proposed, and so does what ended since: a question, or a call on
    # either side of a graph inside the graph.
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
    """Results for all calls of the turn at once: a finished sibling's is in the ledger, not in the checkpoint."""
    calls = latest_calls(actions, last_run)
    again = [a for a in calls if a.decision and a.decision.get("outcome") == "ask_again"]
    results = [
        ToolResult(action.key.tool_call_id, action.tool, tool_messages.status(action.state), action.result)
        for action in calls
        if action.result is not None and action not in again
    ]
    return AnswerCalls(tuple(results), ask_again=tuple(action.key.tool_call_id for action in again))


def brought_again(reads: Reads, thread: Thread) -> AnyDelivery:
    """What the thread's broken run brought, to be delivered once more. Raises `NothingToRetry` and `RecordDamaged`."""
    last = reads.last_run(thread.thread_id)
    if thread.status not in BROKEN or last is None:
        raise NothingToRetry(thread.thread_id)
    delivery = readable(last.delivery, last.thread_id)
    if isinstance(delivery, CatchUp) or was_superseded(reads, last.thread_id, delivery):
        return Continue()  # what another client left is all there is to go on with
    return delivery
