"""Another client answers behind the console's back: rightly, wrongly, or in the same moment as a reviewer."""

from __future__ import annotations

import contextlib
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from agent.bootstrap import Opened
from agent.console import Console
from agent.review.actions import ActionState, ReviewState
from agent.review.errors import NothingToAskAgain, ReviewPending, ThreadStuck
from agent.review.events import EventKind
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import ask, decide, start_deciding, until, waiting
from tests.engine import external_agents
from tests.engine.external_agents import effects
from tests.engine.test_external import (
    APPROVE,
    BOTH,
    REJECT,
    THREAD,
    begin,
    call,
    decide_each,
    results,
    settings,
    states,
    status,
)

__all__ = ["settings"]

pytestmark = pytest.mark.usefixtures("looked_through_once")
STUCK_BY = pytest.mark.parametrize(
    "answer",
    [{"decisions": []}, {"decisions": [{"type": "nonsense"}]}, {}, "yes", [1], None, 3],
    ids=["none", "unknown type", "empty", "text", "list", "null", "number"],
)


class Client:
    """Another client of the same checkpoint file, with nothing of ours in it."""

    def __init__(self, settings: Settings, graph: Any) -> None:
        path = settings.review_data / "checkpoints.sqlite"
        self._conn = sqlite3.connect(path, check_same_thread=False)
        self.graph = graph.copy(update={"checkpointer": SqliteSaver(self._conn)})
        self.config: Any = {"configurable": {"thread_id": THREAD}}

    def waiting(self) -> list[str]:
        return [interrupt.id for interrupt in self.graph.get_state(self.config).interrupts]

    def answer(self, value: Any, interrupt_id: str | None = None) -> None:
        """Answer as a client that checks nothing does; what the agent makes of it is its own affair."""
        resume = {interrupt_id or self.waiting()[0]: value}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Whatever it fails of, it has failed for that client too.
            with contextlib.suppress(Exception):
                self.graph.invoke(Command(resume=resume), self.config)

    def say(self, text: str) -> None:
        self.graph.invoke({"messages": [{"role": "user", "content": text}]}, self.config)

    def close(self) -> None:
        self._conn.close()


@pytest.fixture
def client(opened: Opened, settings: Settings) -> Iterator[Client]:
    found = Client(settings, external_agents.batched)
    yield found
    found.close()


@contextmanager
def not_heeded(opened: Opened) -> Iterator[None]:
    """Keep the sweep from noticing anything meanwhile."""
    kept = opened.supervisor._sweeps[:]
    opened.supervisor._sweeps.clear()
    try:
        yield
    finally:
        opened.supervisor._sweeps.extend(kept)


@pytest.fixture
def unheeded(opened: Opened) -> Iterator[None]:
    with not_heeded(opened):
        yield


def kinds(console: Console) -> list[EventKind]:
    return [event.kind for event in console.trail.events(thread_id=THREAD)]


# Answered by somebody else.


def test_a_review_that_was_answered_elsewhere_is_superseded(console: Console, client: Client) -> None:
    begin(console, "batched", call("a", "send", to="a"))
    review = waiting(console, THREAD)
    client.answer({"decisions": [APPROVE]})
    until(lambda: status(console) is Status.IDLE)

    ended = console.queries.review(review.review_id)
    assert ended
    assert ended.state is ReviewState.SUPERSEDED
    assert states(console) == {"a": ActionState.SUPERSEDED}
    assert EventKind.REVIEW_SUPERSEDED in kinds(console)
    assert EventKind.EXECUTION_STARTED not in kinds(console), "the other client ran it, not this console"
    assert results(console)["a"] == "did send a 1"
    assert console.trail.verify().ok


def test_what_the_other_client_came_to_next_waits_here(console: Console, client: Client) -> None:
    begin(console, "batched", call("a", "send", to="a"), "/then", call("b", "send", to="b"))
    client.answer({"decisions": [APPROVE]})
    until(lambda: status(console) is Status.WAITING and states(console).get("b") is ActionState.PENDING)
    decide(console, THREAD, APPROVE)

    assert effects() == ["send a 1", "send b 1"]
    assert states(console) == {"a": ActionState.SUPERSEDED, "b": ActionState.DONE}
    assert status(console) is Status.IDLE


@pytest.mark.usefixtures("unheeded")
def test_a_decision_that_comes_after_anothers_claims_nothing_of_what_that_ran(
    console: Console, client: Client
) -> None:
    begin(console, "batched", call("a", "send", to="a"))
    client.answer({"decisions": [{"type": "edit", "edited_action": {"name": "send", "args": {"to": "z"}}}]})
    decide(console, THREAD, APPROVE)

    assert effects() == ["send z 1"]
    assert states(console) == {"a": ActionState.WITHDRAWN}
    assert {EventKind.DECISION_MADE, EventKind.REVIEW_SUPERSEDED, EventKind.ACTION_WITHDRAWN} <= set(
        kinds(console)
    )
    assert EventKind.EXECUTION_STARTED not in kinds(console)
    assert status(console) is Status.IDLE
    assert console.queries.history(THREAD)[-1].type == "ai"


@pytest.mark.usefixtures("unheeded")
def test_one_of_several_reviews_answered_elsewhere_leaves_the_others(
    opened: Opened, settings: Settings
) -> None:
    console, client = opened.console, Client(settings, external_agents.per_call)
    begin(console, "per_call", call("a", "send", to="a"), call("b", "send", to="b"))
    first, second = console.queries.view(THREAD).reviews
    client.answer(APPROVE, first.review_id)
    console.other_clients.notice()
    until(lambda: status(console) is Status.WAITING)

    assert [one.review_id for one in console.queries.view(THREAD).reviews] == [second.review_id]
    decide(console, THREAD, REJECT)
    assert effects() == [f"send {first.actions[0].key.tool_call_id} 1"]
    assert status(console) is Status.IDLE
    client.close()


