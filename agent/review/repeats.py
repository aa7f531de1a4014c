"""The same call again: told apart by what would run, never by how the model wrote it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from agent.review.digest import canonical

MOST_REJECTIONS = 3
"""How often one turn may bring the same call before a person who rejects it; then the turn ends."""
REJECTED_BEFORE = "rejected_before"
"""The note on a call that was rejected in this turn before: how often."""


def same_call(tool: str, args: Mapping[str, Any] | None) -> str:
    """What two calls share if, and only if, they would run the same: tool and canonical arguments."""
    return hashlib.sha256(canonical([tool, args])).hexdigest()


def is_loop(notes: Mapping[str, Any]) -> bool:
    """Whether a call with these notes was rejected so often that it is not asked about again."""
    return int(notes.get(REJECTED_BEFORE, 0)) >= MOST_REJECTIONS
