"""Tools called in their agents' own ways: nothing runs unapproved, and what ran is returned and recorded once."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from agent.settings import Settings
from tests.received.driving import Scene, call, scene_of
from tests.received.spelling import spelt
from tests.received.writing import RECEIVED

HERE = "./tests/received/odd_agents.py"
AGENTS = (
    "threads_in_a_tool",
    "threads_in_a_node",
    "looping",
    "proving",
    "asked_failing",
    "free_failing",
    "asked_garbled",
    "free_garbled",
    "own_garbled",
    "two_of_one_name",
)


@pytest.fixture(scope="module")
def scene(base_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    graphs = {name: f"{HERE}:{name}" for name in AGENTS}
    with scene_of(base_settings, tmp_path_factory.mktemp("odd"), graphs) as found:
        yield found


# Threads of its own.


@pytest.mark.parametrize("tool", ["pay_in_threads", "pay_as_a_call"])
def test_a_tool_that_pays_in_threads_of_its_own_pays_nothing_unapproved(scene: Scene, tool: str) -> None:
    turn = scene.begin("threads_in_a_tool", call("c1", tool, {"amount": 5}))
    turn.approve_all()
    assert len(RECEIVED) == 1
    assert RECEIVED[0] == (tool, {"amount": 5})
    assert turn.actions(tool)["c1"]["state"] == "done"


def test_a_node_that_pays_in_threads_of_its_own_pays_nothing_unapproved(scene: Scene) -> None:
    turn = scene.begin("threads_in_a_node", "hello")
    (card,) = turn.reviews[0]["action_requests"]
    assert card["args"] == {"amount": 5}
    turn.approve_all()
    assert RECEIVED == []
    assert "done" not in {one["state"] for one in turn.all_actions()}


def test_a_tool_that_pays_in_threads_leaves_another_approval_alone(scene: Scene) -> None:
    turn = scene.begin(
        "threads_in_a_tool", call("c0", "pay_in_threads", {"amount": 5}), call("c2", "pay", {"amount": 7})
    )
    turn.approve_all()
    assert sorted(given["amount"] for _, given in RECEIVED) == [5, 7]
    assert turn.actions("pay")["c2"]["state"] == "done"


# One question after the other.


def test_a_node_that_asks_about_each_call_runs_each_once(scene: Scene) -> None:
    people = ["ann", "bob", "cem"]
    turn = scene.begin("looping", *[call(f"c{n}", "send", {"to": to}) for n, to in enumerate(people)])
    turn.approve_all()
    assert turn.answer["status"] == "idle", turn.answer.get("error")
    assert [given["to"] for _, given in RECEIVED] == people
    assert turn.results() == {f"c{n}": f"sent to {to}" for n, to in enumerate(people)}
    done = [json.loads(one["args"])["to"] for one in turn.all_actions() if one["state"] == "done"]
    assert sorted(done) == people


def test_a_node_that_asks_about_each_call_runs_none_that_was_rejected(scene: Scene) -> None:
    turn = scene.begin("looping", call("c0", "send", {"to": "ann"}), call("c1", "send", {"to": "bob"}))
    turn.send(turn.reviews[0], [{"type": "approve"}])
    turn.send(turn.reviews[0], [{"type": "reject"}])
    assert [given["to"] for _, given in RECEIVED] == ["ann"]


def test_a_call_that_is_made_again_after_a_pause_gives_its_whole_first_result(scene: Scene) -> None:
    turn = scene.begin(
        "proving", call("c0", "send_with_proof", {"to": "ann"}), call("c1", "send_and_note", {"to": "bob"})
    )
    approve_each = [{"type": "approve"}]
    turn.send(turn.reviews[0], approve_each)
    turn.send(turn.reviews[0], approve_each)
    turn.send(turn.reviews[0], [{"type": "respond", "message": "yes"}])
    assert [tool for tool, _ in RECEIVED] == ["send_with_proof", "send_and_note"]
    assert turn.answer["status"] == "idle", turn.answer.get("error")
    assert turn.results() == {"c0": "sent to ann", "c1": "noted bob"}
    # The proof's number counts what was really sent, and its instant is of the very type it was.
    assert turn.answer["answer"].startswith("proof {'to': 'ann', 'at': datetime.datetime(2030, 1, 1")
    assert turn.answer["answer"].endswith("'number': 1}")


# Calls that are tried again.


def test_a_call_that_a_person_decided_on_is_not_tried_again(scene: Scene) -> None:
    turn = scene.begin("asked_failing", call("c1", "failing", {"to": "ann"}))
    shown = turn.reviews[0]["action_requests"][0]["received"]
    turn.approve_all()
    assert [given for _, given in RECEIVED] == [shown]
    assert turn.actions("failing")["c1"]["state"] == "failed"
    assert "net down" in turn.results()["c1"]


def test_each_attempt_of_a_free_call_is_recorded_as_it_was_received(scene: Scene) -> None:
    turn = scene.begin("free_failing", call("c1", "failing", {"to": "bob"}))
    recorded = [(one["attempt"], one["state"], json.loads(one["args"])) for one in turn.all_actions()]
    first, second = [given for _, given in RECEIVED]
    assert sorted(recorded, key=lambda one: one[0]) == [(1, "failed", first), (2, "done", second)]
    assert second["nonce"] in turn.results()["c1"]


# Results that no file can hold.


@pytest.mark.parametrize("agent", ["asked_garbled", "free_garbled", "own_garbled"])
def test_half_a_surrogate_pair_in_a_result_is_recorded_and_its_call_runs_once(
    scene: Scene, agent: str
) -> None:
    turn = scene.begin(agent, call("c1", "garbled", {"text": "x"}), "/then", "/say Finished.")
    turn.approve_all()
    assert RECEIVED == [("garbled", {"text": "x"})]
    (action,) = turn.all_actions()
    assert action["state"] == "done"
    assert action["result"].startswith("half a pair: ")
    assert turn.answer["status"] == "idle", turn.answer.get("error")
    result = turn.results()["c1"]
    assert result.startswith("half a pair: ")
    assert "Error" not in result
    assert scene.served.get("/audit/verify").json()["ok"]


# Two tools of one name.


def test_two_tools_of_one_name_each_have_their_own_schema(scene: Scene) -> None:
    plain = scene.begin("two_of_one_name", call("c1", "send", {"to": "ann", "copies": "2"}))
    plain.decide_each(["c1"], {})
    assert spelt(RECEIVED) == spelt([("send_plain", {"to": "ann", "copies": 2})])
    assert plain.shown["c1"] == {"to": "ann", "copies": 2}

    other = scene.begin("two_of_one_name", call("c2", "send", {"recipient": "bob", "bcc": "eve"}))
    other.decide_each(["c2"], {})
    assert spelt(RECEIVED) == spelt([("send_addressed", {"to": "bob", "bcc": "eve"})])
    assert other.shown["c2"] == {"to": "bob", "bcc": "eve"}
    assert json.loads(other.actions("send")["c2"]["args"]) == {"to": "bob", "bcc": "eve"}
