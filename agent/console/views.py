"""A thread and its reviews, as pages draw them and the API returns them."""

from __future__ import annotations

from dataclasses import dataclass

from agent.ports import Reads, Runs
from agent.review.actions import Action, ActionState, Review, ReviewState
from agent.review.agents import Agent, Denial
from agent.review.damage import review_as_read
from agent.review.preconditions import Since
from agent.review.threads import Progress, Status, Thread


@dataclass(frozen=True)
class View:
    """One thread at one instant."""

    thread: Thread
    reviews: tuple[Review, ...]
    """Open reviews, oldest first."""
    progress: Progress | None
    unknown: tuple[Action, ...]
    """Actions whose outcome is unknown."""
    last_review: Review | None
    """The review opened last, whether open or ended."""


@dataclass(frozen=True)
class CardView:
    """All that a card shows of one action that waits, read at once."""

    review: Review
    action: Action
    agent: Agent
    """As it is served now."""
    denial: Denial | None
    """Why the policy as it is now denies the call; None if it does not."""
    since: Since
    """How the facts that the call depends on compare with those of its proposal."""
    edited_away: Action | None
    """The action that was edited last in the thread where this same call was proposed."""
    unasked: tuple[Action, ...]
    """The calls of the same message that were approved without asking."""
    decided_before: Action | None
    """The last action of the same tool that was decided in the thread."""
    claim: str
    """What the agent said when it proposed the call; nobody has checked it."""


def view(reads: Reads, thread: Thread, *, runs: Runs, secret: bytes) -> View:
    """Read the thread's reviews, progress and unknown actions."""
    thread_id = thread.thread_id
    return View(
        thread=thread,
        reviews=tuple(as_recorded(reads, one, secret=secret) for one in reads.open_reviews(thread_id)),
        progress=runs.progress(thread_id) if thread.status is Status.RUNNING else None,
        unknown=tuple(reads.actions(thread_id, states=[ActionState.UNKNOWN])),
        last_review=reads.last_review(thread_id),
    )


def as_recorded(reads: Reads, review: Review, *, secret: bytes) -> Review:
    """Return the review; an open one is first checked against its digests and the event that opened it."""
    if review.state is not ReviewState.OPEN:
        return review
    return review_as_read(review, secret, reads.opened_with(review.thread_id, review.review_id))
