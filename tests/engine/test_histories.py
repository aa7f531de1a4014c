"""The way to a checkpoint is walked once, and what is read by it is what anybody reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, RemoveMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import _messages_delta_reducer
from typing_extensions import TypedDict

from agent.console import Console
from agent.engine import checkpointer as saver_module
from agent.engine.checkpointer import FencedSaver
from tests.conftest import ask, decide

THREAD = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
MAIL = '/call send_email {"to": "a@x.org", "subject": "s", "body": "b"}'


class State(TypedDict):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=7)]


def talking() -> Any:
    """A graph that says one thing more each time, and forgets what is older than a few."""

    def say(state: State) -> dict[str, Any]:
        count = len(state["messages"])
        dropped = [RemoveMessage(id=str(m.id)) for m in state["messages"][: max(0, count - 4)]]
        return {"messages": [*dropped, AIMessage("word")]}

    graph = StateGraph(State)
    graph.add_node("say", say)
    graph.add_edge(START, "say")
    graph.add_edge("say", END)
    return graph


@pytest.fixture
def saver(tmp_path: Path) -> Iterator[FencedSaver]:
    found = FencedSaver(tmp_path / "checkpoints.sqlite")
    yield found
    found.conn.close()


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The checkpoints to which LangGraph's saver walked."""
    found: list[str] = []
    walk = SqliteSaver.get_delta_channel_history

    def noted(self: Any, *, config: Any, channels: Any) -> Any:
        found.append(config["configurable"]["checkpoint_id"])
        return walk(self, config=config, channels=channels)

    monkeypatch.setattr(SqliteSaver, "get_delta_channel_history", noted)
    return found


def test_every_state_is_read_as_without_it(saver: FencedSaver) -> None:
    ours, plain = (talking().compile(checkpointer=one) for one in (saver.decoding_once(), saver))
    for number in range(12):
        ours.invoke({"messages": [("user", f"{number}")]}, THREAD)
        assert ours.get_state(THREAD) == plain.get_state(THREAD)
    assert list(ours.get_state_history(THREAD)) == list(plain.get_state_history(THREAD))


def test_a_checkpoint_is_walked_to_once(saver: FencedSaver, walks: list[str]) -> None:
    graph = talking().compile(checkpointer=saver.decoding_once())
    graph.invoke({"messages": [("user", "hello")]}, THREAD)
    first, again = graph.get_state(THREAD), graph.get_state(THREAD)
    assert first == again
    assert len(walks) == 1


def test_no_more_ways_are_kept_than_were_used_last(
    saver: FencedSaver, walks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saver_module, "HISTORIES", 2)
    graph = talking().compile(checkpointer=saver.decoding_once())
    threads = [{"configurable": {"thread_id": f"t{n}", "checkpoint_ns": ""}} for n in range(3)]
    for thread in threads:
        graph.invoke({"messages": [("user", "hello")]}, thread)
        graph.get_state(thread)
    graph.get_state(threads[2])
    assert len(walks) == 3
    graph.get_state(threads[0])
    assert len(walks) == 4


def test_a_graph_that_may_change_a_message_in_place_reads_its_own(
    saver: FencedSaver, walks: list[str]
) -> None:
    graph = talking().compile(checkpointer=saver)
    graph.invoke({"messages": [("user", "hello")]}, THREAD)
    graph.get_state(THREAD).values["messages"][0].content = "changed"
    assert graph.get_state(THREAD).values["messages"][0].content == "hello"
    assert len(walks) == 2


def test_a_turn_walks_to_each_of_its_two_ends_once(console: Console, walks: list[str]) -> None:
    ask(console, MAIL, thread_id="t", agent="mail")
    decide(console, "t", {"type": "approve"})
    walks.clear()
    ask(console, MAIL, thread_id="t")
    decide(console, "t", {"type": "approve"})
    assert len(walks) == len(set(walks)) == 2
