"""Taking a record under its key: once for each record, and never under another key than its own."""

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
"""What is made with the key so that it says which other key, or which key, without giving either away."""


def take_in(ledger: SqliteLedger, anchors: Anchors, keys: RecordKeys, old_key: Path, clock: Clock) -> bytes:
    """Have the record keyed from here on, if it is not yet, and give the key of its digests.

    A record begun by a console that kept the digests' key in `old_key` goes on with that one, so that what waits can
    still be decided; the event `ChainKeyedFact` vouches for it. Raises `SettingsError` if the key is not the record's.
    """
    if ledger.head() is None:
        _begin(ledger, anchors, keys, clock)
        return keys.digest
    seen = list(_witnesses(ledger))
    keyed = _keyed(ledger)  # after what was seen: another process may have keyed the record meanwhile
    fits = any(_sealed(event, previous, keys.chain) for event, previous in seen)
    if keyed is None and not fits and any(_sealed(event, previous, None) for event, previous in seen):
        keyed, fits = _append(ledger, anchors, keys, old_key, clock), True
    # One event that the key has sealed is enough: which of the others were changed is for `verify` to say.
    if seen and not fits:
        raise _not_its_key(keys)
    return (_old_digest_key(keyed, keys, old_key) if keyed else None) or keys.digest


def _keyed(ledger: SqliteLedger) -> Event | None:
    """The event that tells from where the record is keyed, if one does."""
    found = next(iter(ledger.events(kind=EventKind.CHAIN_KEYED, limit=1)), None)
    if found is not None and found.kind is EventKind.UNREADABLE:
        raise LedgerUnavailable(f"event {found.seq}, {EventKind.CHAIN_KEYED}, was changed past the console")
    return found


def _begin(ledger: SqliteLedger, anchors: Anchors, keys: RecordKeys, clock: Clock) -> None:
    """Note outside that the record is keyed from its first event on, and have all who write to it use one key."""
    mark = hmac.digest(keys.chain, NAME, "sha256").hex()
    if ledger.mark_key(mark) != mark:
        raise _not_its_key(keys)
    if not anchors.read():
        anchors.append(Anchor(0, GENESIS, instant(clock()), keyed=1))


def _append(ledger: SqliteLedger, anchors: Anchors, keys: RecordKeys, old_key: Path, clock: Clock) -> Event:
    """Key the record from the next event on, and note outside from where."""
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
            f"{keys.file}: it is not the key of this record; name the file of the key it was kept with as REVIEW_KEY. "
            "Where the data folder was moved or copied, that lies where the folder's anchors were"
        ]
    )


def _witnesses(ledger: SqliteLedger) -> Iterator[tuple[Event, str]]:
    """The first event, the one that tells of the key, and the last, each with the hash before it."""
    head, keyed = ledger.head(), _keyed(ledger)
    for seq in {1, keyed.seq if keyed else 1, head.count if head else 1}:
        try:
            event, before = ledger.event(seq), ledger.event(seq - 1)
        except (LedgerUnavailable, ValueError, RecursionError):  # damaged: another may be whole
            continue
        if event is not None:
            yield event, before.hash if before else GENESIS


def _sealed(event: Event, previous: str, key: bytes | None) -> bool:
    try:
        return is_sealed(event, previous, key)
    except (TypeError, ValueError):
        return False


def _old_digest_key(keyed: Event, keys: RecordKeys, old_key: Path) -> bytes | None:
    """The digests' key that the event vouches for; None if it names none."""
    marked = (keyed.data or {}).get("digest_key")
    if marked is None:
        return None
    found = read_key(old_key)
    if not hmac.compare_digest(_mark(keys, found), str(marked)):
        raise SettingsError([f"{old_key}: it is not the one this record began with; put it back from a copy"])
    return found


def _mark(keys: RecordKeys, old: bytes) -> str:
    return hmac.digest(keys.chain, MARK + old, "sha256").hex()
