"""What a reviewer was given to decide on, and where: the reviews of one answer or page, with the digests they showed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from agent.review.actions import Review, Waiting

Face = Literal["page", "cli", "http", "python"]
"""The interface through which somebody looks and decides."""

Given = list[tuple[str, list[str]]]
"""Review ids, each with the shown digests of its actions in order."""


def given(reviews: Iterable[Review | Waiting]) -> Given:
    """Return these reviews as they are noted."""
    return [(one.review_id, [action.shown_digest for action in one.actions]) for one in reviews]


def by_thread(reviews: Iterable[Review | Waiting]) -> dict[str, Given]:
    """Return the same, by thread id."""
    found: dict[str, Given] = {}
    for one in reviews:
        found.setdefault(one.thread_id, []).extend(given([one]))
    return found
