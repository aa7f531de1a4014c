"""The audit trail as files: JSON lines that can be verified again, and a CSV table that no spreadsheet executes."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from agent.review.events import Event, EventKind, MaskedEvent, masked_seal
from agent.review.text.secrets import masked

COLUMNS = tuple(one.name for one in fields(Event) if one.name not in ("salt", "commitment"))
BOM = "\ufeff"
"""Excel reads a table as UTF-8 only if it begins with this."""
FORMULA = re.compile(r"[\s\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|[\t\r\n]")
"""The start of a cell that a spreadsheet may take for a formula. Some skip invisible characters before the sign."""


def as_json_lines(events: Iterable[Event], key: bytes, *, values: bool = False) -> Iterator[str]:
    """Yield each event as one line of JSON, with every field the chain is computed from; absent fields are left out.

    Unless `values` is true, an event whose data holds what looks like a secret is written without its data and with
    `masked_data`. The chain still verifies and reports how many events were masked; `masked_seal`, made with the
    chain's key, ties the masked form to the event.
    """
    for event in events:
        found = {one.name: value for one in fields(event) if (value := getattr(event, one.name)) is not None}
        shown = masked(event.data)
        if not values and shown != event.data:
            seal = masked_seal(key, event, shown)
            found |= {"data": None, "salt": "", "masked_data": shown, "masked_seal": seal}
        yield json.dumps(found) + "\n"


def read_json_lines(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events that `as_json_lines` wrote. Raises `ValueError` naming the first line that is not an event."""
    names = {one.name for one in fields(MaskedEvent)}
    for number, line in enumerate(lines, start=1):
        try:
            found = {name: value for name, value in json.loads(line).items() if name in names}
            made = MaskedEvent if found.get("data") is None and "masked_data" in found else Event
            if made is Event:
                found = {name: value for name, value in found.items() if not name.startswith("masked_")}
            else:
                found = {"masked_seal": "", **found}
            yield made(**{"data": None, **found, "kind": EventKind(found["kind"])})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"Line {number} is not an event of the trail: {error}") from error


def as_csv(events: Iterable[Event]) -> Iterator[str]:
    """Yield a table with a heading, secrets masked. A cell that looks like a formula gets a leading apostrophe."""
    yield BOM + _row(COLUMNS)
    for event in events:
        yield _row([_cell(getattr(event, name)) for name in COLUMNS])


def _row(cells: Iterable[str]) -> str:
    line = io.StringIO()
    # Every cell is quoted, so that a spreadsheet that splits at other separators finds no more cells in one.
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(cells)
    return line.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = json.dumps(masked(value), ensure_ascii=False) if isinstance(value, dict) else str(value)
    return f"'{text}" if FORMULA.match(text) else text
