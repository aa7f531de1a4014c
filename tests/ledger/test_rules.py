"""Remembered rules as every ledger keeps them, and files from before there were any."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.ledger import migrations
from agent.ledger.sqlite import SqliteLedger
from agent.review.actions import ActionState, Key
from agent.review.events import EventKind
from agent.review.rules import Rule, RuleEnd
from agent.review.verify_chain import verify
from tests.ledger.test_sqlite import AT, a_fact, an_action, at


def a_rule(rule_id: str = "rule-1", **changes: Any) -> Rule:
    rule = Rule(
        rule_id=rule_id,
        agent="mail",
        tool="send_email",
        bound={"to": "ü✓", "n": 2**64 - 1, "x": [1.0, None, {"a": True}]},
        free=("body", "subject"),
        thread_id=None,
        schema_hash="5" * 64,
        made_from=Key("t-1", "m-1", "c1", 2),
        made_by="ana",
        made_at=AT,
        expires_at=at(15),
    )
    return replace(rule, **changes)


@pytest.fixture(params=["memory", "file"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteLedger]:
    found = SqliteLedger(":memory:" if request.param == "memory" else tmp_path / "ledger.sqlite")
    yield found
    found.shut()


def add(ledger: SqliteLedger, *rules: Rule) -> None:
    with ledger.write() as tx:
        for rule in rules:
            tx.add_rule(rule)


@pytest.mark.parametrize("thread_id", [None, "t-1"])
def test_a_rule_is_read_as_it_was_written(ledger: SqliteLedger, thread_id: str | None) -> None:
    rule = a_rule(thread_id=thread_id)
    add(ledger, rule)
    assert ledger.rule("rule-1") == rule
    assert ledger.rule("rule-2") is None


def test_uses_are_counted_while_it_stands(ledger: SqliteLedger) -> None:
    add(ledger, a_rule())
    with ledger.write() as tx:
        assert tx.count_use("rule-1", at(1))
        assert tx.count_use("rule-1", at(2))
        assert tx.end_rule("rule-1", RuleEnd.REVOKED, at(3), "bob")
        assert not tx.count_use("rule-1", at(4))
        assert not tx.count_use("no-rule", at(4))
    assert ledger.rule("rule-1") == a_rule(
        uses=2, last_used_at=at(2), ended=RuleEnd.REVOKED, ended_by="bob", ended_at=at(3)
    )


def test_a_rule_ends_once(ledger: SqliteLedger) -> None:
    add(ledger, a_rule())
    with ledger.write() as tx:
        assert tx.end_rule("rule-1", RuleEnd.EXPIRED, at(15), "nobody")
        assert not tx.end_rule("rule-1", RuleEnd.REVOKED, at(16), "bob")
    found = ledger.rule("rule-1")
    assert found is not None
    assert (found.ended, found.ended_by) == (RuleEnd.EXPIRED, "nobody")


def test_standing_rules_come_in_the_order_they_were_made_and_listed_ones_the_other_way(
    ledger: SqliteLedger,
) -> None:
    add(ledger, a_rule("a"), a_rule("b", agent="ops"), a_rule("c"), a_rule("d"))
    with ledger.write() as tx:
        tx.end_rule("d", RuleEnd.REVOKED, at(1), "ana")
    assert [rule.rule_id for rule in ledger.standing_rules("mail")] == ["a", "c"]
    assert [rule.rule_id for rule in ledger.standing_rules()] == ["a", "b", "c"]
    assert [rule.rule_id for rule in ledger.rules()] == ["c", "b", "a", "d"]
    assert [rule.rule_id for rule in ledger.rules(agent="mail", limit=2)] == ["c", "a"]


def test_what_a_rule_approved_is_found_by_its_state(ledger: SqliteLedger) -> None:
    with ledger.write() as tx:
        tx.propose(an_action("c1", state=ActionState.APPROVED, rule_id="rule-1"))
        tx.propose(an_action("c2", state=ActionState.DONE, rule_id="rule-1"))
        tx.propose(an_action("c3", state=ActionState.APPROVED, rule_id="rule-2"))
        tx.propose(an_action("c4", state=ActionState.APPROVED))
    found = ledger.actions_by_rule("rule-1", state=ActionState.APPROVED)
    assert found == [an_action("c1", state=ActionState.APPROVED, rule_id="rule-1")]


def test_a_file_from_before_there_were_rules_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.sqlite"
    conn = sqlite3.connect(path, isolation_level=None)
    with monkeypatch.context() as before:
        before.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:1])
        migrations.migrate(conn)
    old = [name for name in _columns(conn) if name != "rule_id"]
    newest = SqliteLedger(":memory:", chain_key=b"k" * 32)
    with newest.write() as tx:
        tx.propose(an_action())
        tx.append(a_fact(tool="send_email"))
    _copy(newest, conn, "actions", old)
    _copy(newest, conn, "events", [])
    conn.close()
    newest.shut()

    ledger = SqliteLedger(path, chain_key=b"k" * 32)
    assert ledger.actions("t-1") == [an_action()]
    assert ledger.events(tool="send_email", kind=EventKind.MESSAGE_SENT) == ledger.events()
    assert verify(ledger.trail(), key=ledger.chain_key).ok
    add(ledger, a_rule())
    assert ledger.standing_rules() == [a_rule()]
    ledger.shut()


def _columns(conn: sqlite3.Connection) -> list[str]:
    return [row[1] for row in conn.execute("PRAGMA table_info(actions)")]


def _copy(source: SqliteLedger, target: sqlite3.Connection, table: str, columns: list[str]) -> None:
    """Write the rows of a new ledger into an old file, as far as it has a place for them."""
    what = ", ".join(columns) or "*"
    for row in source._all(f"SELECT {what} FROM {table}"):
        marks = ", ".join("?" * len(row))
        target.execute(f"INSERT INTO {table} {f'({what})' if columns else ''} VALUES ({marks})", tuple(row))
