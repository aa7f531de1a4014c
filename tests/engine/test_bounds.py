"""What a tool gives and what is refused are kept within bounds: for the model, in the record, on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from pydantic import SecretStr

from agent.bootstrap import Opened, open_console
from agent.engine.graph import ask as ask_model
from agent.review.actions import ActionState
from agent.review.bounds import MAX_REFUSED, MAX_RESULT, bounded
from agent.review.events import EventKind
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import ask
from tests.engine.provider import Provider, Stream, call, text

MODEL = "gpt-5.4-mini"
BIG = """
from langchain_core.tools import tool
from agent.review.agents import Agent
from agent.review.policy import Policy, Tier, ToolPolicy
from agent.registry import WorldAgent

EFFECTS = []

@tool
def read_big(size: int) -> str:
    "Read so many characters."
    return "ü" * size

@tool
def read_bigger(size: int) -> str:
    "Read so many characters, and keep more of them."
    return "ü" * size

@tool
def read_parts(size: int) -> list:
    "Read two parts."
    return [{"type": "text", "text": "a" * size}, {"type": "text", "text": "b" * size}]

@tool
def burst(size: int) -> str:
    "Fail at length."
    raise RuntimeError("ü" * size)

@tool
def reset() -> str:
    "Do something without arguments."
    EFFECTS.append("reset")
    return "reset"

auto = ToolPolicy(Tier.AUTO)
tools = [read_big, read_bigger, read_parts, burst, reset]
policy = lambda world: Policy({
    **{one.name: auto for one in tools},
    "read_bigger": ToolPolicy(Tier.AUTO, max_result=3_000_000),
})
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

def model(state):
    if len(state["messages"]) > 1:
        return {"messages": [AIMessage("Read.")]}
    large = {"name": "read_big", "args": {"size": 3, "more": "x" * 2_000_000}, "id": "c2"}
    return {"messages": [AIMessage("", tool_calls=[{"name": "read_big", "args": {"size": 2_000_000}, "id": "c1"}, large])]}

graph = StateGraph(MessagesState)
graph.add_node("model", model)
graph.add_node("tools", ToolNode([read_big]))
graph.add_edge(START, "model")
graph.add_conditional_edges("model", tools_condition)
graph.add_edge("tools", "model")
external = graph.compile()

