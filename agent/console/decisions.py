"""Check the decisions on a review in full, record all or none of them, and make what the agent resumes with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.console.checks import gone, reviewable
from agent.console.views import as_recorded
from agent.console.writes import Entry
from agent.ports import Reads
from agent.review import decisions as deciding
from agent.review import tool_messages
from agent.review.actions import Review, ReviewState
from agent.review.agents import Agent
from agent.review.damage import is_damaged, review_is_damaged
from agent.review.decisions import AcceptedDecision
from agent.review.deliveries import AnswerCalls, Resume
from agent.review.errors import (
    AlreadyDecided,
    NoPendingReview,
    OutcomeUnknown,
    RecordDamaged,
    ReviewChanged,
    ReviewError,
    ReviewExpired,
    ThreadArchived,
    ThreadBusy,
    ThreadStuck,
)
from agent.review.facts import DecisionRefusedFact
from agent.review.threads import Thread

TOO_LATE = (
    *(AlreadyDecided, ReviewExpired, ReviewChanged, NoPendingReview, RecordDamaged),
    *(ThreadBusy, OutcomeUnknown, ThreadStuck, ThreadArchived),
)
"""Refusals caused by the thread's state, not by the decision's content. These are recorded."""


def decidable(reads: Reads, thread: Thread, review_id: str | None, *, secret: bytes, now: str) -> Review:
    """Return the thread's one review that can be decided now. Raises what `reviewable` does, and `RecordDamaged`."""
    review = as_recorded(reads, reviewable(reads, thread, review_id, now), secret=secret)
    check_whole(review)
    return review


def check_whole(review: Review) -> None:
    """Raise `RecordDamaged` if the review's record was changed outside the console."""
    if not review_is_damaged(review):
        return
    tools = ", ".join(one.tool for one in review.actions if is_damaged(one)) or "its actions"
    raise RecordDamaged(
        f"The record of review {review.review_id} ({tools})",
        "Close the review without deciding: the agent is told that its question is open, and can ask again.",
        review,
    )


def checked(decisions: Any, review: Review, *, agent: Agent, secret: bytes) -> list[AcceptedDecision]:
    """Return what each decision amounts to. Raises `InvalidDecision`, and `ReviewChanged` with the review as it is."""
    try:
        return deciding.check_decisions(decisions, review.actions, agent, secret)
    except ReviewChanged as changed:
        changed.review = review
        raise


def record(
    entry: Entry, review: Review, accepted: Sequence[AcceptedDecision], *, agent: Agent, end_turn: bool
) -> AnswerCalls | Resume:
    """Record the decisions and the end of their review, each by compare-and-set. Returns what the agent resumes with."""
    if end_turn:
        deciding.check_all_rejected(accepted)
    for one in accepted:
        entry.record_decision(review, one, agent)
    outcome = deciding.outcome(accepted) + (", and the turn ended" if end_turn else "")
    if not entry.tx.end_review(review.review_id, ReviewState.DECIDED, entry.now, entry.by, outcome):
        raise gone(entry.tx.review(review.review_id), review.thread_id, review.review_id, [])
    if end_turn:
        closing_id = f"closing-{review.review_id}"
        reasons = [one.message.strip() for one in accepted]
        results = entry.answer_calls(tool_messages.rejected_within(reasons))
        return AnswerCalls(results, tool_messages.ended_answer(reasons), closing_id)
    return Resume(review.review_id, tuple(one.wire for one in accepted))


def note_refusal(entry: Entry, review_id: str | None, error: ReviewError) -> None:
    """Record that a decision was refused because it was too late."""
    review = entry.tx.review(review_id) if review_id else None
    entry.note(DecisionRefusedFact(why=str(error), code=error.code, review_id=review_id), review=review)
