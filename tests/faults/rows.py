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
from agent.review.actions import ActionState, ReviewState
from tests.conftest import until
from tests.faults import moments
from tests.faults.bench import PATIENCE, Bench, DoubleEffect, Fault, Server
from tests.faults.deaths import ended, restart
from tests.faults.person import APPROVE, ONE, Person

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
OF_A_STATE = {"actions": [*ActionState], "reviews": [*ReviewState], "runs": ["open", "paused", "failed"]}
OF_A_TYPE: dict[str, Any] = {"TEXT": "another", "INTEGER": 7, "REAL": 1.0, "BLOB": b"another"}


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


# Done to the real server


def while_waiting(bench: Bench) -> None:
    """A row of a waiting review is edited: what then runs is what every answer shows, and what is not shown is closed."""
    with bench.aside() as aside:
        server = aside.server()
        person = Person(aside, server, ONE)
        person.send()
        review = (person.rest() or {})["pending_review"]
        edit = bench.chance.choice(list(edits("actions", "reviews")))
        edit.make(aside.data / "ledger.sqlite", person.thread_id)
        shown = {("a", str(args.get("to"))) for args in _shown(server, person.thread_id)}
        reply = server.post(
            "review",
            thread_id=person.thread_id,
            review_id=review["review_id"],
            decisions=[{**APPROVE, "shown_digest": review["action_requests"][0]["shown_digest"]}],
        )
        _check(aside, edit, shown)
        if reply is not None and reply.body.get("code") == "RecordDamaged":
            closed = server.post("close", thread_id=person.thread_id, review_id=review["review_id"])
            if closed is None or not closed.taken:
                raise Fault(f"{edit}: the review cannot be closed: {closed}")
            _check(aside, edit, set())


def after_the_decision(bench: Bench) -> None:
    """The server dies before it delivers a decision, and a row is edited: what was approved runs, or nothing does."""
    with bench.aside() as aside:
        server = aside.server()
        server.order(moment=moments.RESUME)
        person = Person(aside, server, ONE)
        person.go()
        ended(server)
        edit = bench.chance.choice([*edits("actions", "reviews", "runs"), *decisions_in_a_delivery()])
        edit.make(aside.data / "ledger.sqlite", person.thread_id)
        restart(server)
        until(lambda: not _open_runs(aside), PATIENCE)
        _check(aside, edit, {("a", "a@x.org")})


def _shown(server: Server, thread_id: str) -> list[dict[str, Any]]:
    """The arguments of every call that an answer shows as waiting."""
    thread, queue = server.get(f"threads/{thread_id}"), server.get("reviews")
    if thread is None or queue is None or (thread.status, queue.status) != (200, 200):
        raise Fault(f"{thread_id} cannot be looked at: {thread}, {queue}")
    found = [*thread.body["pending_reviews"], *(one["pending_review"] for one in queue.body["reviews"])]
    return [one["args"] for review in found for one in review["action_requests"] if one["args"] is not None]


def _check(bench: Bench, edit: Edit, allowed: set[tuple[str, str]]) -> None:
    with closing(sqlite3.connect(bench.data / "world.sqlite", timeout=30)) as world:
        sent = world.execute("SELECT tool_call_id, recipient FROM outbox").fetchall()
    if len(sent) > 1 or not set(sent) <= allowed:
        raise DoubleEffect(f"{edit}: {sent} was sent, and {sorted(allowed)} was shown")


def _open_runs(bench: Bench) -> int:
    with closing(sqlite3.connect(bench.data / "ledger.sqlite", timeout=30)) as conn:
        (count,) = conn.execute("SELECT count(*) FROM runs WHERE state = 'open'").fetchone()
    return int(count)