big = WorldAgent(
    lambda world: Agent(name="big", title="Big", tools=tools, policy=policy(world), prompt="Read."), policy
)
"""


@pytest.fixture
def opened(settings: Settings, provider: Provider, clock: Any, tmp_path: Path) -> Iterator[Opened]:
    (tmp_path / "big_agent.py").write_text(BIG)
    (tmp_path / "big.json").write_text(
        '{"graphs": {"big": "./big_agent.py:big", "external": "./big_agent.py:external"}}'
    )
    real = {
        "review_agents": tmp_path / "big.json",
        "openai_api_key": SecretStr("sk-test"),
        "openai_base_url": provider.url,
        "openai_models": (MODEL,),
    }
    found = open_console(settings.model_copy(update=real), clock=clock)
    yield found
    found.close()


def on_disk(settings: Settings) -> int:
    return sum(file.stat().st_size for file in settings.review_data.rglob("*") if file.is_file())


def streamed(*calls: tuple[str, str, str]) -> Stream:
    deltas = [call(number, *one) for number, one in enumerate(calls)]
    return Stream([delta for some in deltas for delta in some], "tool_calls")


def result(opened: Opened, thread_id: str) -> str:
    (found,) = [one for one in opened.console.queries.history(thread_id) if one.type == "tool"]
    return found.content


@pytest.mark.parametrize(
    ("tool", "whole", "limit"),
    [
        ("read_big", "ü" * 2_000_000, MAX_RESULT),
        ("read_bigger", "ü" * 2_000_000, 3_000_000),
        ("read_parts", "a" * 2_000_000 + "b" * 2_000_000, MAX_RESULT),
        ("burst", "Error: " + "ü" * 2_000_000, MAX_RESULT),
    ],
)
def test_the_model_and_the_transcript_get_the_same_beginning_of_a_long_result(
    opened: Opened, provider: Provider, tool: str, whole: str, limit: int
) -> None:
    provider.replies = [streamed(("c1", tool, '{"size": 2000000}')), text("Read.")]
    thread_id = ask(opened.console, "Read.", model=MODEL)
    kept = result(opened, thread_id)
    assert len(kept.encode()) <= limit
    assert kept == bounded(whole, limit)
    assert hashlib.sha256(whole.encode()).hexdigest() in kept[-100:]
    assert provider.requests[-1]["messages"][-1]["content"] == kept


def test_a_result_within_its_tools_limit_is_whole(opened: Opened) -> None:
    thread_id = ask(opened.console, '/call read_bigger {"size": 1400000}')
    assert result(opened, thread_id) == "ü" * 1_400_000


LONG = '{"size": 1, "more": "' + "x" * 2_500_000 + '"}'


def test_of_a_refused_call_only_the_beginning_is_kept_anywhere(
    opened: Opened, provider: Provider, settings: Settings
) -> None:
    provider.replies = [
        streamed(("c1", "read_big", LONG), ("c2", "read_big", '{"size": 3}')),
        text("Sorry."),
    ]
    ask(opened.console, "/say Hello.")
    before = on_disk(settings)
    thread_id = ask(opened.console, "Read.", model=MODEL)
    ran, refused = opened.console.queries.actions(thread_id)
    assert (refused.state, ran.state) == (ActionState.REFUSED, ActionState.DONE), (
        "it refuses one call, not the turn"
    )
    assert refused.proposed == bounded(LONG, MAX_REFUSED)
    assert hashlib.sha256(LONG.encode()).hexdigest() in refused.proposed
    assert "at most 1,000,000 bytes" in (refused.result or "")
    (_, event) = opened.console.trail.events(thread_id=thread_id, kind=EventKind.ACTION_PROPOSED)
    assert event.data is not None
    assert event.data["proposed"] == refused.proposed
    assert len(json.dumps(provider.requests[-1])) < 10_000
    assert sum(len(str(one)) for one in opened.console.queries.history(thread_id)) < 50_000
    assert on_disk(settings) - before < 1_000_000


def test_a_long_text_that_is_no_object_is_malformed_as_a_short_one_is(
    opened: Opened, provider: Provider, settings: Settings
) -> None:
    provider.replies = [
        streamed(("c1", "read_big", LONG[:-1]), ("c2", "read_big", '{"size": 3}')),
        text("Sorry."),
    ]
    thread_id = ask(opened.console, "Read.", model=MODEL)
    actions = opened.console.queries.actions(thread_id)
    assert [one.state for one in actions] == [ActionState.REFUSED, ActionState.REFUSED]
    assert all("malformed" in (one.result or "") for one in actions)
    assert sum(len(str(one)) for one in opened.console.queries.history(thread_id)) < 50_000


def test_a_call_whose_arguments_were_cut_runs_nothing(opened: Opened, provider: Provider) -> None:
    # A tool that takes no argument would take any object as far as it knows its names.
    provider.replies = [streamed(("c1", "reset", LONG)), text("Sorry.")]
    thread_id = ask(opened.console, "Reset.", model=MODEL)
    (action,) = opened.console.queries.actions(thread_id)
    assert action.state is ActionState.REFUSED
    assert opened.console.trail.events(thread_id=thread_id, kind=EventKind.EXECUTION_STARTED) == []


@pytest.mark.parametrize("args", ['{"size": "' + "x" * 100_000 + '"}', '{"size": [' + "1," * 50_000 + "1]}"])
def test_what_does_not_fit_a_tool_is_cut_where_it_is_long(
    opened: Opened, provider: Provider, args: str
) -> None:
    provider.replies = [streamed(("c1", "read_big", args)), text("Sorry.")]
    thread_id = ask(opened.console, "Read.", model=MODEL)
    (action,) = opened.console.queries.actions(thread_id)
    assert action.state is ActionState.REFUSED
    assert len(action.proposed) <= MAX_REFUSED
    assert len((action.result or "").encode()) <= MAX_REFUSED
    assert len(json.dumps(provider.requests[-1])) < 20_000
    assert sum(len(str(one)) for one in opened.console.queries.history(thread_id)) < 20_000


def test_a_refused_call_of_ordinary_size_is_kept_as_it_was(opened: Opened) -> None:
    thread_id = ask(opened.console, '/call read_big {"size": "three"}')
    (action,) = opened.console.queries.actions(thread_id)
    assert (action.state, action.proposed) == (ActionState.REFUSED, {"size": "three"})
    (call,) = [one for message in opened.console.queries.history(thread_id) for one in message.tool_calls]
    assert call.args == {"size": "three"}


@pytest.mark.parametrize(("call_id", "tool"), [("c" * 3_000_000, "read_big"), ("c1", "t" * 3_000_000)])
def test_ids_and_names_are_bounded_too(opened: Opened, provider: Provider, call_id: str, tool: str) -> None:
    provider.replies = [streamed((call_id, tool, '{"size": 3}')), text("Sorry.")]
    thread_id = ask(opened.console, "Read.", model=MODEL)
    (action,) = opened.console.queries.actions(thread_id)
    assert action.state is ActionState.REFUSED
    assert len(str(action)) < 10_000
    assert opened.console.queries.view(thread_id).thread.status is Status.IDLE


class Whole:
    """A model that gives its reply in one piece, with arguments that are an object already."""

    def __init__(self, args: dict[str, Any]) -> None:
        self._args = args

    def stream(self, *_: Any) -> Iterator[AIMessage]:
        calls = [{"name": "read_big", "args": self._args, "id": "c1"}]
        yield AIMessage("", tool_calls=calls)


def test_an_object_that_is_too_large_is_cut_as_a_text_is() -> None:
    found = ask_model(Whole({"size": 1, "more": "ü" * 600_000}), [], {})  # type: ignore[arg-type]
    assert found.tool_calls == []
    (broken,) = found.invalid_tool_calls
    assert len((broken["args"] or "").encode()) <= MAX_REFUSED
    assert "at most 1,000,000 bytes" in (broken["error"] or "")


def test_of_what_an_external_agent_says_the_transcript_keeps_as_much(opened: Opened) -> None:
    thread_id = ask(opened.console, "Read.", agent="external")
    proposing = next(one for one in opened.console.queries.history(thread_id) if one.tool_calls)
    small, large = proposing.tool_calls
    assert small.args == {"size": 2_000_000}
    assert large.args == bounded(json.dumps({"size": 3, "more": "x" * 2_000_000}), MAX_REFUSED)
    results = [one.content for one in opened.console.queries.history(thread_id) if one.type == "tool"]
    assert results[0] == bounded("ü" * 2_000_000, MAX_RESULT)
