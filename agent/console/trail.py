"""The audit trail: read, filter, prove, verify, export and erase it, and note its head outside the ledger."""

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
    """Filters, order and limit of events, as `agent.ports.Reads.events` takes them."""

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
    """The use cases about the trail: all events, in one chain."""

    def __init__(self, *, ledger: Ledger, anchors: Anchors, clock: Clock) -> None:
        self._ledger, self._anchors, self._clock = ledger, anchors, clock
        self._anchored = Anchor(0, "", "")
        self._anchoring = threading.Lock()

    def events(self, **narrowed: Unpack[Narrowed]) -> list[Event]:
        """Return the events that match, in order or newest first, at most `limit` of them."""
        return self._ledger.events(**narrowed)

    def last_traceback(self, thread_id: str) -> str:
        """Return where in its agent's code the thread's last run failed; "" where that is not known."""
        failed = self._ledger.events(
            thread_id=thread_id, kind=EventKind.RUN_FAILED, newest_first=True, limit=1
        )
        return str((failed[0].data or {}).get("traceback", "")) if failed else ""

    def whole(self) -> Iterator[Event]:
        """Yield every event in order, reading a page at a time."""
        return self._ledger.trail(exact=False)

    def head(self) -> Anchor | None:
        """Return the trail's last number and hash, to be noted elsewhere; None before the first event."""
        return self._ledger.head()

    def verify(self, exported: Iterable[Event] | None = None, *, kept: Iterable[Anchor] = ()) -> Verification:
        """Check the chain of the complete trail, or of an exported one, against itself and against all anchors.

        `kept` are anchors that were kept elsewhere.
        """
        trail = self._ledger.trail() if exported is None else exported
        return verify(trail, [*self._anchors.read(), *kept], key=self._ledger.chain_key)

    def exported(self, *, values: bool = False) -> Iterator[str]:
        """Yield the complete trail as lines that can be verified again. Secrets are masked unless `values` is true."""
        return as_json_lines(self._ledger.trail(exact=False), self._ledger.chain_key, values=values)

    def proof(self, action: Action) -> Proof:
        """Return what the record says about this action, from proposal to result, and where it contradicts itself."""
        thread_id, call_id = action.key.thread_id, action.key.tool_call_id
        found = self._proofs(thread_id, call_id)
        under_this_id = [
            one.key for one in self._ledger.actions(thread_id) if one.key.tool_call_id == call_id
        ]
        return found[under_this_id.index(action.key)]

    def contradictions(self, thread_id: str, tool_call_id: str) -> tuple[str, ...]:
        """Return where the record of all actions under this call id contradicts itself; empty if it is consistent."""
        return tuple(fault for one in self._proofs(thread_id, tool_call_id) for fault in one.faults)

    def _proofs(self, thread_id: str, tool_call_id: str) -> list[Proof]:
        return proofs(self._ledger.events(thread_id=thread_id, tool_call_id=tool_call_id, limit=10_000))

    def anchor(self) -> None:
        """Note the trail's head, with all that was committed before this call, outside the ledger.

        Of several concurrent callers, one notes the head for all. Raises `AnchorsUnavailable`.
        """
        with self._anchoring:
            head = self._ledger.head()
            if head is not None and (head.count, head.head) != (self._anchored.count, self._anchored.head):
                self._anchors.append(replace(head, keyed=self._ledger.keyed_from()))
                self._anchored = head

    def erase(self, seqs: Sequence[int], *, by: str, why: str) -> None:
        """Erase the data of these events for good, and record who did it and why. Raises `ErasureRefused`."""
        erase(self._ledger, seqs, by=by, why=why, now=instant(self._clock()))
