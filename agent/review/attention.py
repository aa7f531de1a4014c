"""How a reviewer looked at an action before deciding on it, for the record and for later statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Seen:
    """How a reviewer looked, as the browser reported it: no proof against somebody who means to deceive."""

    visible_seconds: float
    """How long the action was on screen, without the time the page was hidden."""
    opened: tuple[str, ...] = ()
    """The folds that were opened, by name; two folds that hold the same text open together."""


def as_data(seen: Seen | None) -> dict[str, Any]:
    """Return the look as an event records it; a decision that was not made on a page has none."""
    if seen is None:
        return {"visible_seconds": None, "opened": None}
    return {"visible_seconds": round(seen.visible_seconds, 3), "opened": list(seen.opened)}
