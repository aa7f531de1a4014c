"""Erase data from the record; the erasure is itself recorded."""

from __future__ import annotations

from collections.abc import Sequence

from agent.ports import Ledger
from agent.review.errors import ErasureRefused
from agent.review.events import EventKind
from agent.review.facts import DataErasedFact, of_console
from agent.review.threads import check_words

KEPT = (EventKind.CHAIN_KEYED, EventKind.DATA_ERASED)
"""Kinds of events that are needed to read the chain."""
AT_ONCE = 1_000


def erase(ledger: Ledger, seqs: Sequence[int], *, by: str, why: str, now: str) -> None:
    """Erase the data of these events for good, and record who did it and why.

    The record still says that they happened, when, and by whom. Only events lose their data: the thread's messages,
    actions and checkpoints keep theirs. Raises `ErasureRefused`.
    """
    check_words(why, "reason")
    if not why.strip():
        raise ErasureRefused("An erasure is recorded with its reason. Give one.")
    wanted = sorted(set(seqs))
    if not 0 < len(wanted) <= AT_ONCE:
        raise ErasureRefused(f"Name 1 to {AT_ONCE:,} events by their numbers.")
    with ledger.write() as tx:
        for seq in wanted:
            event = tx.event(seq)
            if event is None or event.data is None:
                raise ErasureRefused(f"There is no event {seq} that holds data. Check its number.")
            if event.kind in KEPT:
                raise ErasureRefused(f"Event {seq} is needed to read the record. Leave it out.")
        tx.append(of_console(DataErasedFact(seqs=wanted, why=why), now, by))
        tx.erase(wanted)
    ledger.scrub()
