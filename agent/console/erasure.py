"""Take data out of the record, which itself goes on record."""

from __future__ import annotations

from collections.abc import Sequence

from agent.ports import Ledger
from agent.review.errors import ErasureRefused
from agent.review.events import EventKind
from agent.review.facts import DataErasedFact, of_console
from agent.review.threads import check_words

KEPT = (EventKind.CHAIN_KEYED, EventKind.DATA_ERASED)
"""What says how the chain is to be read."""
AT_ONCE = 1_000


def erase(ledger: Ledger, seqs: Sequence[int], *, by: str, why: str, now: str) -> None:
    """Take the data out of these events for good, and put on record who did it and why.

    That they happened, when, and by whom, stays.
    Only the record's own events lose it: messages and actions of the thread, and its checkpoints, are not touched.
    Raises `ErasureRefused`.
    """
    check_words(why, "reason")
    if not why.strip():
        raise ErasureRefused("An erasure goes on record with its reason. Name one.")
    wanted = sorted(set(seqs))
    if not 0 < len(wanted) <= AT_ONCE:
        raise ErasureRefused(f"Name 1 to {AT_ONCE:,} events by their numbers.")
    with ledger.write() as tx:
        for seq in wanted:
            event = tx.event(seq)
            if event is None or event.data is None:
                raise ErasureRefused(f"There is no event {seq} that holds data. Check its number.")
            if event.kind in KEPT:
                raise ErasureRefused(f"Event {seq} says how the record is to be read. Leave it out.")
        tx.append(of_console(DataErasedFact(seqs=wanted, why=why), now, by))
        tx.erase(wanted)
    ledger.scrub()
