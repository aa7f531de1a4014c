"""Counts in sentences."""

from __future__ import annotations


def counted(count: int, one: str, several: str = "") -> str:
    """Return the count with its noun: `1 decision`, `0 decisions`, `1,204 events`; `several` is an irregular plural."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def are(count: int) -> str:
    """Return the verb that goes with a count."""
    return "is" if count == 1 else "are"
