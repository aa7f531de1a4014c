"""What the model is sent of a tool that had acted before it asked, whatever ends it: never that it was not executed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from agent.bootstrap import Opened
from agent.console import Console
from agent.engine.guard import Guard, Stop
from agent.review import tool_messages
from agent.review.actions import ActionState
from agent.review.tool_messages import ENDED_ANSWER, MIDWAY, NEVER_ENDED, NOT_AGAIN, STILL_OPEN
from agent.settings import Settings
from tests.conftest import SetClock, ask, decide, waiting
from tests.console.test_other_clients import Client, not_heeded
from tests.engine import external_agents, midway_agents
from tests.engine.external_agents import effects

pytestmark = pytest.mark.usefixtures("looked_through_once")

THREAD = "t-1"
REASON = "not him"
APPROVE = {"type": "approve"}
REJECT = {"type": "reject", "message": REASON}


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    names = ("boss", "itself", "question", "nested", "batched", "plain_boss")
    file = tmp_path / "langgraph.json"
    file.write_text(
        json.dumps({"graphs": {name: f"./tests/engine/midway_agents.py:{name}" for name in names}})
    )
    external_agents.EFFECTS.append(tmp_path / "effects")
    yield settings.model_copy(update={"review_agents": file})
    external_agents.EFFECTS.pop()


def call(name: str, tool: str, **args: Any) -> str:
    return f"/call#{name} {tool} {json.dumps(args)}"


HELPERS_TURN = "\n".join(
    [call("x", "look", text="first"), "/then", call("y", "send", to="alice"), "/then", "/say inner"]
)
BEGINNINGS = {
    "boss": (call("c", "task", description=HELPERS_TURN), "look first"),
    "itself": (call("c", "publish", text="news"), "prepared news"),
    "question": (call("c", "book", room="blue"), "held blue"),
}
"""What each is asked, and what its tool has done by the time it asks."""


def closed(opened: Opened) -> None:
    assert opened.console.wait(opened.console.close(THREAD, by="ana", reason="later"), 30)


def rejected(opened: Opened) -> None:
    decide(opened.console, THREAD, REJECT)


def rejected_to_the_end(opened: Opened) -> None:
    decide(opened.console, THREAD, REJECT, end_turn=True)


def rejected_without_a_reason(opened: Opened) -> None:
    decide(opened.console, THREAD, {"type": "reject"}, end_turn=True)


def cut_off(opened: Opened) -> None:
    """The run that brings the decision is stopped before the tool is entered again, and somebody says something else."""

    def stop(*_: Any, **__: Any) -> None:
        raise Stop("the line went dead")

    (action,) = waiting(opened.console, THREAD).actions
    answer = APPROVE if "approve" in action.allowed else {"type": "respond", "message": "Monday"}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Guard, "on_tool_start", stop)
        decide(opened.console, THREAD, answer)
    ask(opened.console, "/say anew", thread_id=THREAD)


def expired(opened: Opened) -> None:
    clock = opened.console._clock
    assert isinstance(clock, SetClock)
    clock.move(hours=25)
    opened.console.expire()
    run = opened.console.queries.current_run(THREAD)
    assert run is None or opened.console.wait(run, 30)


End = Callable[[Opened], None]
ENDS: Sequence[tuple[str, End, str]] = [
    ("boss", closed, f"The review was closed without a decision. {MIDWAY} {STILL_OPEN}"),
    ("itself", closed, f"The review was closed without a decision. {MIDWAY} {STILL_OPEN}"),
    ("question", closed, f"The review was closed without a decision. {MIDWAY} {STILL_OPEN}"),
    ("boss", rejected, "inner"),
    ("itself", rejected, f"User rejected this action. {MIDWAY} The user's reason: {REASON}"),
    ("boss", rejected_to_the_end, tool_messages.rejected_within([REASON])),
    ("itself", rejected_to_the_end, f"User rejected this action. {MIDWAY} The user's reason: {REASON}"),
    ("boss", rejected_without_a_reason, tool_messages.rejected_within([])),
    ("itself", rejected_without_a_reason, f"User rejected this action. {MIDWAY} {NOT_AGAIN}"),
    ("boss", cut_off, f"The turn ended before this call came to its end. {MIDWAY}"),
    ("itself", cut_off, f"The turn ended before this call came to its end. {MIDWAY}"),
    ("question", cut_off, f"The turn ended before this call came to its end. {MIDWAY}"),
    ("boss", expired, f"Nobody decided in time. {MIDWAY} Ask again if it is still wanted."),
    ("itself", expired, f"Nobody decided in time. {MIDWAY} Ask again if it is still wanted."),
    ("question", expired, f"Nobody decided in time. {MIDWAY} Ask again if it is still wanted."),
]


def in_the_graph(opened: Opened, name: str) -> dict[str, str]:
    """The results as the agent's own conversation holds them, which is what its model reads."""
    engine: Any = opened.engine
    view = engine.open()._views[name]
    found = view.get_state({"configurable": {"thread_id": THREAD, "checkpoint_ns": ""}}).values["messages"]
    return {one.tool_call_id: str(one.text) for one in found if isinstance(one, ToolMessage)}


def in_the_transcript(console: Console) -> dict[str, str]:
    return {
        str(m.tool_call_id): m.content for m in console.queries.history(THREAD, limit=200) if m.type == "tool"
    }


