"""A thread's checkpoints come in the order in which they were saved, whatever the clock said; and copying them."""

from __future__ import annotations

import asyncio
import operator
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint, id
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from agent.engine.checkpointer import FencedOff, FencedSaver

HOUR = 3_600

Restart = Callable[[int], None]


class State(TypedDict):
    said: Annotated[
        list[str], DeltaChannel(lambda kept, new: [*kept, *(one for some in new for one in some)])
    ]
    times: Annotated[int, operator.add]


def asking(questions: int = 3) -> Any:
    """A graph that asks again and again."""
    graph = StateGraph(State)
    names = [f"question {number}" for number in range(questions)]
    for name in names:
        graph.add_node(name, lambda _, name=name: {"said": [f"{name}: {interrupt(name)}"], "times": 1})
    for before, after in zip([START, *names], names, strict=False):
        graph.add_edge(before, after)
    return graph


def config(thread_id: str = "t") -> Any:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}


def at(graph: Any, fence: int) -> Any:
    """The graph, in a run with this fence."""
    return graph.copy(update={"checkpointer": graph.checkpointer.for_run(fence)})


@pytest.fixture
def saver(tmp_path: Path) -> Iterator[FencedSaver]:
    found = FencedSaver(tmp_path / "checkpoints.sqlite")
    yield found
    found.conn.close()


@pytest.fixture
def restart(monkeypatch: pytest.MonkeyPatch) -> Restart:
    """What a new process under another clock has: ids of this clock's time, and no memory of the last."""

    def under(seconds: int) -> None:
        clock = SimpleNamespace(time_ns=lambda: time.time_ns() + seconds * 10**9)
        monkeypatch.setattr(id, "time", clock)
        monkeypatch.setattr(id, "_last_v6_timestamp", None)

    return under


def asked(graph: Any, thread_id: str = "t") -> list[str]:
    return [one.value for one in graph.get_state(config(thread_id)).interrupts]


def answer(graph: Any, thread_id: str = "t") -> None:
    graph.invoke(Command(resume="yes"), config(thread_id), durability="sync")


@pytest.mark.parametrize("clock", [-HOUR, HOUR, -HOUR * 24 * 365])
def test_the_next_question_is_asked_after_a_restart_under_another_clock(
    saver: FencedSaver, restart: Restart, clock: int
) -> None:
    graph = asking().compile(checkpointer=saver)
    graph.invoke({"said": [], "times": 0}, config(), durability="sync")
    for seconds, question in ((clock, "question 1"), (0, "question 2")):
        restart(seconds)
        answer(graph)
        assert asked(graph) == [question]
    answer(graph)
    state = graph.get_state(config())
    assert state.next == ()
    assert state.values["said"] == [f"question {number}: yes" for number in range(3)]
    assert state.values["times"] == 3


def test_a_history_is_in_the_order_of_its_steps(saver: FencedSaver, restart: Restart) -> None:
    graph = asking().compile(checkpointer=saver)
    graph.invoke({"said": [], "times": 0}, config(), durability="sync")
    for seconds in (-HOUR, HOUR, 0):
        restart(seconds)
        answer(graph)
    steps = [(one.metadata or {})["step"] for one in graph.get_state_history(config())]
    assert steps == sorted(steps, reverse=True)
    middle = next(one for one in graph.get_state_history(config()) if (one.metadata or {})["step"] == 1)
    before = [(one.metadata or {})["step"] for one in graph.get_state_history(config(), before=middle.config)]
    assert before == [0, -1]
    assert [one.metadata["step"] for one in saver.list(config(), before=middle.config, limit=1)] == [0]


def test_what_another_client_saves_is_in_its_place_too(
    saver: FencedSaver, restart: Restart, tmp_path: Path
) -> None:
    graph = asking().compile(checkpointer=saver)
    graph.invoke({"said": [], "times": 0}, config(), durability="sync")
    restart(HOUR)
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.sqlite")) as theirs:
        answer(asking().compile(checkpointer=theirs))
    restart(-HOUR)
    answer(graph)
    assert asked(graph) == ["question 2"]


def saved(saver: FencedSaver, checkpoint_id: str, step: int) -> None:
    saver.put(config(), {**empty_checkpoint(), "id": checkpoint_id}, {"step": step}, {})


def test_a_checkpoint_that_is_saved_again_keeps_its_place(saver: FencedSaver) -> None:
    for step, name in enumerate(("c", "a", "b")):
        saved(saver, name, step)
    saved(saver, "a", 9)
    assert [(one.checkpoint["id"], one.metadata["step"]) for one in saver.list(config())] == [
        ("b", 2),
        ("a", 9),
        ("c", 0),
    ]