def test_a_message_over_a_question_asked_elsewhere_puts_that_question_on_record(
    console: Console, client: Client
) -> None:
    begin(console, "batched", "/say hello")
    client.say(call("a", "send", to="a"))
    with pytest.raises(ReviewPending):
        console.send("/say hello", by="ana", thread_id=THREAD)
    until(lambda: console.queries.view(THREAD).reviews)
    decide_each(console, a=APPROVE)
    assert effects() == ["send a 1"]


def test_a_turn_that_another_client_left_in_its_middle_can_be_gone_on_with(
    console: Console, client: Client
) -> None:
    begin(console, "batched", call("a", "send", to="a"), call("f", "look", text="f"))
    client.graph.interrupt_before_nodes = ["tools"]
    client.answer({"decisions": [APPROVE]})
    until(lambda: status(console) is Status.STOPPED)
    assert "Another client went on" in (console.queries.view(THREAD).thread.error or "")
    assert console.wait(console.retry(THREAD, by="ana"), 30)

    assert status(console) is Status.IDLE
    assert effects() == ["look f"], "nobody here approved the other call"
    assert states(console)["a"] is ActionState.SUPERSEDED


# Answered wrongly.


@STUCK_BY
def test_a_malformed_answer_from_elsewhere_shows_as_stuck(
    console: Console, client: Client, answer: Any
) -> None:
    begin(console, "batched", call("a", "send", to="a"))
    client.answer(answer)
    if not console._engine.look("batched", THREAD).stuck:
        pytest.skip("the agent took this for no answer at all")
    until(lambda: status(console) is Status.STUCK)
    assert EventKind.THREAD_STUCK in kinds(console)
    attempts: list[Callable[[], object]] = [
        lambda: console.send("hello", by="ana", thread_id=THREAD),
        lambda: start_deciding(console, THREAD, [APPROVE], by="ana"),
    ]
    for attempt in attempts:
        with pytest.raises(ThreadStuck):
            attempt()


def test_a_stuck_thread_is_asked_about_again_and_runs_once(console: Console, client: Client) -> None:
    begin(console, "batched", call("a", "send", to="a"), call("f", "look", text="f"))
    before = waiting(console, THREAD)
    client.answer({"decisions": []})
    until(lambda: status(console) is Status.STUCK)
    assert console.wait(console.ask_again(THREAD, by="ana"), 30)

    after = waiting(console, THREAD)
    assert after.review_id != before.review_id
    assert [one.key.attempt for one in after.actions] == [2]
    ended = console.queries.review(before.review_id)
    assert ended
    assert ended.state is ReviewState.SUPERSEDED
    assert [one.state for one in ended.actions] == [ActionState.SUPERSEDED]
    decide(console, THREAD, APPROVE)
    assert sorted(effects()) == ["look f", "send a 1"]
    assert status(console) is Status.IDLE
    assert console.trail.verify().ok


def test_a_stuck_thread_can_be_closed(console: Console, client: Client) -> None:
    begin(console, "batched", call("a", "send", to="a"), call("f", "look", text="f"))
    client.answer({"decisions": []})
    until(lambda: status(console) is Status.STUCK)
    assert console.wait(console.close(THREAD, by="ana"), 30)

    assert status(console) is Status.IDLE
    assert effects() == []
    assert states(console)["a"] is ActionState.CANCELLED
    assert {name: "closed without a decision" in text for name, text in results(console).items()} == {
        "a": True,
        "f": True,
    }
    ask(console, "/say still here", thread_id=THREAD)
    assert console.queries.history(THREAD)[-1].content == "still here"


@pytest.mark.usefixtures("unheeded")
def test_a_decision_on_a_thread_that_has_just_been_stuck_runs_nothing(
    console: Console, client: Client
) -> None:
    begin(console, "batched", call("a", "send", to="a"))
    client.answer({"decisions": []})
    decide(console, THREAD, APPROVE)

    assert effects() == []
    assert status(console) is Status.STUCK
    assert states(console) == {"a": ActionState.WITHDRAWN}
    assert console.wait(console.ask_again(THREAD, by="ana"), 30)
    decide(console, THREAD, APPROVE)
    assert effects() == ["send a 1"]


def test_a_bad_answer_that_was_not_saved_can_still_be_answered(opened: Opened, settings: Settings) -> None:
    console, client = opened.console, Client(settings, external_agents.per_call)
    begin(console, "per_call", call("a", "send", to="a"))
    client.answer({"type": "nonsense"})
    console.other_clients.notice()
    assert status(console) is Status.WAITING
    decide(console, THREAD, APPROVE)
    assert effects() == ["send a 1"]
    client.close()


def test_an_agent_inside_the_graph_that_is_stuck_is_asked_again(opened: Opened, settings: Settings) -> None:
    console, client = opened.console, Client(settings, external_agents.nested())
    begin(console, "nested", call("a", "send", to="a"))
    client.answer({"decisions": []})
    until(lambda: status(console) is Status.STUCK)
    assert console.wait(console.ask_again(THREAD, by="ana"), 30)
    decide(console, THREAD, APPROVE)
    assert effects() == ["send a 1"]
    client.close()


@BOTH
def test_a_thread_that_is_not_stuck_has_nothing_to_ask_again(console: Console, make: str) -> None:
    begin(console, make, call("a", "send", to="a"))
    with pytest.raises(NothingToAskAgain):
        console.ask_again(THREAD, by="ana")
