"""The life of an action: every step it can take, and no other."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from agent.review.actions import Action, ActionState, Key, may_move, with_digests

STEPS = {
    "proposed": "refused approved pending",
    "pending": "approved rejected responded cancelled expired superseded",
    "approved": "executing lapsed withdrawn blocked",
    "executing": "done failed suspended unknown",
    "suspended": "executing failed blocked",
    "unknown": "done failed pending",
}
FINAL = {
    "refused",
    "rejected",
    "responded",
    "cancelled",
    "expired",
    "superseded",
    "lapsed",
    "withdrawn",
    "blocked",
    "done",
    "failed",
}


@pytest.mark.parametrize(("start", "end"), list(product(ActionState, ActionState)))
def test_an_action_moves_along_the_documented_steps_only(start: ActionState, end: ActionState) -> None:
    assert may_move(start, end) is (str(end) in STEPS.get(start, "").split())


def test_every_state_either_moves_on_or_is_final() -> None:
    assert {str(state) for state in ActionState} == STEPS.keys() | FINAL


ACTION = Action(
    key=Key("t", "m", "c"),
    agent="mail",
    tool="send_email",
    args={"to": "a"},
    proposed_tool="send_email",
    proposed={"to": "a"},
    tier="ask",
    why="",
    summary="Send.",
    allowed=("approve",),
    policy_version="1",
    state=ActionState.PENDING,
    position=0,
)
OTHERS = {
    "agent": replace(ACTION, agent="other"),
    "thread": replace(ACTION, key=Key("other", "m", "c")),
    "message": replace(ACTION, key=Key("t", "other", "c")),
    "call": replace(ACTION, key=Key("t", "m", "other")),
    "attempt": replace(ACTION, key=Key("t", "m", "c", 2)),
    "tool": replace(ACTION, tool="other"),
    "args": replace(ACTION, args={"to": "b"}),
    "no args": replace(ACTION, args=None),
}
CARDS = {
    "summary": replace(ACTION, summary="Other."),
    "allowed": replace(ACTION, allowed=("approve", "reject")),
    "policy": replace(ACTION, policy_version="2"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_another_call_has_another_call_digest(other: Action) -> None:
    assert with_digests(other, b"k").call_digest != with_digests(ACTION, b"k").call_digest


@pytest.mark.parametrize("other", [*OTHERS.values(), *CARDS.values()], ids=[*OTHERS, *CARDS])
def test_another_card_has_another_shown_digest(other: Action) -> None:
    assert with_digests(other, b"k").shown_digest != with_digests(ACTION, b"k").shown_digest


@pytest.mark.parametrize("other", CARDS.values(), ids=CARDS)
def test_how_a_call_is_shown_does_not_change_what_it_is(other: Action) -> None:
    assert with_digests(other, b"k").call_digest == with_digests(ACTION, b"k").call_digest


def test_digests_made_under_another_key_differ() -> None:
    assert with_digests(ACTION, b"k").call_digest != with_digests(ACTION, b"l").call_digest


def test_sealing_twice_changes_nothing() -> None:
    sealed = with_digests(ACTION, b"k")
    assert with_digests(sealed, b"k") == sealed
