"""Check what can be done with a thread now, and raise the refusals in their documented order."""

from __future__ import annotations

from collections.abc import Sequence

from agent.ports import Reads
from agent.review.actions import Action, ActionState, Review, ReviewState
from agent.review.deliveries import AnyDelivery, Resume
from agent.review.errors import (
    AlreadyDecided,
    NoPendingReview,
    OutcomeUnknown,
    ReviewChanged,
    ReviewError,
    ReviewExpired,
    ReviewIdNeeded,
    ReviewPending,
    ThreadArchived,
    ThreadBusy,
    ThreadStuck,
    UnknownThread,
)
from agent.review.events import EventKind
from agent.review.repeats import same_call
from agent.review.threads import Status, Thread

UNDECIDED = (ReviewState.CLOSED, ReviewState.EXPIRED)


def known(reads: Reads, thread_id: str) -> Thread:
    """Return the thread. Raises `UnknownThread`."""
    found = reads.thread(thread_id)
    if found is None:
        raise UnknownThread(thread_id)
    return found


def known_to_decide(reads: Reads, thread_id: str) -> Thread:
    """Return the thread. Raises `NoPendingReview`: on one that does not exist nothing waits for a decision."""
    found = reads.thread(thread_id)
    if found is None:
        raise NoPendingReview(thread_id, unknown=True)
    return found


def check_settled(reads: Reads, thread: Thread) -> None:
    """Raise `ThreadArchived`, `ThreadBusy`, `OutcomeUnknown` or `ThreadStuck` if the thread accepts no action now."""
    if thread.status is Status.ARCHIVED:
        raise ThreadArchived(thread.thread_id)
    if reads.open_run(thread.thread_id) is not None:
        last = reads.last_review(thread.thread_id)
        raise ThreadBusy(thread.thread_id, _what_became(last) if last and last.ended_by else "")
    unknown = reads.actions(thread.thread_id, states=[ActionState.UNKNOWN])
    if unknown:
        raise OutcomeUnknown(thread.thread_id, unknown[0].tool)
    if thread.status is Status.STUCK:
        raise ThreadStuck(thread.thread_id)


def check_free(reads: Reads, thread: Thread) -> None:
    """Raise what `check_settled` does, or `ReviewPending`, unless a message may be sent."""
    check_settled(reads, thread)
    waiting = reads.open_reviews(thread.thread_id)
    if waiting:
        raise ReviewPending(thread.thread_id, waiting[0].review_id)


def reviewable(reads: Reads, thread: Thread, review_id: str | None, now: str) -> Review:
    """Return the thread's one review that can be decided or closed now. Raises the first reason why none can."""
    check_settled(reads, thread)
    thread_id = thread.thread_id
    waiting = reads.open_reviews(thread_id)
    found = waiting if review_id is None else [one for one in waiting if one.review_id == review_id]
    if review_id is not None and not found:
        raise gone(reads.review(review_id), thread_id, review_id, waiting)
    if not found:
        last = reads.last_review(thread_id)
        raise NoPendingReview(thread_id, f"The last one, {_what_became(last)}" if last else "")
    if len(found) > 1:
        raise ReviewIdNeeded(thread_id, [review.review_id for review in found])
    if is_over(found[0], now):
        raise ReviewExpired(found[0].review_id, str(found[0].expires_at))
    return found[0]


def is_over(review: Review, now: str) -> bool:
    """Return whether the review's time to decide is over."""
    return isinstance(review.expires_at, str) and review.expires_at <= now


def undecided_last(reads: Reads, thread: Thread) -> list[Action]:
    """Return the actions closed or expired last without a decision and not proposed again since.

    They can be asked again.
    """
    last = reads.last_review(thread.thread_id)
    if thread.status is not Status.IDLE or last is None or last.state not in UNDECIDED:
        return []
    latest = {same_call(one.proposed_tool, one.args): one.key for one in reads.actions(thread.thread_id)}
    return [one for one in last.actions if latest[same_call(one.proposed_tool, one.args)] == one.key]


def was_superseded(reads: Reads, thread_id: str, delivery: AnyDelivery) -> bool:
    """Return whether these decisions have already been superseded once, because they were too late."""
    if not isinstance(delivery, Resume):
        return False
    events = reads.events(thread_id=thread_id, kind=EventKind.REVIEW_SUPERSEDED, newest_first=True)
    return any(event.review_id == delivery.review_id for event in events)


def gone(found: Review | None, thread_id: str, review_id: str, waiting: Sequence[Review]) -> ReviewError:
    """Return the error that says why the named review cannot be decided."""
    if found is None or found.thread_id != thread_id:
        return ReviewChanged(
            f"Thread {thread_id} has no review {review_id}.", waiting[0] if waiting else None
        )
    if found.state is ReviewState.EXPIRED:
        return ReviewExpired(review_id, found.ended_at or "")
    return AlreadyDecided(review_id, found.outcome or "", found.ended_by or "", found.ended_at or "")


def _what_became(review: Review) -> str:
    return f"{review.review_id}, was ended by {review.ended_by} at {review.ended_at}: {review.outcome}."
