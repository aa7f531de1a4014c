"""Agents of many kinds, as far as they run tools: what was approved runs once, and all of it is on record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.kinds.conftest import lines
from tests.received.driving import Scene, Turn, call, in_a_task, received_in

AGENTS = (
    "wrapper",
    "without_call_id",
    "fresh_default",
    "retried",
    "boss",
    "boss_of_sometimes",
    "shows_one_runs_another",
)
APPROVE = {"type": "approve"}


def card_of(turn: Turn) -> dict[str, Any]:
    (card,) = turn.reviews[0]["action_requests"]
    return dict(card)


def done(turn: Turn, tool: str) -> list[dict[str, Any]]:
    """The arguments of the tool's calls that are on record as done."""
    found = [one for one in turn.all_actions() if (one["tool"], one["state"]) == (tool, "done")]
    return [json.loads(one["args"]) for one in found]


def ended_well(turn: Turn) -> None:
    assert turn.answer["status"] == "idle", turn.answer.get("error")
    assert turn.reviews == []
    left = {one["state"] for one in turn.all_actions()} & {"unknown", "executing", "suspended", "pending"}
    assert left == set()
    assert turn.scene.served.get("/audit/verify").json()["ok"]


# A tool that asks before it calls the one inside it.


def booking(scene: Scene) -> Turn:
    turn = scene.begin("wrapper", call("c1", "book_hotel", {"hotel": "M"}))
    assert card_of(turn)["args"] == {"hotel": "M"}
    return turn


def test_a_wrapper_that_is_approved_runs_the_inner_tool_once(scene: Scene, effects: Path) -> None:
    turn = booking(scene)
    turn.send(turn.reviews[0], [APPROVE])
    assert lines(effects) == ["booked M"]
    ended_well(turn)
    assert "booked M" in turn.results()["c1"]


def test_a_wrapper_that_is_edited_runs_the_inner_tool_with_the_edit(scene: Scene, effects: Path) -> None:
    turn = booking(scene)
    edited = {"name": "book_hotel", "args": {"hotel": "N"}}
    turn.send(turn.reviews[0], [{"type": "edit", "edited_action": edited}])
    assert lines(effects) == ["booked N"]
    ended_well(turn)
    assert {"hotel": "N"} in done(turn, "book_hotel")


def test_a_wrapper_that_is_rejected_runs_nothing_and_gives_the_reason(scene: Scene, effects: Path) -> None:
    turn = booking(scene)
    turn.send(turn.reviews[0], [{"type": "reject", "message": "too dear"}])
    assert lines(effects) == []
    ended_well(turn)
    assert "too dear" in turn.results()["c1"]


# A tool that is called without an id.


def test_a_call_without_an_id_runs_and_is_recorded_as_not_gated(scene: Scene, effects: Path) -> None:
    turn = scene.begin("without_call_id", call("c1", "send", {"to": "alice"}))
    assert lines(effects) == ["sent alice"]
    ended_well(turn)
    (action,) = turn.all_actions()
    assert (action["tool"], action["state"], json.loads(action["args"])) == ("send", "done", {"to": "alice"})
    assert action["tool_call_id"] == "c1"
    assert action["review_id"] is None
    assert "not gated" in json.dumps([action["tier"], action["why"], action["notes"]]).lower()


# A default that is made afresh each time.


def test_a_fresh_default_runs_with_the_value_that_was_shown(scene: Scene, effects: Path) -> None:
    turn = scene.begin("fresh_default", call("c1", "stamped", {"text": "t"}))
    shown = card_of(turn)["received"]
    turn.send(turn.reviews[0], [APPROVE])
    assert lines(effects) == [f"stamped t {shown['nonce']}"]
    assert done(turn, "stamped") == [shown]
    ended_well(turn)


