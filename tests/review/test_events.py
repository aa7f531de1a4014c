"""The chain finds whatever was done to it."""

import hmac
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.review.events import (
    GENESIS,
    Anchor,
    Event,
    EventKind,
    MaskedEvent,
    UnsealedEvent,
    commitment,
    event_hash,
    instant,
    kept_anchor,
    masked_seal,
    seal,
)
from agent.review.verify_chain import Verification, verify

KEY = b"k" * 32
AT = "2025-01-31T09:05:00.000000Z"
FIELDS = ("seq", "at", "kind", "thread_id", "agent", "by", "review_id", "tool_call_id", "tool", "digest")

KINDS = """
ThreadStarted MessageSent RunStarted RunEnded RunFailed RunStopped ActionProposed ActionRefused ReviewOpened ReviewShown
DecisionMade DecisionRefused ReviewClosed ReviewExpired ReviewSuperseded ExecutionStarted ExecutionFinished
ExecutionFailed ExecutionSuspended ExecutionBlocked ActionLapsed ActionWithdrawn OutcomeUnknown OutcomeSettled
ActionLookedOver RuleMade RuleApplied RuleRevoked PolicyChanged
"""


def chain(length: int, by: str = "ana") -> list[Event]:
    events: list[Event] = []
    previous = GENESIS
    for seq in range(1, length + 1):
        fact = UnsealedEvent(
            kind=EventKind.MESSAGE_SENT, at=AT, thread_id="t-1", by=by, data={"text": f"message {seq}"}
        )
        events.append(seal(fact, seq=seq, previous=previous, salt=f"salt {seq}", key=KEY))
        previous = events[-1].hash
    return events


def checked(events: Iterable[Event], anchors: Iterable[Anchor] = ()) -> Verification:
    return verify(events, anchors, key=KEY)


def anchor_of(events: list[Event]) -> Anchor:
    return Anchor(len(events), events[-1].hash, AT)


def altered(event: Event, field: str) -> Event:
    others: dict[str, Any] = {
        "seq": event.seq + 1,
        "kind": EventKind.RUN_ENDED,
        "data": {**(event.data or {}), "text": "another"},
    }
    return replace(event, **{field: others.get(field, "another")})


def sealed_again(event: Event, previous: str) -> Event:
    """What somebody who knows the format would write after changing an event."""
    told = {name: getattr(event, name) for name in FIELDS}
    committed = commitment(event.salt, event.data or {})
    return replace(event, commitment=committed, hash=event_hash(previous, {**told, "data": committed}, None))


places = st.integers(0, 7)


def test_an_untouched_chain_verifies() -> None:
    events = chain(8)
    found = checked(iter(events), [anchor_of(events[:3]), anchor_of(events)])
    assert (found.ok, found.count, found.head, found.first_fault, found.masked) == (
        True,
        8,
        events[-1].hash,
        None,
        0,
    )


def test_an_empty_chain_verifies_and_its_head_is_the_beginning() -> None:
    found = checked([])
    assert (found.ok, found.count, found.head) == (True, 0, GENESIS)


@given(places, st.sampled_from([*FIELDS, "data", "salt", "commitment", "hash"]))
def test_an_altered_event_is_found_and_named(place: int, field: str) -> None:
    events = chain(8)
    events[place] = altered(events[place], field)
    found = checked(events)
    assert not found.ok
    assert f"vent {place + 1} " in (found.first_fault or "")


@given(places, st.sampled_from(["at", "kind", "thread_id", "by", "tool", "data"]))
def test_an_event_altered_and_sealed_again_is_found(place: int, field: str) -> None:
    events = chain(8)
    previous = events[place - 1].hash if place else GENESIS
    anchor = anchor_of(events)
    events[place] = sealed_again(altered(events[place], field), previous)
    assert not checked(events, [anchor]).ok


@given(places)
def test_a_removed_event_is_found(place: int) -> None:
    events = chain(8)
    anchor = anchor_of(events)
    del events[place]
    found = checked(events, [anchor])
    assert not found.ok
    assert f"Event {place + 1} is missing" in (found.first_fault or "")


@given(places, places)
def test_an_inserted_event_is_found(source: int, place: int) -> None:
    events = chain(8)
    anchor = anchor_of(events)
    events.insert(place, events[source])
    assert not checked(events, [anchor]).ok


@given(places, places)
def test_a_forged_event_put_between_is_found_though_all_after_it_are_numbered_on(
    source: int, place: int
) -> None:
    events = chain(8)
    events.insert(place, altered(events[source], "data"))
    assert not checked([replace(event, seq=seq) for seq, event in enumerate(events, 1)]).ok


@given(places, places)
def test_two_events_that_changed_places_are_found(one: int, other: int) -> None:
    events = chain(8)
    events[one], events[other] = events[other], events[one]
    assert checked(events).ok == (one == other)


