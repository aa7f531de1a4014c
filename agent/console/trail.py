"""The audit trail: read, narrowed, proved, verified, exported, and its head noted outside the ledger."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

from agent.console.erasure import erase
from agent.ports import Anchors, Clock, Ledger
from agent.review.actions import Action
from agent.review.events import Anchor, Event, EventKind, instant
from agent.review.exports import as_json_lines
from agent.review.proof import Proof, proofs
from agent.review.verify_chain import Verification, verify


class Narrowed(TypedDict, total=False):
    """What events are narrowed to, in which order, and how many: as `agent.ports.Reads.events` takes it."""

    thread_id: str | None
    kind: EventKind | None
    agent: str | None
    tool: str | None
    by: str | None
    tool_call_id: str | None
    since: str | None
    after: int
    before: int | None
    newest_first: bool
    limit: int


class Trail:
    """Every event there is, in one chain."""

    def __init__(self, *, ledger: Ledger, anchors: Anchors, clock: Clock) -> None:
        self._ledger, self._anchors, self._clock = ledger, anchors, clock
        self._anchored = Anchor(0, "", "")
        self._anchoring = threading.Lock()

    def events(self, **narrowed: Unpack[Narrowed]) -> list[Event]:
        """Events in order or newest first, at most `limit` of them."""
        return self._ledger.events(**narrowed)

    def whole(self) -> Iterator[Event]:
        """Every event in order, read a page at a time."""
        return self._ledger.trail(exact=False)

    def head(self) -> Anchor | None:
        """Where the trail ends now, to be noted elsewhere; None before the first event."""
        return self._ledger.head()

    def verify(self, exported: Iterable[Event] | None = None, *, kept: Iterable[Anchor] = ()) -> Verification:
        """Check the chain of the whole trail, or of an exported one, against itself, the anchors, and those `kept` elsewhere."""
        trail = self._ledger.trail() if exported is None else exported
        return verify(trail, [*self._anchors.read(), *kept], key=self._ledger.chain_key)

    def exported(self, *, values: bool = False) -> Iterator[str]:
        """The whole trail as lines that can be verified again, secrets masked unless `values` are asked for."""
        return as_json_lines(self._ledger.trail(exact=False), self._ledger.chain_key, values=values)

    def proof(self, action: Action) -> Proof:
        """What the record says of this action, from proposal to result, and where it contradicts itself."""
        thread_id, call_id = action.key.thread_id, action.key.tool_call_id
        found = self._proofs(thread_id, call_id)
        under_this_id = [
            one.key for one in self._ledger.actions(thread_id) if one.key.tool_call_id == call_id
        ]
        return found[under_this_id.index(action.key)]

    def contradictions(self, thread_id: str, tool_call_id: str) -> tuple[str, ...]:
        """Where the record of what went under this call id contradicts itself; nothing if all of it adds up."""
        return tuple(fault for one in self._proofs(thread_id, tool_call_id) for fault in one.faults)

    def _proofs(self, thread_id: str, tool_call_id: str) -> list[Proof]:
        return proofs(self._ledger.events(thread_id=thread_id, tool_call_id=tool_call_id, limit=10_000))

    def anchor(self) -> None:
        """Have all that was committed before this call noted outside the ledger. Raises `AnchorsUnavailable`.

        Of several that call at once, one notes the head for all.
        """
        with self._anchoring:
            head = self._ledger.head()
            if head is not None and (head.count, head.head) != (self._anchored.count, self._anchored.head):
                self._anchors.append(replace(head, keyed=self._ledger.keyed_from()))
                self._anchored = head

    def erase(self, seqs: Sequence[int], *, by: str, why: str) -> None:
        """Take the data out of these events for good, and put on record who did it and why. Raises `ErasureRefused`."""
        erase(self._ledger, seqs, by=by, why=why, now=instant(self._clock()))