@pytest.mark.parametrize(("name", "end", "text"), ENDS, ids=[f"{n}-{e.__name__}" for n, e, _ in ENDS])
def test_the_model_reads_what_is_true_of_a_tool_that_had_begun(
    opened: Opened, name: str, end: End, text: str
) -> None:
    said, done = BEGINNINGS[name]
    ask(opened.console, said, agent=name, thread_id=THREAD)
    assert effects() == [done]
    end(opened)
    assert in_the_graph(opened, name)["c"] == text
    assert in_the_transcript(opened.console) == {"c": text}
    last = max(
        (one for one in opened.console.queries.actions(THREAD) if one.tool_call_id == "c"),
        key=lambda one: one.key.attempt,
    )
    assert last.result == text
    assert last.state is not ActionState.SUSPENDED
    assert effects() == [done]
    assert opened.console.trail.verify().ok
    assert opened.console.trail.contradictions(THREAD, "c") == ()


def test_a_helper_that_stands_in_the_graph_itself_leaves_the_reason_in_the_last_words(opened: Opened) -> None:
    ask(opened.console, call("c", "send", to="alice"), agent="nested", thread_id=THREAD)
    rejected_to_the_end(opened)
    assert opened.console.queries.history(THREAD)[-1].content == f"{ENDED_ANSWER} The reason given: {REASON}"


def test_a_tool_that_another_client_took_to_its_end_is_not_left_open_on_record(
    opened: Opened, settings: Settings
) -> None:
    client = Client(settings, midway_agents.boss)
    try:
        ask(opened.console, BEGINNINGS["boss"][0], agent="boss", thread_id=THREAD)
        with not_heeded(opened):
            client.answer({"decisions": [REJECT]})
        opened.console.other_clients.notice()
        run = opened.console.queries.current_run(THREAD)
        assert run is None or opened.console.wait(run, 30)
    finally:
        client.close()
    (outer,) = [one for one in opened.console.queries.actions(THREAD) if one.tool_call_id == "c"]
    assert (outer.state, outer.result) == (ActionState.FAILED, NEVER_ENDED)
    assert in_the_transcript(opened.console)["c"] == "inner"


def test_what_never_began_is_still_said_not_to_have_been_executed(opened: Opened) -> None:
    ask(opened.console, call("c", "send", to="alice"), agent="batched", thread_id=THREAD)
    closed(opened)
    assert in_the_graph(opened, "batched") == {"c": tool_messages.CANCELLED}
    assert effects() == []


def test_a_reason_that_says_not_executed_itself_stays_word_for_word(opened: Opened) -> None:
    reason = "Last time: It was not executed."
    ask(opened.console, BEGINNINGS["itself"][0], agent="itself", thread_id=THREAD)
    decide(opened.console, THREAD, {"type": "reject", "message": reason})
    assert (
        in_the_graph(opened, "itself")["c"]
        == f"User rejected this action. {MIDWAY} The user's reason: {reason}"
    )


def test_the_card_and_the_preview_say_that_it_had_begun(opened: Opened) -> None:
    ask(opened.console, BEGINNINGS["itself"][0], agent="itself", thread_id=THREAD)
    (action,) = waiting(opened.console, THREAD).actions
    assert action.begun
    (one,) = opened.console.preview(THREAD, [REJECT])
    assert one.told == f"User rejected this action. {MIDWAY} The user's reason: {REASON}"


def test_an_answer_that_comes_after_its_tool_could_no_longer_have_started_lets_it_go_on(
    opened: Opened, clock: SetClock
) -> None:
    ask(opened.console, BEGINNINGS["question"][0], agent="question", thread_id=THREAD)
    clock.move(hours=3)
    decide(opened.console, THREAD, {"type": "respond", "message": "Monday"})
    assert effects()[-1] == "booked blue on Monday"


@pytest.mark.parametrize("name", ["boss", "plain_boss"])
@pytest.mark.parametrize(
    ("outcome", "words", "text"),
    [
        ("happened", "inner was done", "inner was done"),
        ("happened", "", tool_messages.HAPPENED),
        ("failed", "half of it", tool_messages.settled_as_failed("half of it")),
        ("ask_again", "", tool_messages.NOT_ASKED_AGAIN),
    ],
)
def test_what_a_person_settles_of_a_tool_that_was_cut_off_in_its_helper_is_what_the_model_reads(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, name: str, outcome: Any, words: str, text: str
) -> None:
    console = opened.console
    ask(console, BEGINNINGS["boss"][0], agent=name, thread_id=THREAD)

    def cut(what: str) -> str:
        raise Stop("the line went dead")

    with monkeypatch.context() as patched:
        patched.setattr(external_agents, "did", cut)
        decide(console, THREAD, APPROVE)
    unknown = [action.tool_call_id for action in console.queries.view(THREAD).unknown]
    assert len(unknown) == 2
    for one in sorted(unknown, key=lambda one: one == "c"):
        run = console.settle(THREAD, one, outcome, by="ana", result=words if one == "c" else "")
    assert run is not None
    assert console.wait(run, 30)
    assert in_the_graph(opened, name)["c"] in (text, tool_messages.ran_before(text))
    assert in_the_transcript(console)["c"] in (text, tool_messages.ran_before(text))
