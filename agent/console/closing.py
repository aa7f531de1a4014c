"""End reviews without a decision: closed by a person, expired, or closed with their stuck thread; and ask again."""

from __future__ import annotations

from uuid import uuid4

from agent.console.checks import closed_last
from agent.console.views import as_recorded
from agent.console.writes import Entry
from agent.review import tool_messages
from agent.review.actions import ActionState, Review, ReviewState
from agent.review.agents import Agent
from agent.review.damage import review_is_damaged
from agent.review.deliveries import AnswerCalls, Repeat, Repeated, ToolResult
from agent.review.errors import NothingToAskAgain
from agent.review.facts import ReviewClosedFact, ReviewExpiredFact
from agent.review.people import NOBODY

BY_HAND = "closed without deciding"


def close(entry: Entry, review: Review, reason: str, *, secret: bytes) -> AnswerCalls:
    """End the review without deciding. Returns what the agent resumes with: the turn's free calls still run."""
    # If the record was changed, calls may be missing from it, so none of the turn's calls may run.
    rest = (
        tool_messages.CANCELLED if review_is_damaged(as_recorded(entry.tx, review, secret=secret)) else None
    )
    results = _close_one(entry, review, reason)
    # If other reviews are open, a suspended tool may wait for any of them: it is left to ask once more.
    alone = not entry.tx.open_reviews(review.thread_id)
    begun = entry.end_midway(tool_messages.midway(tool_messages.CANCELLED)) if alone else ()
    return AnswerCalls((*results, *begun, *entry.known_results()), rest=rest)


def close_stuck(entry: Entry, reason: str) -> AnswerCalls:
    """End every review of a stuck thread, and answer each open call with an error."""
    for review in entry.tx.open_reviews(entry.thread.thread_id):
        _close_one(entry, review, reason)
    return AnswerCalls(
        entry.answer_calls(tool_messages.midway(tool_messages.CANCELLED)),
        rest=tool_messages.CLOSED_WITH_OTHERS,
    )


def _close_one(entry: Entry, review: Review, reason: str) -> list[ToolResult]:
    """End one review and each of its actions, and record what is sent to the model. Returns those results."""
    results = [
        entry.cancel(action, tool_messages.of(action, tool_messages.CANCELLED)) for action in review.actions
    ]
    entry.tx.end_review(review.review_id, ReviewState.CLOSED, entry.now, entry.by, BY_HAND)
    told = " ".join(dict.fromkeys(result.text for result in results)) or tool_messages.CANCELLED
    entry.note(ReviewClosedFact(reason=reason, told=told), review=review)
    return results


def expire(entry: Entry, review: Review) -> AnswerCalls | None:
    """End a review whose time is over.

    Returns the delivery that ends the turn, or None if a run is open or the review has ended already.
    """
    if entry.tx.open_run(review.thread_id) is not None:
        return None
    outcome = "nobody decided in time"
    if not entry.tx.end_review(review.review_id, ReviewState.EXPIRED, entry.now, NOBODY, outcome):
        return None
    for action in review.actions:
        text = tool_messages.of(action, tool_messages.EXPIRED)
        entry.tx.move(action.key, ActionState.PENDING, ActionState.EXPIRED, ended_at=entry.now, result=text)
    entry.note(ReviewExpiredFact(told=tool_messages.EXPIRED), review=review)
    results = entry.answer_calls(tool_messages.midway(tool_messages.EXPIRED))
    return AnswerCalls(results, tool_messages.EXPIRED_ANSWER, f"closing-{review.review_id}")


def repeat(entry: Entry, *, agent: Agent) -> Repeat:
    """Return the calls of the review closed last, to be proposed once more. Raises `NothingToAskAgain`."""
    closed = [] if agent.gates_itself else closed_last(entry.tx, entry.thread)
    if not closed:
        raise NothingToAskAgain(entry.thread.thread_id)
    calls = tuple(
        Repeated(f"call_{uuid4().hex[:24]}", action.proposed_tool, action.enters or {}) for action in closed
    )
    return Repeat(entry.say(tool_messages.ASK_ME_AGAIN).id, tool_messages.ASK_ME_AGAIN, uuid4().hex, calls)
