"""One agent of each kind of graph that people have, run as it is and driven over HTTP to its far end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.kinds.conftest import lines
from tests.received.driving import Scene, Turn, call

AGENTS = (
    *("async_node", "async_tool", "mcp_like"),
    *("dict_message", "tuple_message", "string_message"),
    *("static_before", "legacy_object", "fan_out", "yes_or_no", "customer_number", "choices"),
    *("nested", "spending", "routing"),
    *("further_input", "no_messages", "custom_stream"),
)
APPROVE = {"type": "approve"}


def ended_well(turn: Turn, answer: str | None = None) -> None:
    """The thread is idle with nothing left open, the transcript ends in this answer, and the record verifies."""
    thread = turn.scene.served.get(f"/threads/{turn.thread_id}").json()
    assert (thread["status"], thread["pending_reviews"]) == ("idle", []), thread.get("error")
    if answer is not None:
        assert thread["messages"][-1]["content"] == answer
        assert thread["answer"] == answer
    left = {one["state"] for one in turn.all_actions()} & {"unknown", "executing", "suspended", "pending"}
    assert left == set()
    assert turn.scene.served.get("/audit/verify").json()["ok"]


def card_of(turn: Turn) -> dict[str, Any]:
    cards: list[dict[str, Any]] = turn.reviews[0]["action_requests"]
    (card,) = cards
    return card


# Asynchronous nodes and tools.


def test_an_asynchronous_node_answers(scene: Scene) -> None:
    ended_well(scene.begin("async_node", "hello"), "from an async node")


@pytest.mark.parametrize("agent", ["async_tool", "mcp_like"])
def test_an_asynchronous_tool_runs_once_after_its_approval(scene: Scene, effects: Path, agent: str) -> None:
    turn = scene.begin(agent, call("c1", "asend", {"to": "alice"}))
    assert card_of(turn)["args"] == {"to": "alice"}
    assert lines(effects) == []
    turn.send(turn.reviews[0], [APPROVE])
    assert lines(effects) == ["sent alice"]
    ended_well(turn)
    assert turn.results()["c1"] == "sent alice"
    assert len(turn.events("ExecutionStarted")) == 1


@pytest.mark.parametrize("agent", ["async_tool", "mcp_like"])
def test_an_asynchronous_tool_runs_with_the_edit_and_never_after_a_rejection(
    scene: Scene, effects: Path, agent: str
) -> None:
    turn = scene.begin(agent, call("c1", "asend", {"to": "a"}), call("c2", "asend", {"to": "b"}))
    edited = {"type": "edit", "edited_action": {"name": "asend", "args": {"to": "z"}}}
    turn.send(turn.reviews[0], [edited, {"type": "reject", "message": "no"}])
    assert lines(effects) == ["sent z"]
    ended_well(turn)


# Messages in any form.


@pytest.mark.parametrize(
    ("agent", "text"),
    [("dict_message", "a dict"), ("tuple_message", "a tuple"), ("string_message", "a string")],
)
def test_a_message_in_any_form_stands_in_the_conversation_and_on_record(
    scene: Scene, agent: str, text: str
) -> None:
    turn = scene.begin(agent, "hello")
    thread = scene.served.get(f"/threads/{turn.thread_id}").json()
    assert [one["content"] for one in thread["messages"]] == ["hello", text]
    assert turn.answer["status"] == "idle"


# A static breakpoint.


def test_a_static_breakpoint_is_a_review_of_the_calls_that_wait(scene: Scene, effects: Path) -> None:
    turn = scene.begin("static_before", call("c1", "send", {"to": "alice"}))
    assert turn.answer["status"] == "waiting"
    assert (card_of(turn)["name"], card_of(turn)["args"]) == ("send", {"to": "alice"})
    assert lines(effects) == []
    turn.send(turn.reviews[0], [APPROVE])
    assert lines(effects) == ["sent alice"]
    ended_well(turn)
    (action,) = turn.all_actions()
    assert (action["state"], action["decided_by"] is not None) == ("done", True)
    assert turn.results() == {"c1": "sent alice"}


def test_what_is_edited_and_rejected_at_a_breakpoint_changes_the_calls_first(
    scene: Scene, effects: Path
) -> None:
    turn = scene.begin(
        "static_before",
        call("c1", "send", {"to": "a"}),
        call("c2", "send", {"to": "b"}),
        call("c3", "send", {"to": "c"}),
    )
    edited = {"type": "edit", "edited_action": {"name": "send", "args": {"to": "z"}}}
    turn.send(turn.reviews[0], [APPROVE, edited, {"type": "reject", "message": "not c"}])
    assert sorted(lines(effects)) == ["sent a", "sent z"]
    ended_well(turn)
    assert "not c" in turn.results()["c3"]
    states = {one["tool_call_id"]: one["state"] for one in turn.all_actions()}
    assert states == {"c1": "done", "c2": "done", "c3": "rejected"}


def test_a_breakpoint_that_is_rejected_or_closed_runs_nothing(scene: Scene, effects: Path) -> None:
    turn = scene.begin("static_before", call("c1", "send", {"to": "a"}))
    turn.send(turn.reviews[0], [{"type": "reject", "message": "no"}])
    ended_well(turn)
    turn = scene.begin("static_before", call("c1", "send", {"to": "a"}))
    turn.answer = scene.post("/close", thread_id=turn.thread_id)
    ended_well(turn)
    assert lines(effects) == []


# Questions.


def test_a_legacy_request_outside_of_a_list_is_answered_outside_of_one(scene: Scene) -> None:
    turn = scene.begin("legacy_object", "hello")
    turn.send(turn.reviews[0], [APPROVE])
    ended_well(turn, "accept")


def test_several_questions_of_one_turn_come_in_the_order_of_their_calls(scene: Scene) -> None:
    turn = scene.begin("fan_out", "hello")
    asked = [one["action_requests"][0]["args"]["question"] for one in turn.reviews]
    assert asked == [{"approve item": n} for n in range(4)]
    while turn.reviews:
        turn.send(turn.reviews[0], [{"type": "respond", "message": "ok"}])
    ended_well(turn)


@pytest.mark.parametrize(("value", "answer"), [(False, "stopped"), (True, "went on"), (None, "stopped")])
def test_yes_and_no_are_sent_as_what_they_are(scene: Scene, value: Any, answer: str) -> None:
    turn = scene.begin("yes_or_no", "hello")
    decision = {"type": "respond", "value": value}
    about = {"thread_id": turn.thread_id, "review_id": turn.reviews[0]["review_id"]}
    assert scene.post("/preview", decisions=[decision], **about)["actions"][0]["sends"] == value
    turn.send(turn.reviews[0], [decision])
    ended_well(turn, answer)


@pytest.mark.parametrize("text", ["12345", "no", "true", '{"a": 1}', " 1_000 "])
def test_text_is_sent_as_text(scene: Scene, text: str) -> None:
    turn = scene.begin("customer_number", "hello")
    decision = {"type": "respond", "message": text}
    about = {"thread_id": turn.thread_id, "review_id": turn.reviews[0]["review_id"]}
    assert scene.post("/preview", decisions=[decision], **about)["actions"][0]["sends"] == text
    turn.send(turn.reviews[0], [decision])
    ended_well(turn, f"number {text.strip()}")


def test_a_question_with_choices_offers_them(scene: Scene) -> None:
    turn = scene.begin("choices", "hello")
    offered = [{"label": "red", "value": "red"}, {"label": "blue", "value": "blue"}]
    assert card_of(turn)["choices"] == offered
    turn.send(turn.reviews[0], [{"type": "respond", "value": "blue"}])
    ended_well(turn, "blue")
    turn = scene.begin("choices", "hello")
    turn.send(turn.reviews[0], [{"type": "respond", "message": "green"}])
    ended_well(turn, "green")


# What ends or goes on from somewhere inside.


def test_closing_what_a_helper_asks_tells_the_helper_and_ends_the_turn(scene: Scene, effects: Path) -> None:
    turn = scene.begin("nested", call("c1", "send", {"to": "alice"}))
    turn.answer = scene.post("/close", thread_id=turn.thread_id)
    assert lines(effects) == []
    ended_well(turn, "The helper is done.")
    helper = [one for one in messages(turn) if one["type"] == "tool"]
    assert "closed without a decision" in helper[0]["content"]


def test_a_turn_that_ends_inside_a_helper_brings_up_what_it_did(scene: Scene, effects: Path) -> None:
    turn = scene.begin(
        "nested",
        call("b", "book_hotel", {"hotel": "M"}),
        "/then",
        "/say Now I ask.",
        call("c1", "send", {"to": "alice"}),
    )
    assert lines(effects) == ["booked M"]
    about = {"thread_id": turn.thread_id, "review_id": turn.reviews[0]["review_id"]}
    turn.answer = scene.post("/review", decisions=[{"type": "reject"}], end_turn=True, **about)
    ended_well(turn)
    assert turn.answer["answer"].startswith("I stopped here")
    held = in_the_graph(scene, "nested", turn.thread_id)
    assert "booked M" in held
    assert "Now I ask." in held
    turn.answer = scene.post("/chat", thread_id=turn.thread_id, message=call("c2", "send", {"to": "bob"}))
    turn.send(turn.reviews[0], [APPROVE])
    assert lines(effects) == ["booked M", "sent bob"]
    ended_well(turn, "The helper is done.")


def in_the_graph(scene: Scene, agent: str, thread_id: str) -> list[str]:
    """What the agent's own conversation holds, which is what its model reads."""
    engine: Any = scene.opened.engine
    view = engine.open()._views[agent]
    found = view.get_state({"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}).values["messages"]
    return [str(one.text) for one in found]


def test_a_helpers_words_are_on_record_while_its_question_waits(scene: Scene) -> None:
    turn = scene.begin("nested", "/say I shall ask.", call("c1", "send", {"to": "alice"}))
    assert "I shall ask." in [one["content"] for one in messages(turn)]
    turn.send(turn.reviews[0], [APPROVE])
    ended_well(turn, "The helper is done.")
    said = [one["content"] for one in messages(turn)]
    assert len(said) == len(set(said))


def test_what_a_turn_had_done_by_a_closed_question_reaches_the_state(scene: Scene, effects: Path) -> None:
    turn = scene.begin(
        "spending", call("c1", "spend", {"amount": 5}), call("c2", "ask", {"question": "sure?"})
    )
    assert lines(effects) == ["spent 5"]
    turn.answer = scene.post("/close", thread_id=turn.thread_id)
    ended_well(turn)
    turn.answer = scene.post("/chat", thread_id=turn.thread_id, message=call("c3", "total", {}))
    ended_well(turn)
    assert turn.results()["c3"] == "5"
    assert lines(effects) == ["spent 5"]


def test_trying_again_runs_the_router_that_failed(scene: Scene) -> None:
    turn = scene.begin("routing", "hello")
    assert turn.answer["status"] == "failed"
    turn.answer = scene.post("/retry", thread_id=turn.thread_id)
    ended_well(turn, "down")


def messages(turn: Turn) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = turn.scene.served.get(f"/threads/{turn.thread_id}").json()["messages"]
    return found


# What goes in beyond messages, and what comes out.


def test_further_input_goes_in_with_the_message(scene: Scene) -> None:
    turn = scene.begin_with("further_input", message="hello", input={"email": "a@b.c"})
    ended_well(turn, "a@b.c")


def test_an_agent_without_messages_takes_input_and_gives_its_output(scene: Scene) -> None:
    turn = scene.begin_with("no_messages", input={"question": "why"})
    thread = scene.served.get(f"/threads/{turn.thread_id}").json()
    assert thread["status"] == "idle"
    assert thread["output"] == {"question": "why", "answer": "WHY"}


def test_what_a_graph_streams_of_its_own_is_shown_as_progress(scene: Scene) -> None:
    body = {"message": "hello", "agent": "custom_stream", "thread_id": "t-custom"}
    accept = {"Accept": "text/event-stream"}
    with scene.served.client.stream("POST", "/chat", json=body, headers=accept) as answer:
        text = "".join(answer.iter_text())
    assert 'event: progress\ndata: {"data": {"progress": "half"}}' in text


# Calls that cannot be read.


def test_a_call_whose_arguments_cannot_be_read_is_refused_with_its_raw_text(
    scene: Scene, effects: Path
) -> None:
    turn = scene.begin("static_before", "/call#c1 send {to: alice")
    assert lines(effects) == []
    (action,) = turn.all_actions()
    assert (action["tool_call_id"], action["state"]) == ("c1", "refused")
    assert "{to: alice" in action["proposed"]
    assert turn.answer["status"] == "idle"
