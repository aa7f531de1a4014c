"""An open action is held against its digests wherever it is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.review.actions import Action, ActionState, Key, Review, ReviewState, with_digests
from agent.review.damage import as_read, fits, is_damaged, review_as_read, review_is_damaged

SECRET = b"k"
NOW = "2030-01-01T12:00:00.000000Z"
ACTION = with_digests(
    Action(
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
    ),
    SECRET,
)
REVIEW = Review("r", "t", "mail", ReviewState.OPEN, NOW, None, (ACTION,))
CHANGES: list[dict[str, Any]] = [
    *({"key": Key(*key)} for key in (("u", "m", "c"), ("t", "n", "c"), ("t", "m", "d"), ("t", "m", "c", 2))),
    {"agent": "other"},
    {"tool": "other"},
    {"args": {"to": "b"}},
    {"args": {"to": float("nan")}},
    {"args": None},
    {"summary": "Send it."},
    {"allowed": ("approve", "edit")},
    {"policy_version": "2"},
    {"call_digest": "0"},
    {"shown_digest": "0"},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_an_action_that_was_changed_holds_nothing_that_could_be_decided_on(change: dict[str, Any]) -> None:
    changed = replace(ACTION, **change)
    assert not fits(changed, SECRET)
    read = as_read(changed, SECRET)
    assert is_damaged(read)
    assert (read.args, read.proposed, read.allowed, read.shown_digest) == (None, None, (), "")


def test_an_action_as_it_was_recorded_is_read_as_it_is() -> None:
    assert as_read(ACTION, SECRET) is ACTION
    assert review_as_read(REVIEW, SECRET, ["c"]) == REVIEW


def test_an_action_of_another_key_is_not_as_it_was_recorded() -> None:
    assert is_damaged(as_read(ACTION, b"another"))


@pytest.mark.parametrize(
    "changed",
    [
        replace(REVIEW, thread_id="u"),
        replace(REVIEW, agent="other"),
        replace(REVIEW, expires_at="never"),
        replace(REVIEW, opened_at="once"),
        replace(REVIEW, actions=()),
        *(
            replace(REVIEW, actions=(replace(ACTION, state=state),))
            for state in ActionState
            if state != "pending"
        ),
    ],
    ids=str,
)
def test_a_review_whose_own_row_or_states_were_changed_cannot_be_decided(changed: Review) -> None:
    assert review_is_damaged(review_as_read(changed, SECRET, ["c"]))


@pytest.mark.parametrize("opened_with", [["c", "d"], ["d"], []])
def test_a_review_that_holds_other_calls_than_it_was_opened_with_cannot_be_decided(
    opened_with: list[str],
) -> None:
    assert review_is_damaged(review_as_read(REVIEW, SECRET, opened_with))


def test_a_review_whose_calls_changed_places_cannot_be_decided() -> None:
    other = with_digests(replace(ACTION, key=Key("t", "m", "d")), SECRET)
    both = replace(REVIEW, actions=(ACTION, other))
    assert not review_is_damaged(review_as_read(both, SECRET, ["c", "d"]))
    assert review_is_damaged(review_as_read(both, SECRET, ["d", "c"]))
