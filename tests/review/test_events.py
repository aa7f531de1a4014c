"""The chain finds whatever was done to it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.review.events import (
    GENESIS,
    Anchor,
    Event,
    Fact,
    Kind,
    commitment,
    event_hash,
    instant,
    kept_anchor,
    seal,
    verify,
)

AT = "2025-01-31T09:05:00.000000Z"
FIELDS = ("seq", "at", "kind", "thread_id", "agent", "by", "review_id", "tool_call_id", "tool", "digest")

KINDS = """
ThreadStarted MessageSent RunStarted RunEnded RunFailed RunStopped ActionProposed ActionRefused ReviewOpened ReviewShown
DecisionMade DecisionRefused ReviewClosed ReviewExpired ReviewSuperseded ExecutionStarted ExecutionFinished
ExecutionFailed ExecutionSuspended ExecutionBlocked ActionLapsed ActionWithdrawn OutcomeUnknown OutcomeSettled
ActionLookedOver RuleMade RuleApplied RuleRevoked PolicyChanged
"""


def chain(length: int) -> list[Event]:
    events: list[Event] = []
    previous = GENESIS
    for seq in range(1, length + 1):
        fact = Fact(kind=Kind.MESSAGE_SENT, at=AT, thread_id="t-1", by="ana", data={"text": f"message {seq}"})
        events.append(seal(fact, seq=seq, previous=previous, salt=f"salt {seq}"))
        previous = events[-1].hash
    return events


def anchor_of(events: list[Event]) -> Anchor:
    return Anchor(len(events), events[-1].hash, AT)


def altered(event: Event, field: str) -> Event:
    others = {"seq": event.seq + 1, "kind": Kind.RUN_ENDED, "data": {**(event.data or {}), "text": "another"}}
    return replace(event, **{field: others.get(field, "another")})


def sealed_again(event: Event, previous: str) -> Event:
    """What somebody who knows the format would write after changing an event."""
    told = {name: getattr(event, name) for name in FIELDS}
    committed = commitment(event.salt, event.data or {})
    return replace(event, commitment=committed, hash=event_hash(previous, {**told, "data": committed}))


places = st.integers(0, 7)


def test_an_untouched_chain_verifies():
    events = chain(8)
    found = verify(iter(events), [anchor_of(events[:3]), anchor_of(events)])
    assert (found.ok, found.count, found.head, found.first_fault, found.masked) == (
        True,
        8,
        events[-1].hash,
        None,
        0,
    )


def test_an_empty_chain_verifies_and_its_head_is_the_beginning():
    found = verify([])
    assert (found.ok, found.count, found.head) == (True, 0, GENESIS)


@given(places, st.sampled_from([*FIELDS, "data", "salt", "commitment", "hash"]))
def test_an_altered_event_is_found_and_named(place, field):
    events = chain(8)
    events[place] = altered(events[place], field)
    found = verify(events)
    assert not found.ok
    assert f"vent {place + 1} " in (found.first_fault or "")


@given(places, st.sampled_from(["at", "kind", "thread_id", "by", "tool", "data"]))
def test_an_event_altered_and_sealed_again_is_found(place, field):
    events = chain(8)
    previous = events[place - 1].hash if place else GENESIS
    anchor = anchor_of(events)
    events[place] = sealed_again(altered(events[place], field), previous)
    assert not verify(events, [anchor]).ok


@given(places)
def test_a_removed_event_is_found(place):
    events = chain(8)
    anchor = anchor_of(events)
    del events[place]
    found = verify(events, [anchor])
    assert not found.ok
    assert f"Event {place + 1} is missing" in (found.first_fault or "")


@given(places, places)
def test_an_inserted_event_is_found(source, place):
    events = chain(8)
    anchor = anchor_of(events)
    events.insert(place, events[source])
    assert not verify(events, [anchor]).ok


@given(places, places)
def test_a_forged_event_put_between_is_found_though_all_after_it_are_numbered_on(source, place):
    events = chain(8)
    events.insert(place, altered(events[source], "data"))
    assert not verify([replace(event, seq=seq) for seq, event in enumerate(events, 1)]).ok


@given(places, places)
def test_two_events_that_changed_places_are_found(one, other):
    events = chain(8)
    events[one], events[other] = events[other], events[one]
    assert verify(events).ok == (one == other)


@given(st.integers(0, 7))
def test_a_cut_tail_is_found_as_far_as_the_anchor_reaches(kept):
    events = chain(8)
    found = verify(events[:kept], [anchor_of(events)])
    assert not found.ok
    assert "tail was cut" in (found.first_fault or "")


def test_a_tail_cut_after_the_last_anchor_is_not_found():
    events = chain(8)
    assert verify(events[:6], [anchor_of(events[:5])]).ok


def test_a_chain_written_anew_does_not_fit_its_anchor():
    true, anew = chain(4), []
    previous = GENESIS
    for event in true:
        anew.append(sealed_again(replace(event, by="mallory"), previous))
        previous = anew[-1].hash
    assert verify(anew).ok
    assert "anchored" in (verify(anew, [anchor_of(true[:2])]).first_fault or "")


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
    with pytest.raises(ValueError, match="Copy it whole"):
        kept_anchor(line)


def test_an_anchor_before_the_first_event_must_name_the_beginning():
    assert verify([], [Anchor(0, GENESIS, AT)]).ok
    assert not verify([], [Anchor(0, "f" * 64, AT)]).ok


def test_only_the_first_fault_is_told():
    events = chain(5)
    events[1] = altered(events[1], "data")
    events[3] = altered(events[3], "by")
    assert "Event 2 " in (verify(events).first_fault or "")


def test_erased_data_is_counted_and_the_chain_still_verifies():
    events = chain(5)
    events[2] = replace(events[2], data=None, salt="")
    found = verify(events, [anchor_of(events)])
    assert (found.ok, found.masked) == (True, 1)


def test_an_erased_event_cannot_be_given_another_commitment():
    events = chain(5)
    events[2] = replace(events[2], data=None, salt="", commitment=commitment("", {"text": "another"}))
    assert not verify(events).ok


def test_data_that_no_event_can_hold_is_a_fault_and_no_crash():
    events = chain(2)
    events[1] = replace(events[1], data={"text": float("nan")})
    assert "Event 2 " in (verify(events).first_fault or "")


def test_the_hash_is_the_one_the_format_describes():
    fact = Fact(kind=Kind.RUN_STARTED, at=AT, thread_id="t-1", data={"model": "demo"})
    event = seal(fact, seq=1, previous=GENESIS, salt="s")
    committed = sha256(b's{"model":"demo"}').hexdigest()
    spelt = f'{{"at":"{AT}","data":"{committed}","kind":"RunStarted","seq":1,"thread_id":"t-1"}}'
    assert event.commitment == committed
    assert event.hash == sha256(f"{GENESIS}\n{spelt}".encode()).hexdigest()


def test_a_salt_hides_short_data_from_guessing():
    assert commitment("one", {"pin": 1}) != commitment("two", {"pin": 1})


def test_an_instant_is_utc_to_the_microsecond():
    there = datetime(2025, 1, 31, 10, 5, 0, 7, tzinfo=timezone(timedelta(hours=1)))
    assert instant(there) == "2025-01-31T09:05:00.000007Z"
    assert instant(datetime(2025, 1, 31, tzinfo=UTC)) == "2025-01-31T00:00:00.000000Z"


def test_an_instant_without_a_time_zone_is_refused():
    with pytest.raises(ValueError, match="time zone"):
        instant(datetime(2025, 1, 31))  # noqa: DTZ001


def test_no_kind_of_the_format_is_missing():
    assert {kind.value for kind in Kind} >= set(KINDS.split())