def test_an_edit_with_a_fresh_default_runs_as_previewed_or_says_what_to_give(
    scene: Scene, effects: Path
) -> None:
    turn = scene.begin("fresh_default", call("c1", "stamped", {"text": "t"}))
    about = {"thread_id": turn.thread_id, "review_id": turn.reviews[0]["review_id"]}
    edit = {"type": "edit", "edited_action": {"name": "stamped", "args": {"text": "u"}}}
    answer = scene.served.post("/preview", decisions=[edit], **about)
    if answer.status_code == 400:
        assert "nonce" in answer.json()["detail"]
        return
    (previewed,) = answer.json()["actions"]
    turn.send(turn.reviews[0], [{**edit, "edited_digest": previewed["shown_digest"]}])
    assert lines(effects) == [f"stamped u {received_in(previewed)['nonce']}"]


# Middleware that tries again.


def test_a_call_nobody_was_asked_about_may_be_tried_again(scene: Scene, effects: Path) -> None:
    turn = scene.begin("retried", call("c1", "flaky", {"x": "1"}))
    assert lines(effects) == ["read 1"]
    ended_well(turn)
    attempts = sorted((one["attempt"], one["state"]) for one in turn.all_actions())
    assert attempts == [(1, "failed"), (2, "done")]
    assert "net down" in next(one["result"] for one in turn.all_actions() if one["state"] == "failed")
    assert len(turn.events("ExecutionStarted")) == 2
    assert "read 1" in turn.results()["c1"]


# Helpers inside tools.


def test_a_helper_in_a_tool_runs_what_was_approved(scene: Scene, effects: Path) -> None:
    turn = scene.begin(
        "boss", in_a_task(call("c1", "send", {"to": "alice"}), "/then", "/say inner", call_id="c1")
    )
    assert card_of(turn)["args"] == {"to": "alice"}
    turn.send(turn.reviews[0], [APPROVE])
    assert lines(effects) == ["sent alice"]
    ended_well(turn)
    assert turn.results()["c1"] == "inner"
    assert done(turn, "send") == [{"to": "alice"}]


def test_a_helper_whose_call_ids_repeat_runs_each_of_its_calls(scene: Scene, effects: Path) -> None:
    work = [
        call("c1", "send", {"to": "alice"}),
        "/then",
        call("c1", "send", {"to": "bob"}),
        "/then",
        "/say inner",
    ]
    turn = scene.begin("boss", in_a_task(*work))
    while turn.reviews:
        turn.send(turn.reviews[0], [APPROVE])
    assert lines(effects) == ["sent alice", "sent bob"]
    ended_well(turn)


def part(*work: str) -> str:
    return call("p1", "part", {"description": "\n".join(work)})


def test_a_helper_that_asks_about_some_calls_runs_the_others_freely(scene: Scene, effects: Path) -> None:
    calls = [call("a", "send", {"to": "in"}), call("b", "send", {"to": "out"})]
    turn = scene.begin("boss_of_sometimes", part(*calls))
    assert card_of(turn)["args"] == {"to": "out"}
    turn.send(turn.reviews[0], [APPROVE])
    assert sorted(lines(effects)) == ["sent in", "sent out"]
    ended_well(turn)
    sent = {json.loads(one["args"])["to"]: one for one in turn.all_actions() if one["tool"] == "send"}
    assert {to: one["state"] for to, one in sent.items()} == {"in": "done", "out": "done"}
    assert sent["out"]["decided_by"] is not None
    assert sent["in"]["decided_by"] is None


def test_a_helper_that_asks_about_some_calls_runs_none_that_was_rejected(scene: Scene, effects: Path) -> None:
    calls = [call("a", "send", {"to": "in"}), call("b", "send", {"to": "out"})]
    turn = scene.begin("boss_of_sometimes", part(*calls))
    turn.send(turn.reviews[0], [{"type": "reject", "message": "stay"}])
    assert lines(effects) == ["sent in"]
    ended_well(turn)


# A node that shows one call and runs another.


def test_what_runs_behind_a_question_that_showed_something_else_is_blocked(
    scene: Scene, effects: Path
) -> None:
    turn = scene.begin("shows_one_runs_another", "hello")
    assert card_of(turn)["name"] == "send"
    turn.send(turn.reviews[0], [APPROVE])
    assert lines(effects) == []
    assert "done" not in {one["state"] for one in turn.all_actions()}
    assert turn.events("ExecutionBlocked") != []