def test_a_file_that_was_made_smaller_keeps_the_order(saver: FencedSaver) -> None:
    for step, name in enumerate(("d", "c", "b", "a")):
        saved(saver, name, step)
    saver.conn.execute("DELETE FROM checkpoints WHERE checkpoint_id = 'c'")
    saver.conn.execute("VACUUM")
    assert [one.checkpoint["id"] for one in saver.list(config())] == ["a", "b", "d"]


def test_the_last_checkpoint_is_found_without_looking_at_the_others(saver: FencedSaver) -> None:
    saver.setup()
    plan = saver.conn.execute(
        "EXPLAIN QUERY PLAN SELECT checkpoint_id FROM checkpoints INDEXED BY by_arrival "
        "WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY rowid DESC LIMIT 1",
        ("t", ""),
    ).fetchall()
    assert [row[3] for row in plan] == [
        "SEARCH checkpoints USING INDEX by_arrival (thread_id=? AND checkpoint_ns=?)"
    ]


# Copies.


def test_a_copy_goes_on_by_itself(saver: FencedSaver, restart: Restart) -> None:
    graph = asking().compile(checkpointer=saver)
    graph.invoke({"said": [], "times": 0}, config(), durability="sync")
    restart(-HOUR)
    answer(graph)
    saver.copy_thread("t", "copy")
    assert graph.get_state(config("copy")).values == graph.get_state(config()).values
    assert asked(graph, "copy") == ["question 1"]
    answer(graph, "copy")
    assert asked(graph, "copy") == ["question 2"]
    assert asked(graph) == ["question 1"], "the source is as it was"


def test_a_copy_has_no_fence_of_its_source(saver: FencedSaver) -> None:
    graph = asking().compile(checkpointer=saver)
    saver.raise_fence("t", 7)
    at(graph, 7).invoke({"said": [], "times": 0}, config(), durability="sync")
    saver.copy_thread("t", "copy")
    at(graph, 1).invoke(Command(resume="yes"), config("copy"), durability="sync")
    assert asked(graph, "copy") == ["question 1"]


def test_nothing_is_copied_onto_what_is_there_or_was_deleted(saver: FencedSaver) -> None:
    graph = asking().compile(checkpointer=saver)
    for thread_id in ("t", "other"):
        graph.invoke({"said": [], "times": 0}, config(thread_id), durability="sync")
    with pytest.raises(ValueError, match="Copy to a new thread"):
        saver.copy_thread("t", "other")
    saver.forget("other")
    with pytest.raises(FencedOff, match="Copy to another thread"):
        saver.copy_thread("t", "other")
    assert not list(saver.list(config("other")))


def test_a_pruned_thread_is_read_as_before_and_goes_on(saver: FencedSaver, tmp_path: Path) -> None:
    graph = asking().compile(checkpointer=saver)
    graph.invoke({"said": ["hello"], "times": 0}, config(), durability="sync")
    answer(graph)
    before = graph.get_state(config()).values
    assert before["said"] == ["hello", "question 0: yes"]
    saver.prune(["t"])
    assert graph.get_state(config()).values == before
    answer(graph)
    assert graph.get_state(config()).values["said"] == [*before["said"], "question 1: yes"]
    saver.prune(["t"], strategy="delete")
    with closing(sqlite3.connect(tmp_path / "checkpoints.sqlite")) as file:
        assert file.execute("SELECT (SELECT count(*) FROM checkpoints), count(*) FROM writes").fetchone() == (
            0,
            0,
        )
    with pytest.raises(ValueError, match="keep_latest"):
        saver.prune(["t"], strategy="keep_some")


# Asynchronously.


def test_an_asynchronous_run_is_fenced_and_ordered_too(saver: FencedSaver, restart: Restart) -> None:
    graph = asking().compile(checkpointer=saver)
    saver.raise_fence("t", 2)

    async def go(begin: Any, fence: int) -> None:
        await at(graph, fence).ainvoke(begin, config(), durability="sync")

    asyncio.run(go({"said": ["hello"], "times": 0}, 2))
    restart(-HOUR)
    asyncio.run(go(Command(resume="yes"), 2))
    assert asked(graph) == ["question 1"]
    with pytest.raises(FencedOff):
        asyncio.run(go(Command(resume="late"), 1))
    state = asyncio.run(graph.aget_state(config()))
    assert state.values["said"] == ["hello", "question 0: yes"]
