"""What a turn asks of its own thread costs the same however much of the thread is over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.ledger import migrations, rows
from agent.ledger.sqlite import SqliteLedger
from agent.review.actions import ActionState, Key, ReviewState
from tests.ledger.test_sqlite import AT, AT_THE_DOOR, a_review, open_reviews

FEW, MANY = 3, 300
READS: dict[str, Callable[[SqliteLedger, str], object]] = {
    "actions in a state": lambda ledger, thread: ledger.actions(thread, states=[ActionState.PENDING]),
    "actions in a state where none is": lambda ledger, thread: ledger.actions(
        thread, states=[ActionState.UNKNOWN]
    ),
    "open reviews": lambda ledger, thread: ledger.open_reviews(thread),
    "the last review": lambda ledger, thread: ledger.last_review(thread),
}


def fill(ledger: SqliteLedger, thread_id: str, over: int) -> None:
    """Reviews that were closed on one thread, and one that waits."""
    for number in range(over):
        name = f"{thread_id}-{number}"
        key = Key(thread_id, name, name)
        open_reviews(ledger, a_review(name, thread_id), key=key)
        with ledger.write() as tx:
            tx.move(key, ActionState.PENDING, ActionState.CANCELLED, ended_at=AT)
            tx.end_review(name, ReviewState.CLOSED, AT, "ana", "closed")
    open_reviews(ledger, a_review(f"{thread_id}-last", thread_id, opened_at="2031"))


def steps(ledger: SqliteLedger, read: Callable[[SqliteLedger, str], object], thread_id: str) -> int:
    """How many instructions of its own SQLite needs for it."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    with ledger._lent() as conn:
        conn.set_progress_handler(count, 1)
    read(ledger, thread_id)
    with ledger._lent() as conn:
        conn.set_progress_handler(None, 1)
    return counted


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> SqliteLedger:
    ledger = SqliteLedger(tmp_path_factory.mktemp("under-way") / "ledger.sqlite")
    fill(ledger, "short", FEW)
    fill(ledger, "long", MANY)
    return ledger


@pytest.mark.parametrize("name", READS)
def test_what_is_over_costs_the_next_turn_nothing(filled: SqliteLedger, name: str) -> None:
    of_few, of_many = (steps(filled, READS[name], thread) for thread in ("short", "long"))
    assert 0 < of_many <= of_few + 5


def test_actions_in_some_states_come_in_the_order_in_which_they_were_proposed(filled: SqliteLedger) -> None:
    names = [
        action.key.tool_call_id
        for action in filled.actions("short", states=[ActionState.PENDING, ActionState.CANCELLED])
    ]
    assert names == ["short-0", "short-1", "short-2", "short-last"]


def test_an_older_ledger_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, step = tmp_path / "ledger.sqlite", migrations.MIGRATIONS.index(migrations.UNDER_WAY)
    with monkeypatch.context() as older:
        older.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:step])
        older.setattr(rows, "ACTION_COLUMNS", tuple(n for n in rows.ACTION_COLUMNS if n not in AT_THE_DOOR))
        ledger = SqliteLedger(path)
        fill(ledger, "long", FEW)
        ledger.shut()
    ledger = SqliteLedger(path)
    (review,) = ledger.open_reviews("long")
    assert list(review.actions) == ledger.actions("long", states=[ActionState.PENDING])
    ledger.shut()
