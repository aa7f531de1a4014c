"""Verify that an audit trail is complete and unchanged, or report its first fault."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agent.review.events import (
    GENESIS,
    Anchor,
    Event,
    EventKind,
    MaskedEvent,
    OddEvent,
    commitment,
    is_sealed,
    masked_seal,
)
from agent.review.text.counts import counted


@dataclass(frozen=True)
class Verification:
    """What `verify` found."""

    ok: bool
    """Everything was checked, and nothing is wrong."""
    count: int
    head: str
    """The last event's hash, which an anchor records."""
    first_fault: str | None
    masked: int
    """How many events have had their data masked or erased; the chain vouches for the rest of each."""
    unkeyed: int = 0
    """How many events, the first ones, have no keyed hash: they are proved unchanged only since the key was made."""
    unchecked: int = 0
    """How many events hold something that needs the key to be checked, if no key was given."""


def verify(
    events: Iterable[Event], anchors: Iterable[Anchor] = (), *, key: bytes | None, whole: bool = True
) -> Verification:
    """Check that these are all the events since the first, in order and unchanged, under the key of their chain.

    The events are read once and none is kept. A cut tail is found as far as the anchors reach. Data may be missing if
    an event of erasure says so, or masked under the key's seal. Events before `ChainKeyed` are checked without the
    key; if a `whole` record is expected, some event has to be keyed. If the key is None, only what needs no key is
    checked, and the rest is counted.
    """
    chain = _Chain(key, anchors)
    try:
        for event in events:
            chain.follow(event)
    except OddEvent as odd:
        chain.stop(odd)
    return chain.end(whole)


class _Chain:
    """The chain as far as it was followed, and its first fault."""

    def __init__(self, key: bytes | None, anchors: Iterable[Anchor]) -> None:
        self._key = key
        self._noted: dict[int, list[Anchor]] = {}
        self._keyed_when: Anchor | None = None
        for anchor in anchors:
            self._noted.setdefault(anchor.count, []).append(anchor)
            self._keyed_when = self._keyed_when or (anchor if anchor.keyed is not None else None)
        self._count, self._head = 0, GENESIS
        self._masked = self._unkeyed = self._unchecked = 0
        self._keyed_from: int | None = None
        self._blanked: set[int] = set()
        self._fault = self._anchor_fault()

    def follow(self, event: Event) -> None:
        """Check the next event."""
        previous, self._head = self._head, event.hash
        self._count += 1
        if self._keyed_from is None and self._begins_keyed(event, previous):
            self._keyed_from = self._count
        self._unkeyed += self._keyed_from is None
        self._fault = self._fault or self._wrong(event, previous)
        if self._count in self._noted:
            self._fault = self._fault or self._anchor_fault()
        if event.data is None or event.kind is EventKind.DATA_ERASED:
            self._follow_data(event)

    def stop(self, odd: OddEvent) -> None:
        """Stop before the next event, which is not one that a console wrote."""
        self._fault = (
            self._fault or f"Event {self._count + 1} was edited: it holds what no event can ({odd})."
        )

    def end(self, whole: bool) -> Verification:
        """Return what was found in all events."""
        fault = self._fault or self._blanked_fault() or self._cut_fault() or self._unkeyed_fault(whole)
        well = fault is None and not self._unchecked
        found = (self._count, self._head, fault, self._masked, self._unkeyed, self._unchecked)
        return Verification(well, *found)

    def _begins_keyed(self, event: Event, previous: str) -> bool:
        """Return whether the event is the first that has to have a keyed hash."""
        if event.kind is EventKind.CHAIN_KEYED:
            return True
        return self._count == 1 and not _holds(event, previous, None)

    def _wrong(self, event: Event, previous: str) -> str | None:
        """Return what is wrong with the event that was followed last, or None."""
        number = self._count
        if event.seq != number:
            return _order_fault(event.seq, number)
        keyed = self._keyed_from is not None
        try:
            if event.data is not None and commitment(event.salt, event.data) != event.commitment:
                return f"Event {number} was edited: its data does not match its commitment."
            if keyed and self._key is None:
                self._unchecked += 1
            elif not is_sealed(event, previous, self._key if keyed else None):
                return (
                    f"Event {number} was edited, or the one before it was replaced: its hash does not match."
                )
            return self._masked_wrong(event, counted=keyed) if isinstance(event, MaskedEvent) else None
        except (TypeError, ValueError) as odd:
            return f"Event {number} was edited: it holds what no event can ({odd})."

    def _masked_wrong(self, event: MaskedEvent, *, counted: bool) -> str | None:
        if self._key is None:
            self._unchecked += not counted
        elif masked_seal(self._key, event, event.masked_data) != event.masked_seal:
            return f"Event {self._count} was edited: its masked data is not what its console exported."
        return None

    def _follow_data(self, event: Event) -> None:
        """Count what is masked, and note what is missing until an event of erasure accounts for it."""
        if event.data is None:
            self._masked += 1
            if not isinstance(event, MaskedEvent):
                self._blanked.add(self._count)
        elif event.kind is EventKind.DATA_ERASED and isinstance(event.data.get("seqs"), list):
            self._blanked -= {seq for seq in event.data["seqs"] if isinstance(seq, int)}

    def _anchor_fault(self) -> str | None:
        for anchor in self._noted.get(self._count, ()):
            if anchor.head != self._head:
                return (
                    f"Event {anchor.count} is not the one that was anchored at {anchor.at}: "
                    "the chain up to it was written again."
                )
        return None

    def _blanked_fault(self) -> str | None:
        if not self._blanked:
            return None
        return f"Event {min(self._blanked)} was edited: its data is gone, and no event says who erased it, when and why."

    def _cut_fault(self) -> str | None:
        longest = max(self._noted, default=0)
        if longest <= self._count:
            return None
        at = self._noted[longest][0].at
        return f"Event {self._count + 1} is missing: the tail was cut, for at {at} there {'was' if longest == 1 else 'were'} {counted(longest, 'event')}."

    def _unkeyed_fault(self, whole: bool) -> str | None:
        """Return what is wrong with the place from which the chain is keyed, or None."""
        when, found = self._keyed_when, self._keyed_from
        if when is not None and self._count and found != when.keyed:
            first = min(one for one in (when.keyed, found) if one is not None)
            return (
                f"Event {first} was replaced: at {when.at} the chain was keyed from event {when.keyed} on, "
                f"and now it is keyed from {found or 'none'} on."
            )
        if whole and self._key is not None and self._count and found is None:
            return (
                "Event 1 was replaced, or the one that tells of the key is missing: no event here is keyed."
            )
        return None


def _holds(event: Event, previous: str, key: bytes | None) -> bool:
    try:
        return is_sealed(event, previous, key)
    except (TypeError, ValueError):
        return False


def _order_fault(found: int, expected: int) -> str:
    if found > expected:
        return f"Event {expected} is missing or out of order: event {found} is in its place."
    return f"Event {found} is where event {expected} should be: it is repeated or out of order."
