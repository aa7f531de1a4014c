"""Find open actions whose row was changed in the ledger's file outside the console, so that its digests do not fit.

Such an action is read without anything that could be decided on, so that nobody decides on what the row now says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from agent.review.actions import Action, ActionState, AskedAction, Review, ReviewState, Waiting, digests_of
from agent.review.events import moment

DAMAGED = "The record of this call was changed past the console, so it cannot be shown or decided. Close the review."
SHORT = 2_000
"""Up to this many characters of arguments, the check of an action in the queue is cached."""
OPEN = (ActionState.PENDING, ActionState.APPROVED, ActionState.SUSPENDED)
"""The states of actions that may still run."""

One = TypeVar("One", Action, AskedAction)


def is_damaged(action: Action | AskedAction) -> bool:
    """Return whether this is an action that was blanked on reading, because its row does not fit its digests."""
    return not action.shown_digest


def review_is_damaged(review: Review | Waiting) -> bool:
    """Return whether the review cannot be decided, because its record was changed."""
    return not review.actions or any(is_damaged(action) for action in review.actions)


def fits(action: Action | AskedAction, secret: bytes) -> bool:
    """Return whether the action is what its digests were made from."""
    if isinstance(action, AskedAction) and len(action.args_text) <= SHORT:
        try:
            return _short_one_fits(action._replace(args=None, proposed=None), secret)
        except (TypeError, ValueError, RecursionError):  # what the console cannot have written
            return False
    return _fits(action, secret)


@lru_cache(maxsize=4_096)
def _short_one_fits(action: AskedAction, secret: bytes) -> bool:
    """Return the same, cached for an identical row: a queue is read again and again."""
    return _fits(action._replace(args=json.loads(action.args_text)), secret)


def _fits(action: Action | AskedAction, secret: bytes) -> bool:
    try:
        return digests_of(action, secret) == (action.call_digest, action.shown_digest)
    except (ValueError, TypeError, RecursionError):  # values that the console never accepts
        return False


def as_read(action: Action, secret: bytes) -> Action:
    """Return the action, blanked if it may still run and does not fit its digests."""
    return action if action.state not in OPEN or fits(action, secret) else _blanked(action)


def review_as_read(review: Review, secret: bytes, opened_with: Sequence[str] | None = None) -> Review:
    """Return the review; if it is open, each action that does not fit its digests is blanked.

    `opened_with` are the tool call ids it was opened with, in order, if the trail has them: decisions are by position.
    """
    if review.state is not ReviewState.OPEN:
        return review
    whole = _has_its_times(review)
    whole &= opened_with is None or list(opened_with) == [one.tool_call_id for one in review.actions]
    actions = tuple(
        one if whole and _waits_in(review, one) and fits(one, secret) else _blanked(one)
        for one in review.actions
    )
    return replace(review, actions=actions, **({} if _has_its_times(review) else _NO_TIMES))


def waiting_as_read(review: Waiting, secret: bytes) -> Waiting:
    """Return the same for a review in the queue."""
    whole = _has_its_times(review)
    actions = tuple(
        one if whole and _waits_in(review, one) and fits(one, secret) else _blanked(one)
        for one in review.actions
    )
    return review._replace(actions=actions, **({} if whole else _NO_TIMES))


_NO_TIMES: Mapping[str, Any] = {"opened_at": "1970-01-01T00:00:00.000000Z", "expires_at": None}


def _has_its_times(review: Review | Waiting) -> bool:
    return moment(review.opened_at) is not None and (
        review.expires_at is None or moment(review.expires_at) is not None
    )


def _waits_in(review: Review | Waiting, action: Action | AskedAction) -> bool:
    own = (action.key.thread_id, action.agent) == (review.thread_id, review.agent)
    return own and action.state is ActionState.PENDING


def _blanked(action: One) -> One:
    if isinstance(action, AskedAction):
        blank = action._replace(args=None, proposed=None, args_text="", summary=DAMAGED, allowed=())
        return blank._replace(call_digest="", shown_digest="")
    blank = replace(action, args=None, proposed=None, notes={}, summary=DAMAGED, allowed=())
    return replace(blank, call_digest="", shown_digest="")
