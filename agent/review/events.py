"""Events: what has happened, in the past tense, each chained to the one before it."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from agent.review.digest import canonical, spelt

GENESIS = "0" * 64
"""Used as the previous hash of the first event."""


class EventKind(StrEnum):
    """Every kind of event in the audit trail. Kinds may be added; none ever changes its meaning."""

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
    CHAIN_KEYED = "ChainKeyed"  # a record begun without a key: from here on every hash is keyed
    DATA_ERASED = "DataErased"  # its `seqs` are the events whose data is gone
    UNREADABLE = (
        "Unreadable"  # never recorded: what is read in place of an event that was changed outside the console
    )


@dataclass(frozen=True, kw_only=True)
class UnsealedEvent:
    """An event that is to be recorded and has no place in the chain yet."""

    kind: EventKind
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
    """One line of the audit trail."""

    seq: int
    """Its place, counted from 1 without gaps."""
    at: str
    kind: EventKind
    thread_id: str | None = None
    agent: str | None = None
    by: str | None = None
    review_id: str | None = None
    tool_call_id: str | None = None
    tool: str | None = None
    digest: str | None = None
    data: dict[str, Any] | None
    """None once it was erased; the chain still verifies, because it covers the commitment."""
    salt: str
    """Erased together with the data, so that a short value cannot be guessed from the commitment."""
    commitment: str
    hash: str


@dataclass(frozen=True, kw_only=True)
class MaskedEvent(Event):
    """An event in an export whose data is masked, sealed by the console that masked it."""

    masked_data: dict[str, Any]
    masked_seal: str


class OddEvent(ValueError):
    """Something in an event's place in the record that was never written by a console."""


@dataclass(frozen=True)
class Anchor:
    """The length and the head of the chain at an instant, noted outside the ledger."""

    count: int
    head: str
    at: str
    keyed: int | None = None
    """The number of the first event with a keyed hash, if that was noted."""

    def __str__(self) -> str:
        """Return one line, to be printed and kept elsewhere; `kept_anchor` reads it."""
        return f"{self.count}:{self.head}:{self.at}"


def kept_anchor(line: str) -> Anchor:
    """Return the anchor of a printed line, ignoring whitespace. Raises `ValueError` saying what is needed."""
    found = KEPT.fullmatch("".join(line.split()))
    if not found:
        raise ValueError(
            "This is not a line to check against: one has a count, a hash of 64 digits and letters, and a time. Copy the complete line."
        )
    return Anchor(int(found["count"]), found["head"], found["at"])


def instant(moment: datetime) -> str:
    """Return a moment in UTC to the microsecond, as `2025-01-31T09:05:00.000000Z`, so that text sorts as time does.

    Raises `ValueError` for a moment without a time zone.
    """
    if moment.utcoffset() is None:
        raise ValueError(f"{moment!r} has no time zone; make it an aware datetime")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def moment(instant: str) -> datetime | None:
    """Return the moment in UTC that an instant names; None if it is not an instant."""
    try:
        found = datetime.fromisoformat(instant)
        return found.astimezone(UTC) if found.tzinfo else None
    except (ValueError, OverflowError):
        return None


def commitment(salt: str, data: Mapping[str, Any]) -> str:
    """Return what the chain covers in place of an event's data, so that the data can be erased without breaking it."""
    return hashlib.sha256(salt.encode("utf-8") + canonical(dict(data))).hexdigest()


def event_hash(previous: str, event_fields: Mapping[str, Any], key: bytes | None) -> str:
    """Return the hash that ties an event to the one before it; without the key nobody can make it.

    `event_fields` are those of the event except salt and hash, with the commitment in place of `data`;
    fields that are None count as absent. `key` is None for events from before `ChainKeyed`.
    """
    present = {name: value for name, value in event_fields.items() if value is not None}
    told = previous.encode("utf-8", "backslashreplace") + b"\n" + spelt(present)
    return hashlib.sha256(told).hexdigest() if key is None else hmac.digest(key, told, "sha256").hex()


def masked_seal(key: bytes, event: Event, masked_data: Mapping[str, Any]) -> str:
    """Return the seal that ties the masked form of an event's data to the event, in an export."""
    told = b"masked\n" + event.hash.encode("ascii") + b"\n" + canonical(dict(masked_data))
    return hmac.digest(key, told, "sha256").hex()


def seal(fact: UnsealedEvent, *, seq: int, previous: str, salt: str, key: bytes) -> Event:
    """Return the fact as the next event of the chain. `salt` must be random, and new for each event."""
    told = {name: getattr(fact, name) for name in _TOLD}
    committed = commitment(salt, fact.data)
    sealed = event_hash(previous, {"seq": seq, **told, "data": committed}, key)
    return Event(seq=seq, **told, data=fact.data, salt=salt, commitment=committed, hash=sealed)


def is_sealed(event: Event, previous: str, key: bytes | None) -> bool:
    """Return whether the event's hash is right under this key, after an event with the hash `previous`."""
    held = vars(event)
    fields = {name: held[name] for name in _HASHED}
    fields["data"] = held["commitment"]
    return event_hash(previous, fields, key) == event.hash


KEPT = re.compile(
    r"(?P<count>\d{1,18}):(?P<head>[0-9a-f]{64}):(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)", re.ASCII
)
_TOLD = ("at", "kind", "thread_id", "agent", "by", "review_id", "tool_call_id", "tool", "digest")
_HASHED = ("seq", *_TOLD)
