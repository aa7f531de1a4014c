"""Key a record: begin its keyed chain once, and refuse any key but its own afterwards."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from pathlib import Path

from agent.ledger.keys import RecordKeys, read_key
from agent.ledger.sqlite import SqliteLedger
from agent.ports import Anchors, Clock
from agent.review.errors import LedgerUnavailable, SettingsError
from agent.review.events import GENESIS, Anchor, Event, EventKind, instant, is_sealed
from agent.review.facts import ChainKeyedFact, of_console

MARK, NAME = b"the digests' own key", b"the key of this record"
"""Labels for the hashes that identify the digests' key, and this record's own key, without revealing them."""


def take_in(ledger: SqliteLedger, anchors: Anchors, keys: RecordKeys, old_key: Path, clock: Clock) -> bytes:
    """Key the record from here on, if it is not keyed yet, and return the key of its digests.

    A record begun by a console that kept the digests' key in `old_key` continues to use that one, so that waiting
    actions can still be decided; the event `ChainKeyed` identifies it. Raises `SettingsError` if the key is not the
    record's.
    """
    if ledger.head() is None:
        _begin(ledger, anchors, keys, clock)
        return keys.digest
    seen = list(_witnesses(ledger))
    keyed = _keyed(ledger)
    if keyed is not None:  # another process may have keyed the record after the witnesses were read
        seen = list(_witnesses(ledger))
    fits = any(_sealed(event, previous, keys.chain) for event, previous in seen)
    if keyed is None and not fits and any(_sealed(event, previous, None) for event, previous in seen):
        keyed, fits = _append(ledger, anchors, keys, old_key, clock), True
    # One event sealed with the key is enough: `verify` finds out which of the others were changed.
    if seen and not fits:
        raise _not_its_key(keys)
    return (_old_digest_key(keyed, keys, old_key) if keyed else None) or keys.digest


def _keyed(ledger: SqliteLedger) -> Event | None:
    """Return the event from which the record is keyed, if there is one."""
    found = next(iter(ledger.events(kind=EventKind.CHAIN_KEYED, limit=1)), None)
    if found is not None and found.kind is EventKind.UNREADABLE:
        raise LedgerUnavailable(f"event {found.seq}, {EventKind.CHAIN_KEYED}, was changed past the console")
    return found


def _begin(ledger: SqliteLedger, anchors: Anchors, keys: RecordKeys, clock: Clock) -> None:
    """Note in the anchors that the record is keyed from its first event, and hold all its writers to one key."""
    mark = hmac.digest(keys.chain, NAME, "sha256").hex()
    if ledger.mark_key(mark) != mark:
        raise _not_its_key(keys)
    if not anchors.read():
        anchors.append(Anchor(0, GENESIS, instant(clock()), keyed=1))


def _append(ledger: SqliteLedger, anchors: Anchors, keys: RecordKeys, old_key: Path, clock: Clock) -> Event:
    """Key the record from the next event on, and note in the anchors where that is."""
    mark = _mark(keys, read_key(old_key)) if old_key.exists() else None
    with ledger.write() as tx:
        before = tx.head()
        if before and not tx.events(
            kind=EventKind.CHAIN_KEYED, limit=1
        ):  # another process may have been quicker
            fact = ChainKeyedFact(count=before.count, head=before.head, digest_key=mark)
            tx.append(of_console(fact, instant(clock())))
    (keyed,) = ledger.events(kind=EventKind.CHAIN_KEYED, limit=1)
    anchors.append(Anchor(keyed.seq, keyed.hash, keyed.at, keyed=keyed.seq))
    return keyed


def _not_its_key(keys: RecordKeys) -> SettingsError:
    return SettingsError(
        [
            f"{keys.file}: it is not the key of this record; set REVIEW_KEY to the file with the record's own key. "
            "If the data folder was moved or copied, that file is next to the anchors of the original folder"
        ]
    )


def _witnesses(ledger: SqliteLedger) -> Iterator[tuple[Event, str]]:
    """Yield the first event, the one from which the record is keyed, and the last, each with the hash before it."""
    head, keyed = ledger.head(), _keyed(ledger)
    for seq in {1, keyed.seq if keyed else 1, head.count if head else 1}:
        try:
            event, before = ledger.event(seq), ledger.event(seq - 1)
        except (LedgerUnavailable, ValueError, RecursionError):  # damaged: another may be intact
            continue
        if event is not None:
            yield event, before.hash if before else GENESIS


def _sealed(event: Event, previous: str, key: bytes | None) -> bool:
    try:
        return is_sealed(event, previous, key)
    except (TypeError, ValueError):
        return False


def _old_digest_key(keyed: Event, keys: RecordKeys, old_key: Path) -> bytes | None:
    """Return the digests' key that the event identifies; None if it identifies none."""
    marked = (keyed.data or {}).get("digest_key")
    if marked is None:
        return None
    found = read_key(old_key)
    if not hmac.compare_digest(_mark(keys, found), str(marked)):
        raise SettingsError([f"{old_key}: it is not the one this record began with; put it back from a copy"])
    return found


def _mark(keys: RecordKeys, old: bytes) -> str:
    return hmac.digest(keys.chain, MARK + old, "sha256").hex()
