"""Recognise the same call again: by what would run, never by how the model wrote it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from agent.review.digest import canonical

MOST_REJECTIONS = 3
"""A call rejected this often in one turn is not asked about again: proposing it once more ends the turn."""
REJECTED_BEFORE = "rejected_before"
"""The note that counts how often a call was rejected before in this turn."""


def same_call(tool: str, args: Mapping[str, Any] | None) -> str:
    """Return a hash that two calls share if, and only if, they would run the same: tool and canonical arguments."""
    return hashlib.sha256(canonical([tool, args])).hexdigest()


def is_loop(notes: Mapping[str, Any]) -> bool:
    """Return whether a call with these notes was rejected so often that it is not asked about again."""
    return int(notes.get(REJECTED_BEFORE, 0)) >= MOST_REJECTIONS
