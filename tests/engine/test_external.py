"""Agents of another make, driven for real: LangChain's own `create_agent` and plain LangGraph graphs."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig

from agent.bootstrap import Opened, open_console
from agent.console import Console
from agent.engine.scheduling import Precedence
from agent.review.actions import ActionState
from agent.review.errors import InvalidDecision
from agent.review.events import EventKind
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import SetClock, ask, decide, start_deciding, waiting
from tests.engine import external_agents
from tests.engine.external_agents import effects

pytestmark = pytest.mark.usefixtures("looked_through_once")

THREAD = "t-1"
APPROVE = {"type": "approve"}
REJECT = {"type": "reject", "message": "not him"}
HERE = "./tests/engine/external_agents.py"
MAKES = ("batched", "per_call", "async_batched", "async_per_call")
EACH = pytest.mark.parametrize("make", MAKES)
BOTH = pytest.mark.parametrize("make", MAKES[:2])


def call(name: str, tool: str, **args: Any) -> str:
    return f"/call#{name} {tool} {json.dumps(args)}"


def edit(tool: str, **args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": tool, "args": args}}


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    names = (*MAKES, "tool_node", "question", "nested", "no_graph", "broken_factory")
    graphs = {name: f"{HERE}:{name}" for name in names}
    file = tmp_path / "langgraph.json"
    file.write_text(json.dumps({"graphs": graphs}))
    external_agents.EFFECTS.append(tmp_path / "effects")
    yield settings.model_copy(update={"review_agents": file})
    external_agents.EFFECTS.pop()


def status(console: Console) -> Status:
    return console.queries.view(THREAD).thread.status


def states(console: Console) -> dict[str, ActionState]:
    return {action.key.tool_call_id: action.state for action in console.queries.actions(THREAD)}


def begin(console: Console, make: str, *lines: str) -> None:
    ask(console, "\n".join(lines), agent=make, thread_id=THREAD)


def decide_each(console: Console, **decisions: Any) -> None:
    """Decide every action as named, review by review, until nothing waits."""
    while reviews := console.queries.view(THREAD).reviews:
        given = [decisions[action.key.tool_call_id] for action in reviews[0].actions]
        run = console.decide(THREAD, given, by="ana", review_id=reviews[0].review_id)
        assert console.wait(run, 30)


def results(console: Console) -> dict[str | None, str]:
    return {m.tool_call_id: m.content for m in console.queries.history(THREAD, limit=200) if m.type == "tool"}


# What is served.


def test_a_graph_a_factory_and_a_demo_agent_are_all_served(console: Console) -> None:
    assert console.queries.agents() == (*MAKES, "tool_node", "question", "nested")
    assert console.queries.agent("batched").gates_itself


def test_what_is_no_graph_is_reported_and_the_others_are_served(console: Console) -> None:
    assert "neither a compiled graph" in console.queries.broken_agents()["no_graph"].reason
    assert "its key is missing" in console.queries.broken_agents()["broken_factory"].reason


def test_a_graph_beside_the_configuration_is_loaded_from_there(
    settings: Settings, tmp_path: Path, clock: SetClock
) -> None:
    (tmp_path / "mine.py").write_text("from tests.engine.external_agents import batched as graph\n")
    settings.review_agents.write_text('{"graphs": {"mine": {"path": "./mine.py:graph"}}}')
    opened = open_console(settings, clock=clock)
    try:
        assert opened.console.queries.agents() == ("mine",)
    finally:
        opened.close()


def test_one_at_work_holds_up_no_other_run(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    opened.supervisor._precedence = Precedence(patience=3_600)
    entered, go = threading.Event(), threading.Event()

    def held(what: str) -> str:
        entered.set()
        assert go.wait(30)
        return what

    monkeypatch.setattr(external_agents, "did", held)
    begin(opened.console, "batched", call("a", "send", to="a"))
    run = start_deciding(opened.console, THREAD, [APPROVE], by="ana")
    assert entered.wait(30)
    ask(opened.console, "/say Hello.", agent="batched")
    go.set()
    assert opened.console.wait(run, 30)
    assert states(opened.console) == {"a": ActionState.DONE}


# Deciding.


@EACH
def test_each_decision_has_its_own_effect_once(console: Console, make: str) -> None:
    begin(
        console,
        make,
        call("a", "send", to="a"),
        call("e", "send", to="e"),
        call("f", "look", text="f"),
        call("r", "send", to="r"),
        call("p", "send", to="p"),
    )
    decide_each(
        console, a=APPROVE, e=edit("send", to="z", count=2), r=REJECT, p={"type": "respond", "message": "me"}
    )

    assert status(console) is Status.IDLE
    assert sorted(effects()) == ["look f", "send a 1", "send z 2"]
    assert states(console) == {
        "a": ActionState.DONE,
        "e": ActionState.DONE,
        "r": ActionState.REJECTED,
        "p": ActionState.RESPONDED,
        "f": ActionState.DONE,
    }
    assert "not him" in results(console)["r"]
    assert results(console)["p"] == "me"
    assert console.trail.verify().ok


@EACH
def test_several_calls_are_reviewed_as_their_agent_groups_them(console: Console, make: str) -> None:
    begin(console, make, call("a", "send", to="a"), call("b", "send", to="b"))
    found = [
        [action.key.tool_call_id for action in one.actions] for one in console.queries.view(THREAD).reviews
    ]
    assert found == [["a", "b"]] if make.endswith("batched") else sorted(found) == [["a"], ["b"]]


def test_answering_one_of_several_reviews_leaves_the_others(console: Console) -> None:
    begin(console, "per_call", call("a", "send", to="a"), call("b", "send", to="b"))
    first, second = console.queries.view(THREAD).reviews
    decide(console, THREAD, APPROVE, review_id=first.review_id)

    assert [one.review_id for one in console.queries.view(THREAD).reviews] == [second.review_id]
    assert status(console) is Status.WAITING
    assert effects() == [f"send {first.actions[0].key.tool_call_id} 1"]


def test_the_reviewer_sees_what_the_schema_makes_of_the_call(console: Console) -> None:
    begin(console, "batched", call("a", "send", to="a", count="3", cc="x"))
    (action,) = waiting(console, THREAD).actions
    assert action.args == {"to": "a", "count": 3}
    assert action.notes["dropped"] == ["args.cc"]
    assert action.notes["coerced"] == [["args.count", "3", 3]]
    decide_each(console, a=APPROVE)
    assert effects() == ["send a 3"]


def test_arguments_that_no_schema_checks_stand_as_proposed(console: Console) -> None:
    begin(console, "batched", call("a", "shell", command="ls", odd=[1]))
    (action,) = waiting(console, THREAD).actions
    assert action.args == {"command": "ls", "odd": [1]}
    assert action.notes["unchecked"]
    decide_each(console, a=APPROVE)
    assert effects() == ["shell [('command', 'ls'), ('odd', [1])]"]


def test_a_call_that_does_not_fit_is_said_to_and_fails_in_the_tool(console: Console) -> None:
    begin(console, "batched", call("a", "send", count="many"))
    (action,) = waiting(console, THREAD).actions
    assert "to" in action.notes["unfit"]
    decide_each(console, a=APPROVE)
    assert effects() == []
    assert states(console) == {"a": ActionState.FAILED}


def test_the_allowed_decisions_are_the_interrupts_own(console: Console) -> None:
    begin(console, "batched", call("a", "shell", command="ls"))
    (action,) = waiting(console, THREAD).actions
    assert action.allowed == ("approve", "edit", "reject")
    with pytest.raises(InvalidDecision, match="does not allow respond"):
        start_deciding(console, THREAD, [{"type": "respond", "message": "no"}], by="ana")


def test_an_edit_may_go_to_another_tool_where_its_agent_takes_that(console: Console) -> None:
    begin(console, "batched", call("a", "send", to="a"))
    decide_each(console, a=edit("look", text="instead"))
    assert effects() == ["look instead"]


def test_an_edit_to_another_tool_is_refused_where_its_agent_would_refuse_it(console: Console) -> None:
    begin(console, "per_call", call("a", "send", to="a"))
    with pytest.raises(InvalidDecision, match="no edit to 'look'"):
        start_deciding(console, THREAD, [edit("look", text="x")], by="ana")


@EACH
def test_an_edit_that_does_not_fit_is_refused_before_its_agent_sees_it(console: Console, make: str) -> None:
    begin(console, make, call("a", "send", to="a"))
    with pytest.raises(InvalidDecision, match="count"):
        start_deciding(console, THREAD, [edit("send", to="a", count="many")], by="ana")
    decide_each(console, a=APPROVE)
    assert effects() == ["send a 1"]


@EACH
def test_a_tool_that_raises_leaves_the_turn_to_be_tried_again(console: Console, make: str) -> None:
    begin(console, make, call("a", "burst"))
    decide_each(console, a=APPROVE)
    assert status(console) is Status.FAILED
    assert console.wait(console.retry(THREAD, by="ana"), 30)

    assert status(console) is Status.IDLE
    assert effects() == ["burst"]
    assert "it burst" in results(console)["a"]


# What nobody was asked about.


@EACH
def test_what_its_agent_does_not_ask_about_is_on_record_before_it_runs(console: Console, make: str) -> None:
    begin(console, make, call("f", "look", text="f"))
    (action,) = console.queries.actions(THREAD)
    assert (action.tier, action.state) == ("not gated", ActionState.DONE)
    proposed, started = console.trail.events(thread_id=THREAD, tool_call_id="f")[:2]
    assert [proposed.kind, started.kind] == [EventKind.ACTION_PROPOSED, EventKind.EXECUTION_STARTED]
    assert proposed.data
    assert proposed.data["why"] == "Not gated by its agent."
    assert console.trail.proof(action).faults == ()


def test_a_call_id_that_comes_again_is_another_call(console: Console) -> None:
    begin(console, "batched", call("same", "look", text="one"), "/then", call("same", "look", text="two"))
    assert effects() == ["look one", "look two"]


# Other graphs.


def test_a_tool_that_asks_in_its_own_middle_runs_once_it_is_approved(console: Console) -> None:
    begin(console, "tool_node", call("a", "careful", to="a"), call("f", "look", text="f"))
    (action,) = waiting(console, THREAD).actions
    assert (action.tool, action.args) == ("careful", {"to": "a"})
    decide_each(console, a=APPROVE)
    assert status(console) is Status.IDLE
    assert sorted(effects()) == ["careful a", "look f"]
    assert states(console)["a"] is ActionState.DONE


def test_a_tool_that_asks_in_its_own_middle_is_not_entered_again_once_it_is_rejected(
    console: Console,
) -> None:
    begin(console, "tool_node", call("a", "careful", to="a"))
    decide_each(console, a=REJECT)
    assert status(console) is Status.IDLE
    assert effects() == []


def test_a_question_of_another_kind_is_answered_with_a_value_or_text(console: Console) -> None:
    begin(console, "question", "hello")
    (action,) = waiting(console, THREAD).actions
    assert action.args == {"question": {"question": "Which colour?"}}
    assert action.allowed == ("respond",)
    decide_each(console, **{action.key.tool_call_id: {"type": "respond", "value": {"red": 1}}})
    assert console.queries.history(THREAD)[-1].content == "You said {'red': 1}."
    ask(console, "again", thread_id=THREAD)
    decide(console, THREAD, {"type": "respond", "message": "plain words"})
    assert console.queries.history(THREAD)[-1].content == "You said 'plain words'."


def test_a_closed_question_ends_the_turn(console: Console) -> None:
    begin(console, "question", "hello")
    assert console.wait(console.close(THREAD, by="ana"), 30)
    assert status(console) is Status.IDLE
    ask(console, "again", thread_id=THREAD)
    assert status(console) is Status.WAITING


def test_an_agent_inside_the_graph_is_asked_and_answered_too(console: Console) -> None:
    begin(console, "nested", call("a", "send", to="a"), call("f", "look", text="f"))
    (action,) = waiting(console, THREAD).actions
    assert action.key.tool_call_id == "a"
    decide_each(console, a=APPROVE)
    assert sorted(effects()) == ["look f", "send a 1"]
    assert states(console) == {"a": ActionState.DONE, "f": ActionState.DONE}


# Closing and expiring.


@EACH
def test_closing_tells_the_agent_and_lets_the_free_calls_run(console: Console, make: str) -> None:
    begin(console, make, call("a", "send", to="a"), call("f", "look", text="f"))
    assert console.wait(console.close(THREAD, by="ana"), 30)
    assert status(console) is Status.IDLE
    assert effects() == ["look f"]
    assert states(console)["a"] is ActionState.CANCELLED
    assert "closed without a decision" in results(console)["a"]


def test_closing_one_of_several_reviews_asks_about_the_others_anew(console: Console) -> None:
    begin(console, "per_call", call("a", "send", to="a"), call("b", "send", to="b"))
    first, second = console.queries.view(THREAD).reviews
    assert console.wait(console.close(THREAD, by="ana", review_id=first.review_id), 30)

    (again,) = console.queries.view(THREAD).reviews
    assert again.review_id != second.review_id
    assert again.actions[0].key.attempt == 2
    decide(console, THREAD, APPROVE)
    assert effects() == [f"send {again.actions[0].key.tool_call_id} 1"]
    assert status(console) is Status.IDLE


def test_closing_in_a_plain_graph_answers_every_open_call(console: Console) -> None:
    begin(console, "tool_node", call("a", "careful", to="a"), call("b", "careful", to="b"))
    assert console.wait(console.close(THREAD, by="ana", review_id=_oldest(console)), 30)
    assert status(console) is Status.IDLE
    assert console.queries.view(THREAD).reviews == ()
    assert effects() == []
    assert sorted(map(str, results(console))) == ["a", "b"]


def _oldest(console: Console) -> str:
    return console.queries.view(THREAD).reviews[0].review_id


@pytest.mark.parametrize("make", ["batched", "per_call", "tool_node"])
def test_the_model_goes_on_after_an_expiry(console: Console, clock: SetClock, make: str) -> None:
    tool = "careful" if make == "tool_node" else "send"
    begin(console, make, call("a", tool, to="a"), call("b", tool, to="b"))
    clock.move(hours=25)
    console.expire()
    run = console._ledger.last_run(THREAD)
    assert run
    assert console.wait(run, 30)

    assert status(console) is Status.IDLE
    assert console.queries.view(THREAD).reviews == ()
    assert "Nobody decided in time." in results(console)["a"]
    assert "I have not tried again." in console.queries.history(THREAD)[-1].content
    assert effects() == []
    ask(console, "/say still here", thread_id=THREAD)
    assert console.queries.history(THREAD)[-1].content == "still here"


# Storage.


def test_arguments_altered_behind_our_back_do_not_run(opened: Opened, settings: Settings) -> None:
    console = opened.console
    begin(console, "batched", call("a", "send", to="a"))
    graph = external_agents.batched
    saver = elsewhere(settings)
    other = graph.copy(update={"checkpointer": saver})
    place: RunnableConfig = {"configurable": {"thread_id": THREAD}}
    kept = saver.get_tuple(place)
    assert kept
    kept.checkpoint["channel_values"]["messages"][-1].tool_calls[0]["args"] = {"to": "eve"}
    kind, data = saver.serde.dumps_typed(kept.checkpoint)
    with saver.cursor() as cursor:
        cursor.execute(
            "UPDATE checkpoints SET type = ?, checkpoint = ? WHERE checkpoint_id = ?",
            (kind, data, kept.config["configurable"]["checkpoint_id"]),
        )
    assert other.get_state(place).values["messages"][-1].tool_calls[0]["args"] == {"to": "eve"}
    decide_each(console, a=APPROVE)
    assert effects() == []
    assert states(console) == {"a": ActionState.BLOCKED}


def elsewhere(settings: Settings) -> Any:
    from langgraph.checkpoint.sqlite import SqliteSaver

    return SqliteSaver(sqlite3.connect(settings.review_data / "checkpoints.sqlite", check_same_thread=False))


def damage(settings: Settings, sql: str) -> None:
    with sqlite3.connect(settings.review_data / "checkpoints.sqlite") as conn:
        conn.execute(sql, (THREAD,))


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DELETE FROM checkpoints WHERE thread_id = ?", "were deleted"),
        ("UPDATE checkpoints SET checkpoint = x'c1c1' WHERE thread_id = ?", "cannot be read"),
    ],
    ids=["deleted", "damaged"],
)
def test_a_lost_checkpoint_runs_nothing_and_leaves_other_threads_alone(
    console: Console, settings: Settings, sql: str, words: str
) -> None:
    ask(console, call("o", "send", to="o"), agent="batched", thread_id="other")
    begin(console, "batched", call("a", "send", to="a"))
    damage(settings, sql)
    decide(console, THREAD, APPROVE)

    assert status(console) is Status.FAILED
    assert words in (console.queries.view(THREAD).thread.error or "")
    assert "start a new thread" in (console.queries.view(THREAD).thread.error or "")
    decide(console, "other", APPROVE)
    assert effects() == ["send o 1"]
    assert console.trail.verify().ok


def test_a_missing_checkpoint_file_runs_nothing_and_is_said_to_be_lost(
    settings: Settings, clock: SetClock
) -> None:
    first = open_console(settings, clock=clock)
    begin(first.console, "batched", call("a", "send", to="a"))
    first.close()
    for path in settings.review_data.glob("checkpoints.sqlite*"):
        path.unlink()
    second = open_console(settings, clock=clock)
    try:
        decide(second.console, THREAD, APPROVE)
        assert "were deleted" in (second.console.queries.view(THREAD).thread.error or "")
        assert effects() == []
        ask(second.console, call("b", "look", text="b"), agent="batched", thread_id="new")
        assert effects() == ["look b"]
    finally:
        second.close()
