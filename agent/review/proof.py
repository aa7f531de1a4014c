"""The proof of one action: proposed → shown → decided → executed → result, and where it does not add up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agent.review.events import Event, EventKind
from agent.review.external import NOT_GATED

ENDS = (
    EventKind.EXECUTION_FINISHED,
    EventKind.EXECUTION_FAILED,
    EventKind.EXECUTION_SUSPENDED,
    EventKind.OUTCOME_UNKNOWN,
)


@dataclass(frozen=True)
class Proof:
    """The events of one action in order, and every way in which they contradict each other."""

    events: tuple[Event, ...]
    faults: tuple[str, ...]


def proofs(events: Iterable[Event]) -> list[Proof]:
    """Return the proof of each action proposed under one call id in one thread, in the order of their proposals.

    `events` are the thread's, in order: those of the call id, and those of its reviews that name no call.
    """
    groups: list[list[Event]] = []
    for event in events:
        if event.kind is EventKind.ACTION_PROPOSED:
            groups.append([])
        if groups:
            _group_of(event, groups).append(event)
    return [
        Proof(tuple(group), tuple(fault for check in CHECKS for fault in check(group))) for group in groups
    ]


def _group_of(event: Event, groups: Sequence[list[Event]]) -> list[Event]:
    """Return the attempt an event belongs to: the last one, or an earlier, suspended one that now continues."""
    if event.kind in (EventKind.EXECUTION_STARTED, *ENDS) and event.digest not in {
        e.digest for e in groups[-1]
    }:
        for earlier in groups[:-1]:
            if event.digest in {one.digest for one in _of(earlier, EventKind.EXECUTION_SUSPENDED)}:
                return earlier
    return groups[-1]


def _of(events: Sequence[Event], *kinds: EventKind) -> list[Event]:
    return [event for event in events if event.kind in kinds]


def _data(event: Event) -> dict[str, Any]:
    return event.data or {}


def _may_allow(decision: Event) -> bool:
    """Return whether the decision lets the action run; True as well if its data was erased and nobody can tell."""
    return decision.data is None or decision.data.get("after") is not None


def _ran_as_decided(events: Sequence[Event]) -> list[str]:
    """Report every run of something other than what was decided, or than what the policy let run as proposed."""
    proposed = events[0]
    decided = [event for event in _of(events, EventKind.DECISION_MADE) if _may_allow(event)]
    allowed = decided[-1] if decided else proposed
    args = _data(allowed).get("after" if decided else "args")
    found = []
    for started in _of(events, EventKind.EXECUTION_STARTED):
        erased = (
            started.data is None or allowed.data is None
        )  # the fields that erasure leaves are compared anyway
        if (not erased and _data(started).get("args") != args) or started.tool != (
            _data(allowed).get("tool") or allowed.tool
        ):
            found.append(f"What ran (event {started.seq}) is not what was allowed (event {allowed.seq}).")
        elif started.digest != allowed.digest:
            found.append(f"The digest of what ran (event {started.seq}) is not that of event {allowed.seq}.")
    return found


def _ran_with_leave(events: Sequence[Event]) -> list[str]:
    """Report every run that no person's decision or rule had allowed, of an action that is asked about."""
    if events[0].data is None or events[0].data.get("tier") in ("auto", "log", NOT_GATED):
        return []
    approved = [
        event.seq
        for event in _of(events, EventKind.DECISION_MADE, EventKind.RULE_APPLIED)
        if event.kind is EventKind.RULE_APPLIED or _may_allow(event)
    ]
    return [
        f"It ran (event {started.seq}) without a person's approval or rule before."
        for started in _of(events, EventKind.EXECUTION_STARTED)
        if not approved or approved[0] > started.seq
    ]


def _ran_once(events: Sequence[Event]) -> list[str]:
    """Report a second start. A tool that was suspended to ask is entered again on purpose."""
    started = _of(events, EventKind.EXECUTION_STARTED)
    asked = _of(events, EventKind.EXECUTION_SUSPENDED)
    return ["It was started more than once."] if len(started) > 1 + len(asked) else []


def _ended_after_it_started(events: Sequence[Event]) -> list[str]:
    started = _of(events, EventKind.EXECUTION_STARTED)
    return [
        f"It ended (event {ended.seq}) without having started."
        for ended in _of(events, *ENDS)
        if not started or started[0].seq > ended.seq
    ]


CHECKS: tuple[Callable[[Sequence[Event]], list[str]], ...] = (
    _ran_as_decided,
    _ran_with_leave,
    _ran_once,
    _ended_after_it_started,
)
