"""Interrupts in the wild, and what is read from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.review.shapes import Pause, Request, answer, read

CASES = json.loads((Path(__file__).parents[1] / "cases" / "shapes.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_an_interrupt_in_the_wild_is_read_and_answered_in_its_own_shape(case: dict[str, Any]) -> None:
    interrupt, expected = case["interrupt"], case["expect"]
    pause = read(interrupt["value"], interrupt["response_schema"])
    assert pause.shape == expected["shape"]
    found = [
        {
            "name": one.name,
            "args": one.args,
            "allowed": list(one.allowed),
            "tool_call_id": one.tool_call_id,
        }
        for one in pause.requests
    ]
    assert found == expected["actions"]
    first = expected["answer_to_first_decision"]
    if first is not None:
        assert {interrupt["id"]: answer(pause, [{"type": pause.requests[0].allowed[0]}])} == first


def test_an_edit_is_answered_in_the_case_the_request_came_in() -> None:
    edit = {"type": "edit", "edited_action": {"name": "w", "args": {}}}
    camel = Pause("batched", (Request("w", {}, ("edit",)),), camel=True)
    assert answer(camel, [edit]) == {
        "decisions": [{"type": "edit", "editedAction": {"name": "w", "args": {}}}]
    }


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        ({"type": "reject"}, {"type": "ignore", "args": None}),
        ({"type": "reject", "message": "no"}, {"type": "ignore", "args": "no"}),
        ({"type": "respond", "message": "hm"}, {"type": "response", "args": "hm"}),
        (
            {"type": "edit", "edited_action": {"name": "go", "args": {"a": 1}}},
            {"type": "edit", "args": {"action": "go", "args": {"a": 1}}},
        ),
    ],
)
def test_a_legacy_inbox_gets_its_own_words(decision: dict[str, Any], expected: dict[str, Any]) -> None:
    everything = ("approve", "edit", "reject", "respond")
    assert answer(Pause("legacy", (Request("go", {}, everything),)), [decision]) == [expected]


def test_a_legacy_inbox_that_cannot_be_ignored_is_rejected_with_the_reason() -> None:
    config = {"allow_accept": True, "allow_respond": True}
    pause = read({"action_request": {"action": "go", "args": {}}, "config": config})
    assert pause.requests[0].allowed == ("approve", "reject", "respond")
    assert answer(pause, [{"type": "reject", "message": "not him"}]) == {
        "type": "response",
        "args": "not him",
    }
