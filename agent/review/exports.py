"""The audit trail as files: JSON lines that can be verified again, and a table that no spreadsheet executes."""

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
"""Excel takes a table for UTF-8 only if it begins with this."""
FORMULA = re.compile(r"[\s\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|[\t\r\n]")
"""How a cell begins that a spreadsheet may take for a formula: some skip what cannot be seen before the sign."""


def as_json_lines(events: Iterable[Event], key: bytes, *, values: bool = False) -> Iterator[str]:
    """One JSON object a line, with every field the chain is computed from; what is absent is left out.

    An event whose data holds what looks like a secret comes without its data and with `masked_data`, unless `values`
    are asked for: the chain still verifies and says how many were masked, and `masked_seal`, made with the chain's
    key, ties the masked form to the event.
    """
    for event in events:
        found = {one.name: value for one in fields(event) if (value := getattr(event, one.name)) is not None}
        shown = masked(event.data)
        if not values and shown != event.data:
            seal = masked_seal(key, event, shown)
            found |= {"data": None, "salt": "", "masked_data": shown, "masked_seal": seal}
        yield json.dumps(found) + "\n"


def read_json_lines(lines: Iterable[str]) -> Iterator[Event]:
    """The events that were written so. Raises `ValueError` naming the line that is none."""
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
            raise ValueError(f"Line {number} is no event of the trail: {error}") from error


def as_csv(events: Iterable[Event]) -> Iterator[str]:
    """A table with a heading, secrets masked. What a spreadsheet would take for a formula begins with an apostrophe."""
    yield BOM + _row(COLUMNS)
    for event in events:
        yield _row([_cell(getattr(event, name)) for name in COLUMNS])


def _row(cells: Iterable[str]) -> str:
    line = io.StringIO()
    # All quoted: a spreadsheet that splits at other signs than the comma finds no further cell in one.
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(cells)
    return line.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = json.dumps(masked(value), ensure_ascii=False) if isinstance(value, dict) else str(value)
    return f"'{text}" if FORMULA.match(text) else text
