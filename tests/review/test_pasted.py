"""A pasted interrupt is read as any other is, and answered as it would be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.review.errors import ArgumentsRefused, InvalidDecision, PayloadUnreadable
from agent.review.pasted import NO_ID, answer, decision, read
from agent.review.questions import QUESTION

CASES = json.loads((Path(__file__).parents[1] / "cases" / "shapes.json").read_text())
BATCHED = {
    "action_requests": [{"name": "send", "args": {"to": "a"}}],
    "review_configs": [{"action_name": "send", "allowed_decisions": ["approve", "edit", "reject"]}],
}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_every_shape_is_read_and_gets_the_answer_it_would_be_sent(case: dict[str, Any]) -> None:
    (pasted,) = read(json.dumps(case["interrupt"]))
    expected = case["expect"]
    assert pasted.pause.shape == expected["shape"]
    names = [(one.tool, one.args, list(one.allowed)) for one in pasted.actions if one.tool != QUESTION]
    assert names == [(one["name"], one["args"], one["allowed"]) for one in expected["actions"]]
    if expected["answer_to_first_decision"] is not None:
        made = [decision(one.allowed[0], one, "") for one in pasted.actions]
        assert answer(pasted, made) == expected["answer_to_first_decision"]


def test_a_bare_value_is_read_too() -> None:
    (pasted,) = read(json.dumps(BATCHED))
    assert list(answer(pasted, [{"type": "approve"}])) == [NO_ID]


@pytest.mark.parametrize(
    "around",
    [
        lambda one: {"__interrupt__": [one, one]},
        lambda one: {"interrupts": [one, one], "values": {}},
        lambda one: [one, one],
    ],
)
def test_several_interrupts_are_read_one_by_one(around: Any) -> None:
    found = read(json.dumps(around({"id": "i", "value": BATCHED})))
    assert [(one.interrupt_id, one.pause.shape) for one in found] == [("i", "batched")] * 2


def test_a_question_is_answered_with_json_or_with_text_and_checked_against_its_schema() -> None:
    schema = {"type": "object", "required": ["colour"]}
    (pasted,) = read(json.dumps({"id": "i", "value": "Which?", "response_schema": schema}))
    (action,) = pasted.actions
    assert answer(pasted, [decision("respond", action, '{"colour": "red"}')]) == {"i": {"colour": "red"}}
    with pytest.raises(InvalidDecision, match="not of type"):
        answer(pasted, [decision("respond", action, "red")])


def test_what_could_not_be_shown_exactly_is_refused() -> None:
    for text in ("{", '{"a": 1, "a": 2}', '{"value": 1e999}', ""):
        with pytest.raises(PayloadUnreadable):
            read(text)


def test_an_edit_that_is_no_object_is_refused_and_a_decision_that_is_not_allowed_too() -> None:
    (pasted,) = read(json.dumps(BATCHED))
    with pytest.raises(ArgumentsRefused, match="expected an object"):
        decision("edit", pasted.actions[0], "[1]")
    with pytest.raises(InvalidDecision, match="does not allow respond"):
        answer(pasted, [{"type": "respond", "message": "x"}])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hello", "it is not JSON, with a mistake at line 1, column 1"),
        ('{"value": {"n": 1e999}}', "value.n: expected a finite number"),
        ('{"a": 1, "a": 2}', "it: expected"),
    ],
)
def test_what_cannot_be_read_is_told_as_a_text_and_not_as_arguments(text: str, told: str) -> None:
    with pytest.raises(PayloadUnreadable) as refused:
        read(text)
    assert told in str(refused.value)
    assert "args" not in str(refused.value)
    assert str(refused.value).endswith("Fix it there, or paste the JSON again.")


def test_what_asks_about_nothing_is_known_in_either_case() -> None:
    for name in ("action_requests", "actionRequests"):
        assert read(json.dumps({name: [], "review_configs": []}))[0].asks_nothing
    assert not read(json.dumps(BATCHED))[0].asks_nothing
    assert not read("[]")[0].asks_nothing


def test_missing_configs_are_told_from_configs_that_allow_nothing() -> None:
    without = {"action_requests": BATCHED["action_requests"]}
    assert read(json.dumps(without))[0].lacks_configs
    nothing = {**without, "review_configs": [{"action_name": "send", "allowed_decisions": []}]}
    assert not read(json.dumps(nothing))[0].lacks_configs


@pytest.mark.parametrize(("ignore", "answered"), [(True, False), (False, True)])
def test_a_legacy_rejection_is_an_answer_where_it_may_not_be_ignored(ignore: bool, answered: bool) -> None:
    config = {"allow_accept": True, "allow_respond": True, "allow_ignore": ignore}
    (pasted,) = read(json.dumps([{"action_request": {"action": "send", "args": {}}, "config": config}]))
    assert pasted.answers_rejection(0) is answered
    sent = answer(pasted, [{"type": "reject", "message": "No."}])[NO_ID]
    assert sent[0]["type"] == ("response" if answered else "ignore")
