"""The audit trail as files: JSON lines that lose nothing, and a table that no spreadsheet executes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from agent.review.events import Event

COLUMNS = tuple(one.name for one in fields(Event))
BOM = "\ufeff"
"""Excel takes a table for UTF-8 only if it begins with this."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_json_lines(events: Iterable[Event]) -> Iterator[str]:
    """One JSON object a line, with every field the chain is computed from; what is absent is left out."""
    for event in events:
        found = {name: value for name in COLUMNS if (value := getattr(event, name)) is not None}
        yield json.dumps(found) + "\n"


def as_csv(events: Iterable[Event]) -> Iterator[str]:
    """A table with a heading. A cell that a spreadsheet would take for a formula begins with an apostrophe."""
    yield BOM + _row(COLUMNS)
    for event in events:
        yield _row([_cell(getattr(event, name)) for name in COLUMNS])


def _row(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text
