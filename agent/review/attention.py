"""How a reviewer looked at an action before deciding on it: for the record, and for figures made of it later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Seen:
    """What a page knows of the look; the browser told it, so it proves nothing against who means to deceive."""

    visible_seconds: float
    """How long the action was on screen, without the time the page was hidden."""
    opened: tuple[str, ...] = ()
    """The folds that were opened, by name; two that hold the same text are opened together."""


def as_data(seen: Seen | None) -> dict[str, Any]:
    """The look as an event tells of it; who decides past the pages leaves none."""
    if seen is None:
        return {"visible_seconds": None, "opened": None}
    return {"visible_seconds": round(seen.visible_seconds, 3), "opened": list(seen.opened)}
