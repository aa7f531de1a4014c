"""Events of the audit trail in words, and as files."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from agent.review.events import Event, Kind

HARMFUL = re.compile(r"[\s\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|[\t\r\n]")
"""How a cell begins that a spreadsheet may take for a formula: some skip what cannot be seen before the sign."""
COLUMNS = (
    "seq",
    "at",
    "kind",
    "thread_id",
    "agent",
    "by",
    "review_id",
    "tool_call_id",
    "tool",
    "digest",
    "data",
    "hash",
)

WORDS: dict[Kind, str] = {
    Kind.THREAD_STARTED: "started the thread",
    Kind.MESSAGE_SENT: "sent a message",
    Kind.RUN_STARTED: "started a run",
    Kind.RUN_ENDED: "the run paused or ended",
    Kind.RUN_FAILED: "the run failed",
    Kind.RUN_STOPPED: "the run was stopped",
    Kind.ACTION_PROPOSED: "the agent proposed",
    Kind.ACTION_REFUSED: "the policy refused",
    Kind.REVIEW_OPENED: "a review was opened",
    Kind.REVIEW_SHOWN: "saw the review for the first time",
    Kind.DECISION_MADE: "decided",
    Kind.DECISION_REFUSED: "tried to decide, and was refused",
    Kind.REVIEW_CLOSED: "closed the review without deciding",
    Kind.REVIEW_EXPIRED: "the review expired",
    Kind.REVIEW_SUPERSEDED: "another client answered the review",
    Kind.EXECUTION_STARTED: "execution started",
    Kind.EXECUTION_FINISHED: "execution finished",
    Kind.EXECUTION_FAILED: "execution failed",
    Kind.EXECUTION_SUSPENDED: "the tool itself asked",
    Kind.EXECUTION_BLOCKED: "execution was blocked",
    Kind.ACTION_LAPSED: "the approval came too late",
    Kind.ACTION_WITHDRAWN: "withdrawn before it started",
    Kind.OUTCOME_UNKNOWN: "cut off: the outcome is unknown",
    Kind.OUTCOME_SETTLED: "settled the outcome",
    Kind.ACTION_LOOKED_OVER: "looked it over",
    Kind.ALL_STOPPED: "stopped everything",
    Kind.ALL_RELEASED: "released the stop",
    Kind.RULE_MADE: "made a rule",
    Kind.RULE_APPLIED: "a rule applied",
    Kind.RULE_REVOKED: "revoked a rule",
    Kind.POLICY_CHANGED: "the policy changed",
}


def sentence(event: Event) -> str:
    """What happened, in a few words; names of people and tools are part of it."""
    data = event.data or {}
    more = {
        Kind.DECISION_MADE: f": {data.get('type')} {data.get('tool')}",
        Kind.OUTCOME_SETTLED: f": {data.get('outcome')} {event.tool}",
        Kind.RUN_ENDED: f": {data.get('ended')}",
        Kind.RUN_FAILED: f": {data.get('error')}",
    }.get(event.kind, f" {event.tool}" if event.tool else "")
    return f"{WORDS.get(event.kind, event.kind)}{more}"


def jsonl(events: Iterable[Event]) -> Iterator[str]:
    """One event a line, lossless: it can be verified again."""
    for event in events:
        yield json.dumps(asdict(event), ensure_ascii=False) + "\n"


def as_csv(events: Iterable[Event]) -> Iterator[str]:
    """One event a row, for a spreadsheet; what one could take for a formula is made harmless."""
    yield "\ufeff" + _row(COLUMNS)  # the mark by which Excel knows UTF-8
    for event in events:
        fields = asdict(event)
        fields["data"] = json.dumps(event.data, ensure_ascii=False)
        yield _row([fields[name] for name in COLUMNS])


def _row(cells: Iterable[Any]) -> str:
    out = io.StringIO()
    # All quoted: a spreadsheet that splits at other signs than the comma finds no further cell in one.
    csv.writer(out, quoting=csv.QUOTE_ALL).writerow([_harmless(cell) for cell in cells])
    return out.getvalue()


def _harmless(cell: Any) -> str:
    text = "" if cell is None else str(cell)
    return f"'{text}" if HARMFUL.match(text) else text
