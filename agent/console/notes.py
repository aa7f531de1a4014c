"""Testers' notes on threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.console.checks import known
from agent.console.writes import Entry
from agent.ports import Clock, Ledger
from agent.review.facts import ThreadNotedFact
from agent.review.notes import Note, NoteVerdict, checked
from agent.review.threads import Thread


class Notes:
    """Testers' notes on threads. They do not affect what can be done with a thread."""

    def __init__(self, *, ledger: Ledger, clock: Clock) -> None:
        self._ledger, self._clock = ledger, clock

    def add(self, thread_id: str, *, by: str, verdict: str, text: str = "", link: str = "") -> Note:
        """Add a note to a thread, and record it. Raises `InvalidNote` and `UnknownThread`."""
        kind, words, address = checked(verdict, text, link)
        with self._ledger.write() as tx:
            entry = Entry(tx, known(tx, thread_id), by, self._clock())
            made = Note(thread_id, kind, words, address, by, entry.now)
            tx.add_note(made)
            entry.note(ThreadNotedFact(verdict=str(kind), text=words, link=address))
        return made

    def of(self, thread_id: str) -> list[Note]:
        """Return the thread's notes, in the order they were made."""
        return self._ledger.notes(thread_id)

    def verdicts(self, thread_ids: Sequence[str]) -> Mapping[str, NoteVerdict]:
        """Return the last verdict on each of these threads that has one."""
        return self._ledger.verdicts(thread_ids)

    def threads(self, verdict: NoteVerdict | None, limit: int = 50) -> list[Thread]:
        """Return the threads whose last verdict is this one; for None, those without a verdict."""
        return self._ledger.threads_noted(verdict, limit=limit)
