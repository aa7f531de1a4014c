"""Put amounts into words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from agent.demos.world import RowChange


def effects(changes: Iterable[RowChange]) -> str:
    """Summarize row changes, such as `2 rows of notes removed`."""
    counts = Counter((change.table, change.kind.removeprefix("row_")) for change in changes)
    return (
        ", ".join(f"{rows(n)} of {table} {verb}" for (table, verb), n in counts.items()) or "no row changed"
    )


def rows(number: int) -> str:
    return f"{number} row{'s' * (number != 1)}"


def size(text: str) -> str:
    count = len(text.encode())
    return f"{count:,} byte{'s' * (count != 1)}"