@given(st.integers(0, 7))
def test_a_cut_tail_is_found_as_far_as_the_anchor_reaches(kept: int) -> None:
    events = chain(8)
    found = checked(events[:kept], [anchor_of(events)])
    assert not found.ok
    assert "tail was cut" in (found.first_fault or "")


def test_a_tail_cut_after_the_last_anchor_is_not_found() -> None:
    events = chain(8)
    assert checked(events[:6], [anchor_of(events[:5])]).ok


def written_again(true: list[Event], by: str = "mallory") -> list[Event]:
    """The whole chain as somebody without the key can write it."""
    found: list[Event] = []
    for event in true:
        found.append(sealed_again(replace(event, by=by), found[-1].hash if found else GENESIS))
    return found


def test_a_chain_that_is_written_again_without_the_key_is_found_without_any_anchor() -> None:
    assert "Event 1 was replaced" in (checked(written_again(chain(4))).first_fault or "")


@given(st.integers(1, 8))
def test_a_beginning_that_is_written_again_without_the_key_is_found(length: int) -> None:
    events = chain(8)
    forged = written_again(events[:length])
    assert not checked([*forged, *events[length:]]).ok


def test_a_chain_that_is_written_again_with_the_key_does_not_fit_its_anchor() -> None:
    true, again = chain(4), chain(4, by="mallory")
    assert checked(again).ok
    assert "anchored" in (checked(again, [anchor_of(true[:2])]).first_fault or "")


def keyed_late(before: int, after: int) -> list[Event]:
    """A record that was begun without a key, as an older console left it, and taken under one."""
    events = written_again(chain(before), by="ana")
    told = {"count": before, "head": events[-1].hash}
    for seq in range(before + 1, before + after + 1):
        kind = EventKind.CHAIN_KEYED if seq == before + 1 else EventKind.MESSAGE_SENT
        fact = UnsealedEvent(
            kind=kind,
            at=AT,
            thread_id="t-1",
            data=told if kind is EventKind.CHAIN_KEYED else {"text": str(seq)},
        )
        events.append(seal(fact, seq=seq, previous=events[-1].hash, salt=f"salt {seq}", key=KEY))
    return events


def test_events_from_before_the_key_hold_and_are_counted() -> None:
    found = checked(keyed_late(5, 3))
    assert (found.ok, found.unkeyed, found.unchecked) == (True, 5, 0)
    assert checked(chain(3)).unkeyed == 0


@given(st.integers(0, 4))
def test_an_event_from_before_the_key_that_was_written_again_is_found_at_the_key(place: int) -> None:
    events = keyed_late(5, 3)
    forged = written_again(events[: place + 1])
    for event in events[place + 1 : 5]:
        forged.append(sealed_again(event, forged[-1].hash))
    assert "Event 6 " in (checked([*forged, *events[5:]]).first_fault or "")


@given(st.integers(5, 7))
def test_what_follows_the_key_cannot_be_written_again_nor_the_key_be_left_out(cut: int) -> None:
    events = keyed_late(5, 3)
    forged = written_again([replace(one, kind=EventKind.MESSAGE_SENT) for one in events[:cut]])
    assert "no event here is keyed" in (checked(forged).first_fault or "")
    assert not checked([*forged, *events[cut:]]).ok


def test_a_chain_that_was_keyed_from_its_beginning_cannot_be_given_a_past_without_a_key() -> None:
    noted = Anchor(0, GENESIS, AT, keyed=1)
    assert checked(chain(4), [noted]).ok
    found = checked(keyed_late(5, 3), [noted])
    assert "keyed from event 1 on" in (found.first_fault or "")
    assert checked(keyed_late(5, 3), [replace(noted, keyed=6)]).ok


def test_without_the_key_what_could_not_be_checked_is_counted_and_is_no_success() -> None:
    found = verify(chain(4), key=None)
    assert (found.ok, found.first_fault, found.unchecked) == (False, None, 4)
    old = verify(written_again(chain(4)), key=None)
    assert (old.ok, old.unkeyed, old.unchecked) == (True, 4, 0)


@given(
    st.integers(0, 10**18 - 1),
    st.text("0123456789abcdef", min_size=64, max_size=64),
    st.sampled_from(["", "\n", "  "]),
)
def test_a_printed_anchor_is_read_as_it_was(count: int, head: str, space: str) -> None:
    printed = str(Anchor(count, head, AT))
    assert (
        kept_anchor(printed.replace(":", f":{space}"))
        == kept_anchor(f"{printed}\n")
        == Anchor(count, head, AT)
    )


@pytest.mark.parametrize(
    "line",
    ["", "12", f"12:{'a' * 63}:{AT}", f"12:{'g' * 64}:{AT}", f"x:{'a' * 64}:{AT}", f"١:{'a' * 64}:{AT}"],
)
def test_what_is_no_printed_anchor_is_said(line: str) -> None:
    with pytest.raises(ValueError, match="Copy the complete line"):
        kept_anchor(line)


