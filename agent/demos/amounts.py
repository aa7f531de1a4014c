"""Put amounts into words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from agent.demos.world import RowChange
from agent.review.text.counts import counted


def effects(changes: Iterable[RowChange]) -> str:
    """Summarize row changes, such as `2 rows of notes removed`."""
    counts = Counter((change.table, change.kind.removeprefix("row_")) for change in changes)
    return (
        ", ".join(f"{rows(n)} of {table} {verb}" for (table, verb), n in counts.items()) or "no row changed"
    )


def rows(number: int) -> str:
    return counted(number, "row")


def size(text: str) -> str:
    return counted(len(text.encode()), "byte")
