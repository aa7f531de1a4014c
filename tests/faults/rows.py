"""Somebody with access to the ledger's file changes one column of a row: nothing runs that no card has shown."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.ledger.sqlite import SqliteLedger
from agent.review.actions import ReviewState, State

OTHER_ARGS = {"to": "mallory", "amount": 999}
DECIDED = {"type": "edit", "edited_action": {"name": "pay", "args": OTHER_ARGS}}
LATE, EARLY = "2999-01-01T00:00:00.000000Z", "1999-01-01T00:00:00.000000Z"
TIMES = ("opened_at", "expires_at", "execute_by", "decided_at", "started_at", "ended_at")
OTHERS: dict[str, list[Any]] = {
    "args": [json.dumps(OTHER_ARGS), "{}", "null", "[]", "no JSON", '{"amount": NaN}', "[" * 100_000],
    "proposed": [json.dumps(OTHER_ARGS), "null", "no JSON"],
    "tool": ["lend", "nothing"],
    "proposed_tool": ["lend", "nothing"],
    "allowed": ['["approve"]', "[]", '["respond"]', "{}", "no JSON"],
    "notes": ['{"same_tool": true}', '{"description": 7}', "[]", "no JSON"],
    "decision": ['{"type": "approve"}', "[]", "no JSON"],
    "tier": ["auto", "deny", "another"],
    "agent": ["mail", "nobody"],
    "delivery": [
        "{}",
        "[]",
        "no JSON",
        '{"kind": "continue"}',
        '{"kind": "ask_again"}',
        '{"kind": "catch_up"}',
        json.dumps({"kind": "mend", "results": []}),
        json.dumps({"kind": "send", "message_id": "m", "text": "/say hello"}),
        json.dumps({"kind": "resume", "review_id": "another", "decisions": [{"type": "approve"}]}),
    ],
    **{name: [LATE, EARLY, "no time"] for name in TIMES},
}
"""Values for the columns that mean something; any other column gets some other value of its type."""
OF_A_STATE = {"actions": [*State], "reviews": [*ReviewState], "runs": ["open", "paused", "failed"]}
OF_A_TYPE: dict[str, Any] = {"TEXT": "another", "INTEGER": 7, "REAL": 1.0}


@dataclass(frozen=True)
class Edit:
    """One value put into one column of a thread's row."""

    table: str
    column: str
    value: Any

    def __str__(self) -> str:
        return f"{self.table}.{self.column} = {str(self.value)[:40]}"

    def make(self, ledger: Path, thread_id: str) -> None:
        """Do it, with a connection of its own, as somebody with access to the file can."""
        value = self.value
        if value == "another":  # it may have to be the only one of its name
            value = f"another-{thread_id}"
        elif self.column == "delivery":
            value = _with_the_review(str(value), ledger, thread_id)
        which = "thread_id = ?" + (" AND state = 'open'" if self.table == "runs" else "")
        with closing(sqlite3.connect(ledger, timeout=30)) as conn, conn:
            conn.execute(f"UPDATE {self.table} SET {self.column} = ? WHERE {which}", (value, thread_id))


def edits(*tables: str) -> Iterator[Edit]:
    """Every column of these tables with every value that is tried in it."""
    ledger = SqliteLedger(":memory:")
    for table in tables:
        for row in ledger._all(f"PRAGMA table_info({table})"):
            name = row["name"]
            values = [*OF_A_STATE[table], "nonsense"] if name == "state" else OTHERS.get(name)
            nothing = [] if row["notnull"] or row["pk"] else [None]
            for value in [*(values or [OF_A_TYPE[row["type"]]]), *nothing]:
                yield Edit(table, name, value)
    ledger.shut()


def decisions_in_a_delivery() -> Iterator[Edit]:
    """Other decisions than the person's, in what a run brings to its agent."""
    for decision in (DECIDED, {"type": "reject"}, {"type": "respond", "message": "yes"}, {"type": "approve"}):
        given = {"kind": "resume", "review_id": "the review", "decisions": [decision]}
        yield Edit("runs", "delivery", json.dumps(given))


def _with_the_review(delivery: str, ledger: Path, thread_id: str) -> str:
    with closing(sqlite3.connect(ledger, timeout=30)) as conn:
        found = conn.execute("SELECT review_id FROM reviews WHERE thread_id = ?", (thread_id,)).fetchone()
    return delivery.replace("the review", str(found[0]))
