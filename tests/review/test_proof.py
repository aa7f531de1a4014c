"""What the record of one action must add up to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.review.events import Event, EventKind, UnsealedEvent, seal
from agent.review.proof import proofs

ARGS = {"to": "a@x.org"}
OTHER = {"to": "mallory@x.org"}


def trail(*facts: tuple[EventKind, dict[str, Any]], digest: str = "d") -> list[Event]:
    events: list[Event] = []
    for kind, data in facts:
        fact = UnsealedEvent(
            kind=kind,
            at="2030-01-01T00:00:00.000000Z",
            tool="send_email",
            digest=data.pop("digest", digest),
            data=data,
        )
        events.append(
            seal(
                fact,
                seq=len(events) + 1,
                previous=events[-1].hash if events else "0" * 64,
                salt="s",
                key=b"k",
            )
        )
    return events


def asked() -> tuple[EventKind, dict[str, Any]]:
    return EventKind.ACTION_PROPOSED, {"tier": "ask", "args": ARGS}


def decided(**more: Any) -> tuple[EventKind, dict[str, Any]]:
    return EventKind.DECISION_MADE, {"type": "approve", "tool": "send_email", "after": ARGS, **more}


def started(**more: Any) -> tuple[EventKind, dict[str, Any]]:
    return EventKind.EXECUTION_STARTED, {"args": ARGS, **more}


def faults(*facts: tuple[EventKind, dict[str, Any]]) -> tuple[str, ...]:
    (found,) = proofs(trail(*facts))
    return found.faults


def test_an_approved_action_that_ran_as_shown_adds_up() -> None:
    assert not faults(asked(), decided(), started(), (EventKind.EXECUTION_FINISHED, {}))


def test_other_arguments_than_decided_are_flagged() -> None:
    assert "not what was allowed" in faults(asked(), decided(), started(args=OTHER))[0]


def test_another_digest_than_decided_is_flagged() -> None:
    assert "digest" in faults(asked(), decided(), started(digest="e"))[0]


def test_running_without_approval_is_flagged() -> None:
    assert "without a person's approval" in faults(asked(), started())[0]


def test_a_remembered_rule_approves_in_a_persons_place() -> None:
    assert not faults(asked(), (EventKind.RULE_APPLIED, {"rule_id": "rule-1"}), started())


def test_a_rule_that_applied_after_the_start_is_no_leave() -> None:
    assert faults(asked(), started(), (EventKind.RULE_APPLIED, {"rule_id": "rule-1"}))


def test_a_rejection_is_no_approval() -> None:
    assert faults(asked(), decided(type="reject", after=None), started())


def test_running_twice_is_flagged() -> None:
    assert "more than once" in faults(asked(), decided(), started(), started())[0]


def test_a_tool_that_asked_in_its_middle_may_be_entered_again() -> None:
    suspended: tuple[EventKind, dict[str, Any]] = (EventKind.EXECUTION_SUSPENDED, {})
    assert not faults(asked(), decided(), started(), suspended, started())


@pytest.mark.parametrize("place", range(4))
def test_erased_data_is_no_contradiction(place: int) -> None:
    events = trail(asked(), decided(), started(), (EventKind.EXECUTION_FINISHED, {}))
    events[place] = replace(events[place], data=None, salt="")
    (found,) = proofs(events)
    assert not found.faults


def test_what_is_left_of_an_erased_event_still_contradicts() -> None:
    events = trail(asked(), decided(), started(digest="e"))
    (found,) = proofs([*events[:2], replace(events[2], data=None, salt="")])
    assert "digest" in found.faults[0]


def test_a_result_without_a_start_is_flagged() -> None:
    assert "without having started" in faults(asked(), decided(), (EventKind.EXECUTION_FINISHED, {}))[0]


def test_what_the_policy_lets_run_needs_no_person() -> None:
    assert not faults((EventKind.ACTION_PROPOSED, {"tier": "auto", "args": ARGS}), started())


def test_an_id_used_again_is_a_proof_of_its_own() -> None:
    first, second = proofs(trail(asked(), decided(), started(), asked(), started()))
    assert not first.faults
    assert second.faults
