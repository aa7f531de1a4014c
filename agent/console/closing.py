"""End reviews without a decision: closed by a person, expired, or closed with their stuck thread; and ask again."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from agent.console.checks import is_over, undecided_last
from agent.console.views import as_recorded
from agent.console.writes import Entry
from agent.review import tool_messages
from agent.review.actions import ActionState, Review, ReviewState
from agent.review.agents import Agent
from agent.review.damage import review_is_damaged
from agent.review.deliveries import AnswerCalls, Repeat, Repeated, ToolResult
from agent.review.errors import NothingToAskAgain
from agent.review.external import OF_AN_INTERRUPT
from agent.review.facts import ReviewClosedFact, ReviewExpiredFact
from agent.review.people import NOBODY
from agent.review.threads import Run

BY_HAND = "closed without deciding"
OUT_OF_TIME = "nobody decided in time"


def close(entry: Entry, review: Review, reason: str, *, secret: bytes) -> AnswerCalls:
    """End the review without deciding. Returns what the agent resumes with: the turn's free calls still run."""
    damaged = _is_damaged(entry, [review], secret)
    return _going_on(entry, _close_one(entry, review, reason), tool_messages.CANCELLED, damaged=damaged)


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
    results = _end_undecided(entry, review, ActionState.CANCELLED, tool_messages.CANCELLED)
    entry.tx.end_review(review.review_id, ReviewState.CLOSED, entry.now, entry.by, BY_HAND)
    told = " ".join(dict.fromkeys(result.text for result in results)) or tool_messages.CANCELLED
    entry.note(ReviewClosedFact(reason=reason, told=told), review=review)
    return results


def expire(entry: Entry, review: Review, *, agent: Agent, secret: bytes) -> AnswerCalls | None:
    """End a review whose time is over, with those of its thread that are over too.

    Returns what the turn goes on with, or None while a run is open or the review has ended. The free calls of the turn
    still run, and the model is called once more, unless `_ends_turn` says otherwise.
    """
    if entry.tx.open_run(review.thread_id) is not None:
        return None
    opened = entry.tx.open_reviews(review.thread_id)
    over = [one for one in opened if one.review_id == review.review_id or is_over(one, entry.now)]
    if review.review_id not in [one.review_id for one in over]:
        return None
    ends, damaged = _ends_turn(entry, over, agent), _is_damaged(entry, over, secret)
    results = [result for one in over for result in _expire_one(entry, one)]
    if not ends:
        return _going_on(entry, results, tool_messages.EXPIRED, damaged=damaged)
    answers = entry.answer_calls(tool_messages.midway(tool_messages.EXPIRED))
    return AnswerCalls(answers, tool_messages.EXPIRED_ANSWER, f"closing-{review.review_id}")


def _expire_one(entry: Entry, review: Review) -> list[ToolResult]:
    results = _end_undecided(entry, review, ActionState.EXPIRED, tool_messages.EXPIRED)
    entry.tx.end_review(review.review_id, ReviewState.EXPIRED, entry.now, NOBODY, OUT_OF_TIME)
    entry.note(ReviewExpiredFact(told=tool_messages.EXPIRED), review=review)
    return results


def _ends_turn(entry: Entry, reviews: Sequence[Review], agent: Agent) -> bool:
    """Return whether nobody's decision ends the turn there, without another call of the model.

    It does where the policy says so; where the reviews were opened by a call of the model that another expiry had
    caused, so that unattended agents come to rest; and where a graph asked that is sent no results of calls.
    """
    actions = [action for review in reviews for action in review.actions]
    last = entry.tx.last_run(entry.thread.thread_id)
    return (
        (last is not None and _is_unattended(last))
        or any(agent.policy.ends_turn(action.tool) for action in actions)
        or any(action.key.message_id.startswith(OF_AN_INTERRUPT) for action in actions)
    )


def _is_unattended(run: Run) -> bool:
    """Return whether the run was started by an expiry, and not by a person."""
    return run.started_by == NOBODY and isinstance(run.delivery, AnswerCalls)


def _end_undecided(entry: Entry, review: Review, end: ActionState, text: str) -> list[ToolResult]:
    return [entry.end_undecided(action, end, tool_messages.of(action, text)) for action in review.actions]


def _going_on(entry: Entry, results: Sequence[ToolResult], text: str, *, damaged: bool) -> AnswerCalls:
    """Return the results with which the turn goes on. What had begun and asked in its middle ends with `text`."""
    # If other reviews are open, a suspended tool may wait for any of them: it is left to ask once more.
    alone = not entry.tx.open_reviews(entry.thread.thread_id)
    begun = entry.end_midway(tool_messages.midway(text)) if alone else ()
    # If the record was changed, calls may be missing from it, so none of the turn's calls may run.
    rest = text if damaged else None
    return AnswerCalls((*results, *begun, *entry.known_results()), rest=rest)


def _is_damaged(entry: Entry, reviews: Sequence[Review], secret: bytes) -> bool:
    return any(review_is_damaged(as_recorded(entry.tx, one, secret=secret)) for one in reviews)


def repeat(entry: Entry, *, agent: Agent) -> Repeat:
    """Return the calls of the review that ended last without a decision, to be proposed once more.

    Raises `NothingToAskAgain`.
    """
    left = [] if agent.gates_itself else undecided_last(entry.tx, entry.thread)
    if not left:
        raise NothingToAskAgain(entry.thread.thread_id)
    calls = tuple(
        Repeated(f"call_{uuid4().hex[:24]}", action.proposed_tool, action.enters or {}) for action in left
    )
    late = any(action.state is ActionState.EXPIRED for action in left)
    text = tool_messages.ASK_ME_AGAIN_LATE if late else tool_messages.ASK_ME_AGAIN
    return Repeat(entry.say(text).id, text, uuid4().hex, calls)
