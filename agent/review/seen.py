"""How a reviewer looked at an action before deciding on it: for the record, and for figures made of it later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent.review.actions import Action
from agent.review.args import show
from agent.review.places import path

CLAIM, DESCRIPTION, SIBLINGS = "claim", "description", "siblings"
"""The folds that hold what stands beside the call: they are folded whatever their length."""


@dataclass(frozen=True)
class Seen:
    """What a page knows of the look; the browser told it, so it proves nothing against who means to deceive."""

    visible_seconds: float
    """How long the action was on screen, without the time the page was hidden."""
    opened: tuple[str, ...] = ()
    """The folds that were opened, by name; two that hold the same text are opened together."""


def texts(action: Action) -> Iterator[tuple[str, str]]:
    """Every text of the card that is folded where it is long, by the name of its fold."""
    yield "summary", action.summary
    yield "why", action.why
    for name, value in (action.args or {}).items():
        yield path((name,)), show(value)
    yield "json", show(action.args)
    yield "raw", as_proposed(action)


def as_proposed(action: Action) -> str:
    """The model's own arguments as they came, for people."""
    return action.proposed if isinstance(action.proposed, str) else show(action.proposed)


def as_data(seen: Seen | None) -> dict[str, Any]:
    """The look as an event tells of it; who decides past the pages leaves none."""
    if seen is None:
        return {"visible_seconds": None, "opened": None}
    return {"visible_seconds": round(seen.visible_seconds, 3), "opened": list(seen.opened)}
