"""Graphs with parts that are only asynchronous: the same promises as for all others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.console import Console
from agent.engine.asynchronous import is_only_asynchronous
from agent.review.actions import ActionState
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import ask, waiting
from tests.engine import async_agents, external_agents
from tests.engine.external_agents import effects
from tests.engine.test_external import THREAD, begin, call, results, states, status

NAMES = ("ordered", "impatient", "with_middleware", "routed", "synchronous")


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    file = tmp_path / "langgraph.json"
    file.write_text(
        json.dumps({"graphs": {name: f"./tests/engine/async_agents.py:{name}" for name in NAMES}})
    )
    external_agents.EFFECTS.append(tmp_path / "effects")
    yield settings.model_copy(update={"review_agents": file})
    external_agents.EFFECTS.pop()


def test_only_what_needs_an_event_loop_gets_one() -> None:
    found = {name: is_only_asynchronous(getattr(async_agents, name)) for name in NAMES}
    assert found == {name: name != "synchronous" for name in NAMES}


def test_the_calls_of_one_tool_node_run_in_the_order_of_the_model(console: Console) -> None:
    begin(console, "ordered", call("a", "slow", text="1"), call("b", "quick", text="2"))
    assert effects() == ["slow 1", "quick 2"]
    assert states(console) == {"a": ActionState.DONE, "b": ActionState.DONE}


def test_what_ran_before_a_question_runs_once_and_what_comes_behind_it_waits(console: Console) -> None:
    begin(
        console,
        "ordered",
        call("a", "quick", text="1"),
        call("q", "question", text="Go on?"),
        call("b", "quick", text="2"),
    )
    assert effects() == ["quick 1"]
    review = waiting(console, THREAD)
    run = console.decide(
        THREAD, [{"type": "respond", "message": "yes"}], by="ana", review_id=review.review_id
    )
    assert console.wait(run, 30)
    assert effects() == ["quick 1", "quick 2"]
    assert results(console)["q"] == "yes"
    assert status(console) is Status.IDLE


def test_a_tool_that_is_cancelled_in_its_middle_has_an_unknown_outcome(console: Console) -> None:
    begin(console, "impatient", call("a", "stuck", text="1"))
    assert effects() == ["began 1"]
    assert states(console) == {"a": ActionState.UNKNOWN}
    assert status(console) is Status.UNKNOWN_OUTCOME
    run = console.settle(THREAD, "a", "happened", by="ana", result="It did begin.")
    assert run is None or console.wait(run, 30)
    assert status(console) is Status.IDLE
    assert effects() == ["began 1"]


@pytest.mark.parametrize(("name", "answer"), [("with_middleware", "hello"), ("routed", "routed")])
def test_middleware_and_routers_that_are_only_asynchronous_are_run(
    console: Console, name: str, answer: str
) -> None:
    ask(console, "/say hello", agent=name, thread_id=THREAD)
    assert console.queries.history(THREAD)[-1].content == answer
