"""Testers' notes in the ledger, and the threads by their last verdict."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from agent.ledger import rows
from agent.ledger.statements import ReadStatements, Writes
from agent.review.notes import Note, NoteVerdict
from agent.review.threads import Thread

LAST = "SELECT max(note) FROM notes GROUP BY thread_id"


VERDICTS = frozenset(NoteVerdict)


def _verdict(row: sqlite3.Row) -> NoteVerdict:
    """Return the row's verdict; `UNSURE` if the console cannot have written it."""
    return NoteVerdict(row["verdict"]) if row["verdict"] in VERDICTS else NoteVerdict.UNSURE


class NoteReads(ReadStatements):
    """The reads of notes, given a way to run one statement."""

    def notes(self, thread_id: str) -> list[Note]:
        """Return the thread's notes, in the order they were made."""
        found = self._all(
            "SELECT thread_id, verdict, text, link, by, at FROM notes WHERE thread_id = ? ORDER BY note",
            thread_id,
        )
        return [Note(**{**dict(row), "verdict": _verdict(row)}) for row in found]

    def verdicts(self, thread_ids: Sequence[str]) -> Mapping[str, NoteVerdict]:
        """Return the last verdict on each of these threads that has one."""
        marks = ", ".join("?" * len(thread_ids))
        found = self._all(
            f"SELECT thread_id, verdict FROM notes WHERE thread_id IN ({marks}) ORDER BY note", *thread_ids
        )
        return {row["thread_id"]: _verdict(row) for row in found}

    def threads_noted(self, verdict: NoteVerdict | None, *, limit: int = 50) -> list[Thread]:
        """Return the threads whose last verdict is this one, or, for None, those without one; last changed first."""
        of_verdict = f"thread_id IN (SELECT thread_id FROM notes WHERE verdict = ? AND note IN ({LAST}))"
        of_none = "thread_id NOT IN (SELECT thread_id FROM notes)"
        where, values = (of_none, []) if verdict is None else (of_verdict, [verdict])
        found = self._all(
            f"SELECT * FROM threads WHERE {where} ORDER BY updated_at DESC LIMIT ?", *values, limit
        )
        return [rows.to_thread(row) for row in found]


class NoteWrites(Writes):
    """The writes of notes in a transaction."""

    def add_note(self, note: Note) -> None:
        self._did(
            "INSERT INTO notes (thread_id, verdict, text, link, by, at) VALUES (?, ?, ?, ?, ?, ?)",
            *(note.thread_id, note.verdict, note.text, note.link, note.by, note.at),
        )
