"""What has happened, in the past tense, each event chained to the one before it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from agent.review.digest import canonical

GENESIS = "0" * 64
"""What stands for the hash before the first event."""


class Kind(StrEnum):
    """Everything that can stand in the trail. Kinds may be added; none ever changes its meaning."""

    THREAD_STARTED = "ThreadStarted"
    THREAD_ARCHIVED = "ThreadArchived"
    MESSAGE_SENT = "MessageSent"
    RUN_STARTED = "RunStarted"
    RUN_ENDED = "RunEnded"
    RUN_FAILED = "RunFailed"
    RUN_STOPPED = "RunStopped"

    ACTION_PROPOSED = "ActionProposed"
    ACTION_REFUSED = "ActionRefused"
    REVIEW_OPENED = "ReviewOpened"
    REVIEW_SHOWN = "ReviewShown"
    DECISION_MADE = "DecisionMade"
    DECISION_REFUSED = "DecisionRefused"  # an attempt that came too late or on something else
    REVIEW_CLOSED = "ReviewClosed"
    REVIEW_EXPIRED = "ReviewExpired"
    REVIEW_SUPERSEDED = "ReviewSuperseded"
    THREAD_STUCK = "ThreadStuck"  # another client gave an answer that its agent cannot take

    EXECUTION_STARTED = "ExecutionStarted"
    EXECUTION_FINISHED = "ExecutionFinished"
    EXECUTION_FAILED = "ExecutionFailed"
    EXECUTION_SUSPENDED = "ExecutionSuspended"
    EXECUTION_BLOCKED = "ExecutionBlocked"
    ACTION_LAPSED = "ActionLapsed"
    ACTION_WITHDRAWN = "ActionWithdrawn"
    OUTCOME_UNKNOWN = "OutcomeUnknown"
    OUTCOME_SETTLED = "OutcomeSettled"

    ACTION_LOOKED_OVER = "ActionLookedOver"
    THREAD_NOTED = "ThreadNoted"
    ALL_STOPPED = "AllStopped"
    ALL_RELEASED = "AllReleased"
    RULE_MADE = "RuleMade"
    RULE_APPLIED = "RuleApplied"
    RULE_REVOKED = "RuleRevoked"
    RULE_EXPIRED = "RuleExpired"
    POLICY_CHANGED = "PolicyChanged"


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What a rule wants recorded: an event that has no place in the chain yet."""

    kind: Kind
    at: str
    """A UTC instant as `instant` writes it."""
    thread_id: str | None = None
    agent: str | None = None
    by: str | None = None
    """The person, or the part of the console, that did it."""
    review_id: str | None = None
    tool_call_id: str | None = None
    tool: str | None = None
    digest: str | None = None
    data: dict[str, Any] = field(default_factory=dict)
    """What a stranger needs to understand the event alone."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line of the trail."""

    seq: int
    """Its place, counted from 1 without gaps."""
    at: str
    kind: Kind
    thread_id: str | None = None
    agent: str | None = None
    by: str | None = None
    review_id: str | None = None
    tool_call_id: str | None = None
    tool: str | None = None
    digest: str | None = None
    data: dict[str, Any] | None
    """None once it was erased; the chain still holds, by way of the commitment."""
    salt: str
    """Erased together with the data, lest a short value be guessed from the commitment."""
    commitment: str
    hash: str


@dataclass(frozen=True)
class Anchor:
    """How far the chain had come at an instant, noted outside the ledger."""

    count: int
    head: str
    at: str

    def __str__(self) -> str:
        """One line, to be printed and kept elsewhere; `kept_anchor` reads it."""
        return f"{self.count}:{self.head}:{self.at}"


@dataclass(frozen=True)
class Verification:
    """What `verify` found."""

    ok: bool
    count: int
    head: str
    """The last event's hash: what an anchor notes."""
    first_fault: str | None
    masked: int
    """How many events have had their data erased; the chain vouches for the rest of each."""


def kept_anchor(line: str) -> Anchor:
    """An anchor from the line it was printed as, whatever space came into it. Raises ValueError saying what is needed."""
    found = KEPT.fullmatch("".join(line.split()))
    if not found:
        raise ValueError(
            "This is no line to check against: one has a count, a hash of 64 digits and letters, and a time. Copy it whole."
        )
    return Anchor(int(found["count"]), found["head"], found["at"])


