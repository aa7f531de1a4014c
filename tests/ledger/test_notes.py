"""Testers' notes in the ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.ledger import migrations
from agent.ledger.sqlite import SqliteLedger
from agent.review.notes import Note, NoteVerdict
from tests.ledger.test_sqlite import a_thread, at


@pytest.fixture
def ledger() -> Iterator[SqliteLedger]:
    found = SqliteLedger(":memory:")
    yield found
    found.shut()


def a_note(thread_id: str = "t-1", verdict: NoteVerdict = NoteVerdict.FAIL, minute: int = 0) -> Note:
    return Note(thread_id, verdict, "wrong \u202eBob ü", "https://tracker.example/1", "ana", at(minute))


def put(ledger: SqliteLedger, *notes: Note) -> None:
    with ledger.write() as tx:
        for note in notes:
            tx.add_note(note)


def test_notes_are_read_as_they_were_written_and_in_order(ledger: SqliteLedger) -> None:
    first, second = a_note(), a_note(verdict=NoteVerdict.PASS, minute=1)
    put(ledger, first, second, a_note("t-2"))
    assert ledger.notes("t-1") == [first, second]


def test_the_last_verdict_is_the_threads(ledger: SqliteLedger) -> None:
    with ledger.write() as tx:
        for place, name in enumerate(("t-1", "t-2", "t-3")):
            tx.add_thread(a_thread(name, updated_at=at(place)))
    put(ledger, a_note("t-1"), a_note("t-2"), a_note("t-1", NoteVerdict.PASS, 1))
    assert ledger.verdicts(["t-1", "t-2", "t-3"]) == {"t-1": NoteVerdict.PASS, "t-2": NoteVerdict.FAIL}
    named = {
        verdict: [one.thread_id for one in ledger.threads_noted(verdict)] for verdict in (None, *NoteVerdict)
    }
    assert named == {
        None: ["t-3"],
        NoteVerdict.PASS: ["t-1"],
        NoteVerdict.FAIL: ["t-2"],
        NoteVerdict.UNSURE: [],
    }


def test_a_file_from_before_there_were_notes_takes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.sqlite"
    conn = sqlite3.connect(path, isolation_level=None)
    older = migrations.MIGRATIONS[: migrations.MIGRATIONS.index(migrations.NOTES)]
    with monkeypatch.context() as before:
        before.setattr(migrations, "MIGRATIONS", older)
        migrations.migrate(conn)
    conn.close()
    ledger = SqliteLedger(path)
    put(ledger, a_note())
    assert ledger.notes("t-1") == [a_note()]
    ledger.shut()
