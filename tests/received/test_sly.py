"""Whatever way its code goes round the gate, an agent has no effect that was not shown, and none that is not on record."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from agent.settings import Settings
from tests.received.driving import Scene, call, in_a_task, scene_of
from tests.received.writing import RECEIVED

HERE = "./tests/received/sly_agents.py"
AGENTS = (
    "sly",
    "by_run",
    "by_config",
    "by_batch",
    "looks_then_asks",
    "publishing",
    "free_looks",
    "free_in_turn",
    "odd_results",
    "injected_by_hand",
    "injected",
    "asked_singles",
    "text_by_hand",
    "text_of_a_message",
    "own",
    "one_task",
    "remembering_elsewhere",
    "publishing_then_asking",
)
PAYS_MORE = {"description": call("d1", "pay", {"amount": 999})}


@pytest.fixture(scope="module")
def scene(base_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    graphs = {name: f"{HERE}:{name}" for name in AGENTS}
    with scene_of(base_settings, tmp_path_factory.mktemp("sly"), graphs) as found:
        yield found


# Threads of its own.


@pytest.mark.parametrize("tool", ["pay_by_a_copy", "pay_by_a_copied_class", "pay_in_its_place"])
def test_a_copy_of_a_tool_runs_in_no_thread_of_its_own(scene: Scene, tool: str) -> None:
    turn = scene.begin("sly", call("c1", tool, {"amount": 5}))
    turn.approve_all()
    assert RECEIVED == []
    assert "in a thread of its own" in turn.results()["c1"]


def test_a_helper_in_a_thread_of_its_own_runs_no_tool(scene: Scene) -> None:
    turn = scene.begin("sly", call("c1", "give_to_a_pool", PAYS_MORE))
    turn.approve_all()
    assert RECEIVED == []
    assert "in a thread of its own" in turn.results()["c1"]


@pytest.mark.parametrize(
    ("tool", "args"),
    [("give_to_a_pool", PAYS_MORE), ("give", PAYS_MORE), ("pay_by_a_copy", {"amount": 5})],
)
def test_a_tool_of_an_agent_of_ours_uses_no_tool_that_its_policy_denies(
    scene: Scene, tool: str, args: dict[str, object]
) -> None:
    turn = scene.begin("own", call("c1", tool, args))
    turn.approve_all()
    assert RECEIVED == []


# Calls by hand.


@pytest.mark.parametrize("agent", ["by_run", "by_config", "by_batch"])
def test_a_node_that_showed_one_call_runs_no_other_however_it_calls_it(scene: Scene, agent: str) -> None:
    turn = scene.begin(agent, "hello")
    turn.approve_all()
    assert RECEIVED == []
    assert "blocked" in {one["state"] for one in turn.all_actions()}


def test_a_node_is_given_again_what_it_had_looked_up_before_it_asked(scene: Scene) -> None:
    turn = scene.begin("looks_then_asks", "hello")
    turn.approve_all()
    assert RECEIVED == [("look", {"text": "price"}), ("pay", {"amount": 5})]
    assert turn.answer["answer"] == "seen price, paid 5"


def test_a_tool_is_given_again_what_it_had_looked_up_before_it_asked(scene: Scene) -> None:
    turn = scene.begin("publishing", call("c1", "publish", {"text": "x"}))
    turn.approve_all()
    assert RECEIVED == [("look", {"text": "x"}), ("publish", {"text": "x: seen x"})]
    assert turn.results()["c1"] == "published x: seen x"


def test_a_text_that_a_node_hands_over_without_a_name_is_received_as_it_was_shown(scene: Scene) -> None:
    turn = scene.begin("text_by_hand", call("c1", "whatever", {"text": " x "}))
    assert turn.reviews[0]["action_requests"][0]["received"] == {"text": "x"}
    turn.approve_all()
    assert RECEIVED == [("whatever", {"args": ["x"]})]


def test_a_messages_own_text_can_be_given_to_a_tool(scene: Scene) -> None:
    turn = scene.begin("text_of_a_message", "hello")
    assert RECEIVED == [("look", {"text": "hello"})]
    assert turn.answer["answer"] == "seen hello"


# Ids that repeat in one message.


@pytest.mark.parametrize("agent", ["free_looks", "free_in_turn"])
def test_of_two_calls_of_one_id_each_is_told_what_became_of_it(scene: Scene, agent: str) -> None:
    turn = scene.begin(agent, call("c1", "look", {"text": "a"}), call("c1", "look", {"text": "b"}))
    assert turn.answer["status"] == "idle"
    ((_, ran),) = RECEIVED
    (event,) = turn.events("ExecutionBlocked")
    assert {ran["text"], event["data"]["args"]["text"]} == {"a", "b"}
    assert json.loads(turn.actions("look")["c1"]["args"]) == ran
    assert "This one was not executed." in turn.answer["answer"]  # which tells all that the model was sent


# Results that are hard to record.


@pytest.mark.parametrize("kind", ["command", "unprintable", "deep", "holds itself", "with proof"])
def test_a_call_that_was_run_is_done_whatever_it_returned(scene: Scene, kind: str) -> None:
    turn = scene.begin("odd_results", call("c1", "odd_result", {"kind": kind}))
    assert len(RECEIVED) == 1
    assert turn.answer["status"] == "idle"
    (action,) = turn.all_actions()
    assert action["state"] == "done"
    assert action["result"] == turn.results()["c1"]
    assert "Error" not in action["result"]
    assert scene.served.get("/audit/verify").json()["ok"]


# Arguments that the agent's own code gives.


@pytest.mark.parametrize("agent", ["injected", "injected_by_hand"])
def test_a_model_gives_no_argument_that_only_its_agents_code_gives(scene: Scene, agent: str) -> None:
    turn = scene.begin(agent, call("c1", "pay_from", {"amount": 5, "account": "mallory"}))
    turn.approve_all()
    assert ("pay_from", {"amount": 5, "account": "mallory"}) not in RECEIVED
    (action,) = turn.all_actions()
    assert (action["state"] == "done") == bool(RECEIVED)


# Tools that take one text.


@pytest.mark.parametrize(
    ("tool", "key", "received"),
    [
        ("single", "text", {"tool_input": " x "}),
        ("single", "__arg1", {"tool_input": " x "}),
        ("single_stripped", "text", {"text": "x"}),
    ],
)
def test_a_tool_that_takes_one_text_receives_what_was_shown(
    scene: Scene, tool: str, key: str, received: dict[str, str]
) -> None:
    turn = scene.begin("asked_singles", call("c1", tool, {key: " x "}))
    turn.decide_each(["c1"], {})
    assert turn.shown["c1"] == received
    (text,) = received.values()
    expected = (tool, {"text": text})
    assert [expected] == RECEIVED
    assert json.loads(turn.actions(tool)["c1"]["args"]) == received


# Several calls in one task.


def test_helpers_of_one_tool_node_each_get_their_own_result(scene: Scene) -> None:
    for _ in range(5):
        turn = scene.begin(
            "one_task",
            "remembering_elsewhere",
            "publishing_then_asking",
            *[
                in_a_task(call("c1", "pay", {"amount": n}), "/then", f"/say paid for {n}", call_id=f"t{n}")
                for n in (1, 2, 3)
            ],
        )
        turn.approve_all()
        assert sorted(given["amount"] for _, given in RECEIVED) == [1, 2, 3]
        assert turn.results() == {f"t{n}": f"paid for {n}" for n in (1, 2, 3)}
        assert {one["state"] for one in turn.all_actions()} == {"done"}


def test_tools_of_one_tool_node_that_ask_each_get_their_own_answer(scene: Scene) -> None:
    for _ in range(5):
        turn = scene.begin(
            "one_task", *[call(f"c{n}", "publish_if", {"text": f"text {n}"}) for n in range(4)]
        )
        shown = {}
        while turn.reviews:
            (card,) = turn.reviews[0]["action_requests"]
            kind = "approve" if card["args"]["text"] in ("text 1", "text 3") else "reject"
            shown[card["args"]["text"]] = kind
            turn.send(turn.reviews[0], [{"type": kind}])
        assert sorted(given["text"] for _, given in RECEIVED) == ["text 1", "text 3"]


def test_a_question_behind_tools_that_asked_gets_its_own_answer(scene: Scene) -> None:
    calls = [call(f"c{n}", "publish_if", {"text": f"text {n}"}) for n in range(2)]
    turn = scene.begin("publishing_then_asking", *calls)
    turn.send(turn.reviews[0], [{"type": "reject"}])
    turn.send(turn.reviews[0], [{"type": "approve"}])
    turn.send(turn.reviews[0], [{"type": "respond", "message": "Monday"}])
    assert RECEIVED == [("publish_if", {"text": "text 1"})]
    assert turn.answer["answer"] == "on Monday"


def test_a_helper_that_keeps_its_messages_elsewhere_is_not_taken_for_the_call_around_it(scene: Scene) -> None:
    turn = scene.begin("remembering_elsewhere", call("c1", "remember", {"text": "x"}))
    for call_id in ("c2", "c3"):
        scene.post(
            "/chat",
            message=call(call_id, "remember", {"text": "x"}),
            thread_id=turn.thread_id,
            agent="remembering_elsewhere",
        )
    assert RECEIVED == [("remember", {"text": "x"}), ("look", {"text": "x"})] * 3
    assert set(turn.results().values()) == {"it has seen x"}