def instant(moment: datetime) -> str:
    """A moment in UTC to the microsecond, as `2025-01-31T09:05:00.000000Z`, so that text sorts as time does.

    Raises ValueError for a moment without a time zone.
    """
    if moment.utcoffset() is None:
        raise ValueError(f"{moment!r} has no time zone; make it an aware datetime")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def commitment(salt: str, data: Mapping[str, Any]) -> str:
    """What stands for an event's data in the chain, so that the data can be erased without breaking it."""
    return hashlib.sha256(salt.encode("utf-8") + canonical(dict(data))).hexdigest()


def event_hash(previous: str, event_fields: Mapping[str, Any]) -> str:
    """The hash that ties an event to the one before it.

    `event_fields` are those of the event but for salt and hash, with the commitment in the place of `data`;
    fields that are None count as absent.
    """
    present = {name: value for name, value in event_fields.items() if value is not None}
    return hashlib.sha256(previous.encode("ascii") + b"\n" + canonical(present)).hexdigest()


def seal(fact: Fact, *, seq: int, previous: str, salt: str) -> Event:
    """The fact as the next event of the chain. `salt` is to be random, and new for each event."""
    told = {name: getattr(fact, name) for name in _TOLD}
    committed = commitment(salt, fact.data)
    sealed = event_hash(previous, {"seq": seq, **told, "data": committed})
    return Event(seq=seq, **told, data=fact.data, salt=salt, commitment=committed, hash=sealed)


def verify(events: Iterable[Event], anchors: Iterable[Anchor] = ()) -> Verification:
    """Whether these are all the events since the first, in order and unchanged, and what is wrong first if not.

    The events are read once and none is kept. An event's data may be erased, and is then counted as masked. A tail
    that was cut, or a chain that was written anew, is found as far as the anchors reach.
    """
    noted: dict[int, list[Anchor]] = {}
    for anchor in anchors:
        noted.setdefault(anchor.count, []).append(anchor)
    count, head, masked = 0, GENESIS, 0
    fault = _anchor_fault(noted.get(0, ()), GENESIS)
    for event in events:
        count += 1
        masked += event.data is None
        fault = fault or _fault(event, count, head) or _anchor_fault(noted.get(count, ()), event.hash)
        head = event.hash
    fault = fault or _cut_fault(noted, count)
    return Verification(fault is None, count, head, fault, masked)


KEPT = re.compile(
    r"(?P<count>\d{1,18}):(?P<head>[0-9a-f]{64}):(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)", re.ASCII
)
_TOLD = ("at", "kind", "thread_id", "agent", "by", "review_id", "tool_call_id", "tool", "digest")


def _fault(event: Event, expected: int, previous: str) -> str | None:
    """What is wrong with an event that should be number `expected` and follow the hash `previous`."""
    if event.seq != expected:
        return _order_fault(event.seq, expected)
    fields = {"seq": event.seq, **{name: getattr(event, name) for name in _TOLD}, "data": event.commitment}
    try:
        if event.data is not None and commitment(event.salt, event.data) != event.commitment:
            return f"Event {expected} was edited: its data does not match its commitment."
        if event_hash(previous, fields) != event.hash:
            return f"Event {expected} was edited, or the one before it was replaced: its hash does not match."
    except (TypeError, ValueError) as odd:
        return f"Event {expected} was edited: it holds what no event can ({odd})."
    return None


def _order_fault(found: int, expected: int) -> str:
    if found > expected:
        return f"Event {expected} is missing or out of order: event {found} stands in its place."
    return f"Event {found} stands where event {expected} should: it is repeated or out of order."


def _anchor_fault(anchors: Iterable[Anchor], head: str) -> str | None:
    for anchor in anchors:
        if anchor.head != head:
            return (
                f"Event {anchor.count} is not the one that was anchored at {anchor.at}: "
                "the chain up to it was written anew."
            )
    return None


def _cut_fault(noted: Mapping[int, list[Anchor]], count: int) -> str | None:
    longest = max(noted, default=0)
    if longest <= count:
        return None
    at = noted[longest][0].at
    return f"Event {count + 1} is missing: the tail was cut, for at {at} there were {longest} events."
