"""Which reviews each reviewer was given and has looked at: a decision that names no review applies to those only."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from agent.console.checks import known
from agent.console.views import as_recorded
from agent.console.writes import Entry
from agent.ports import Clock, Ledger, Reads
from agent.review.actions import Key, Review, Waiting
from agent.review.errors import LedgerUnavailable, ReviewChanged
from agent.review.events import instant
from agent.review.facts import ActionLookedOverFact, ReviewShownFact
from agent.review.given import Face, by_thread, given

log = logging.getLogger(__name__)


class GivenReviews:
    """The reviews each reviewer was given last, per thread and interface. Survives restarts; not part of the trail."""

    def __init__(self, *, ledger: Ledger, secret: bytes, clock: Clock) -> None:
        self._ledger, self._secret, self._clock = ledger, secret, clock

    def give(self, reviews: Sequence[Review | Waiting], *, to: str, face: Face) -> None:
        """Note that this reviewer is given these reviews now: on each of their threads, these and no others.

        Writes only what is not noted already. If that fails, a later decision has to name its review.
        """
        found = by_thread(reviews)
        try:
            noted = self._ledger.given(list(found), to, face)
            changed = {thread_id: now for thread_id, now in found.items() if noted.get(thread_id) != now}
            if changed:
                with self._ledger.write() as tx:
                    for thread_id, now in changed.items():
                        tx.give(thread_id, to, face, now)
        except LedgerUnavailable as error:
            log.warning("what %s was given could not be noted: %s", to, error)

    def shown(self, review_id: str, *, to: str) -> None:
        """Record that a reviewer sees a review, the first time only. The time to decide is counted from it."""
        if self._is_on_record(review_id, to):
            return
        with self._ledger.write() as tx:
            review = tx.review(review_id)
            if review is not None:
                review = as_recorded(tx, review, secret=self._secret)
                tx.give(review.thread_id, to, "page", given([review]))
            moment = self._clock()
            if review is None or not tx.first_shown(review_id, to, instant(moment)):
                return
            shown = ReviewShownFact(digests=[action.shown_digest for action in review.actions])
            Entry(tx, known(tx, review.thread_id), to, moment).note(shown, review=review)

    def _is_on_record(self, review_id: str, to: str) -> bool:
        """Return whether nothing is left to note, without taking the write lock."""
        review = self._ledger.review(review_id)
        if review is None or self._ledger.shown_at(review_id, to) is None:
            return False
        now = given([as_recorded(self._ledger, review, secret=self._secret)])
        return self._ledger.given([review.thread_id], to, "page").get(review.thread_id) == now

    def look_over(self, key: Key, *, by: str) -> None:
        """Record that a person has looked at an action that ran without asking."""
        with self._ledger.write() as tx:
            action = tx.latest_action(key.thread_id, key.tool_call_id)
            if action is not None and tx.look_over(key, by):
                entry = Entry(tx, known(tx, key.thread_id), by, self._clock())
                entry.note_action(action, ActionLookedOverFact())

    def meant(self, thread_id: str, by: str, face: Face) -> str | None:
        """Return the id of the one review this reviewer was given last on the thread; None if none, or several."""
        noted = self._ledger.given([thread_id], by, face).get(thread_id, [])
        return noted[0][0] if len(noted) == 1 else None

    def check(self, reads: Reads, review: Review, by: str, face: Face) -> None:
        """Raise `ReviewChanged` unless this review, as it is now, is the one this reviewer was given last."""
        noted = reads.given([review.thread_id], by, face).get(review.thread_id)
        if noted == given([review]):
            return
        about = (
            "you were shown no review of this thread here" if noted is None else "you were last shown another"
        )
        raise ReviewChanged(
            f"The decision names no review, and {about}: {review.review_id} waits. "
            "Send its review_id, or the shown_digest of each action.",
            review,
        )


def says_which(decisions: Any, review_id: str | None) -> bool:
    """Return whether the decisions name what they apply to: the review, or the shown digest of each action."""
    if review_id is not None:
        return True
    return isinstance(decisions, list) and all(one.get("shown_digest") is not None for one in decisions)
