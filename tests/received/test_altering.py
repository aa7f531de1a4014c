"""Middleware that alters, adds or renames arguments after the approval: nothing runs, and it is on record."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from agent.settings import Settings
from tests.received.altering_agents import CHANGES
from tests.received.driving import Scene, Turn, call, scene_of
from tests.received.spelling import spelt
from tests.received.writing import RECEIVED

HERE = "./tests/received/altering_agents.py"
SHOWN = {"recipient": "alice", "amount": 5}


@pytest.fixture(scope="module")
def scene(base_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    graphs = {
        name: f"{HERE}:{name}"
        for name in (*CHANGES, "free_altering", "changed_before", "only_named_otherwise")
    }
    with scene_of(base_settings, tmp_path_factory.mktemp("altering"), graphs) as found:
        yield found


def approved(scene: Scene, kind: str, tool: str = "pay") -> Turn:
    turn = scene.begin(kind, call("c1", tool, SHOWN))
    turn.decide_each(["c1"], {})
    return turn


@pytest.mark.parametrize("change", CHANGES)
def test_a_call_changed_after_its_approval_does_not_run(scene: Scene, change: str) -> None:
    turn = approved(scene, change)
    assert RECEIVED == []
    (action,) = [
        one for one in turn.all_actions() if one["state"] != "rejected" and one["tool_call_id"] == "c1"
    ]
    # Under another id it is another call, which does not run; the approved one is left, and ends with the turn.
    assert action["state"] == ("withdrawn" if change == "other_id" else "blocked")
    assert [one["tool_call_id"] for one in turn.events("ExecutionBlocked")]
    assert turn.events("ExecutionStarted") == []
    assert turn.answer["status"] == "idle", turn.answer.get("error")


@pytest.mark.parametrize("change", ["changed", "added", "renamed"])
def test_an_edit_changed_after_its_approval_does_not_run(scene: Scene, change: str) -> None:
    turn = scene.begin(change, call("c1", "pay", SHOWN))
    turn.decide_each(["c1"], {"c1": {"recipient": "bob", "amount": 6}})
    assert RECEIVED == []
    assert turn.actions("pay")["c1"]["state"] == "blocked"


def test_the_model_is_sent_no_success_for_a_call_that_was_blocked(scene: Scene) -> None:
    turn = approved(scene, "changed")
    assert "pay ran" not in turn.results()["c1"]


def test_a_name_that_changes_on_the_way_lets_nothing_run_but_what_was_approved(scene: Scene) -> None:
    approved(scene, "only_named_otherwise")
    assert [
        (tool, given) for tool, given in RECEIVED if (tool, given) != ("pay", {"to": "alice", "amount": 5})
    ] == []


def test_a_free_call_that_its_agent_changes_is_recorded_as_it_is_received(scene: Scene) -> None:
    turn = scene.begin("free_altering", call("c1", "look", {"text": "this"}))
    recorded = [json.loads(one["args"]) for one in turn.all_actions() if one["state"] == "done"]
    assert [given for _, given in RECEIVED] == recorded


def test_what_an_agent_changes_before_it_asks_is_what_is_shown_and_received(scene: Scene) -> None:
    turn = approved(scene, "changed_before")
    ((_, given),) = RECEIVED
    assert spelt(given) == spelt({"to": "alice", "amount": 500})
    assert turn.shown["c1"] == {"to": "alice", "amount": 500}
    assert json.loads(turn.actions("pay")["c1"]["args"]) == {"to": "alice", "amount": 500}