def test_an_anchor_before_the_first_event_must_name_the_beginning() -> None:
    assert checked([], [Anchor(0, GENESIS, AT)]).ok
    assert not checked([], [Anchor(0, "f" * 64, AT)]).ok


def test_only_the_first_fault_is_told() -> None:
    events = chain(5)
    events[1] = altered(events[1], "data")
    events[3] = altered(events[3], "by")
    assert "Event 2 " in (checked(events).first_fault or "")


def erasing(events: list[Event], *seqs: int) -> list[Event]:
    """The chain with the data of these events erased, and the event that says so."""
    data = {"seqs": list(seqs), "why": "asked for"}
    fact = UnsealedEvent(kind=EventKind.DATA_ERASED, at=AT, by="ana", data=data)
    told = seal(fact, seq=len(events) + 1, previous=events[-1].hash, salt="salt", key=KEY)
    return [*(replace(one, data=None, salt="") if one.seq in seqs else one for one in events), told]


def test_erased_data_is_counted_and_the_chain_still_verifies() -> None:
    events = erasing(chain(5), 3)
    found = checked(events, [anchor_of(events)])
    assert (found.ok, found.masked) == (True, 1)


@given(places)
def test_data_that_is_gone_is_a_fault_unless_an_event_says_who_erased_it(place: int) -> None:
    events = chain(8)
    events[place] = replace(events[place], data=None, salt="")
    assert f"Event {place + 1} was edited: its data is gone" in (checked(events).first_fault or "")


def test_an_event_of_erasure_excuses_no_other_event_nor_itself() -> None:
    events = erasing(chain(5), 3)
    assert "Event 4 " in (
        checked([*events[:3], replace(events[3], data=None, salt=""), *events[4:]]).first_fault or ""
    )
    assert "Event 3 " in (checked([*events[:5], replace(events[5], data=None, salt="")]).first_fault or "")


def masked_of(event: Event, data: dict[str, str]) -> MaskedEvent:
    told = {name: getattr(event, name) for name in (*FIELDS, "commitment", "hash")}
    return MaskedEvent(
        **told, data=None, salt="", masked_data=data, masked_seal=masked_seal(KEY, event, data)
    )


def test_masked_data_is_bound_to_its_event() -> None:
    events = chain(3)
    masked = masked_of(events[1], {"text": "•••"})
    found = checked([events[0], masked, events[2]])
    assert (found.ok, found.masked) == (True, 1)
    forged = replace(masked, masked_data={"text": "approved"})
    assert "Event 2 was edited: its masked data" in (
        checked([events[0], forged, events[2]]).first_fault or ""
    )
    other = replace(masked, masked_seal=masked_of(events[0], {"text": "•••"}).masked_seal)
    assert not checked([events[0], other, events[2]]).ok


def test_an_erased_event_cannot_be_given_another_commitment() -> None:
    events = chain(5)
    events[2] = replace(events[2], data=None, salt="", commitment=commitment("", {"text": "another"}))
    assert not checked(events).ok


def test_data_that_no_event_can_hold_is_a_fault_and_no_crash() -> None:
    events = chain(2)
    events[1] = replace(events[1], data={"text": float("nan")})
    assert "Event 2 " in (checked(events).first_fault or "")


def test_the_hash_is_the_one_the_format_describes() -> None:
    fact = UnsealedEvent(kind=EventKind.RUN_STARTED, at=AT, thread_id="t-1", data={"model": "demo"})
    event = seal(fact, seq=1, previous=GENESIS, salt="s", key=KEY)
    committed = sha256(b's{"model":"demo"}').hexdigest()
    spelt = f'{{"at":"{AT}","data":"{committed}","kind":"RunStarted","seq":1,"thread_id":"t-1"}}'
    assert event.commitment == committed
    assert event.hash == hmac.new(KEY, f"{GENESIS}\n{spelt}".encode(), "sha256").hexdigest()


def test_a_salt_hides_short_data_from_guessing() -> None:
    assert commitment("one", {"pin": 1}) != commitment("two", {"pin": 1})


def test_an_instant_is_utc_to_the_microsecond() -> None:
    there = datetime(2025, 1, 31, 10, 5, 0, 7, tzinfo=timezone(timedelta(hours=1)))
    assert instant(there) == "2025-01-31T09:05:00.000007Z"
    assert instant(datetime(2025, 1, 31, tzinfo=UTC)) == "2025-01-31T00:00:00.000000Z"


def test_an_instant_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        instant(datetime(2025, 1, 31))  # noqa: DTZ001


def test_no_kind_of_the_format_is_missing() -> None:
    assert {kind.value for kind in EventKind} >= set(KINDS.split())
