"""The fenced checkpointer, and the private key that makes a stale resume an error."""

from __future__ import annotations

import operator
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.errors import UnknownInterruptError
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from agent.engine.checkpointer import WHOLE_STEPS, FencedOff, FencedSaver
from agent.engine.local import STRICT_RESUME
from agent.review.errors import CheckpointsUnavailable


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def asking() -> Any:
    """A graph that asks twice."""
    graph = StateGraph(State)
    graph.add_node("first", lambda _: {"said": [interrupt("first?")]})
    graph.add_node("second", lambda _: {"said": [interrupt("second?")]})
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    graph.add_edge("second", END)
    return graph


def config(thread_id: str = "t") -> Any:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", STRICT_RESUME: True}}


def at(graph: Any, fence: int) -> Any:
    """The graph, in a run with this fence."""
    return graph.copy(update={"checkpointer": graph.checkpointer.for_run(fence)})


@pytest.fixture
def saver(tmp_path: Path) -> Any:
    found = FencedSaver(tmp_path / "checkpoints.sqlite")
    yield found
    found.conn.close()


@pytest.fixture
def graph(saver: FencedSaver) -> Any:
    return asking().compile(checkpointer=saver)


def waiting(graph: Any) -> str:
    (found,) = graph.get_state(config()).interrupts
    return str(found.id)


def test_a_run_at_the_fence_may_write(saver: FencedSaver, graph: Any) -> None:
    saver.raise_fence("t", 2)
    at(graph, 2).invoke({"said": []}, config(), durability="sync")
    assert waiting(graph)


def test_a_run_below_the_fence_may_not_write(saver: FencedSaver, graph: Any) -> None:
    saver.raise_fence("t", 2)
    with pytest.raises(FencedOff):
        at(graph, 1).invoke({"said": []}, config(), durability="sync")
    assert not graph.get_state(config()).values


def test_a_run_that_is_taken_over_in_the_middle_writes_no_more(saver: FencedSaver, graph: Any) -> None:
    saver.raise_fence("t", 1)
    at(graph, 1).invoke({"said": []}, config(), durability="sync")
    saver.raise_fence("t", 2)
    before = graph.get_state(config())
    with pytest.raises(FencedOff):
        at(graph, 1).invoke(Command(resume={waiting(graph): "yes"}), config(), durability="sync")
    assert graph.get_state(config()).config == before.config


def test_mending_a_state_below_the_fence_is_refused(saver: FencedSaver, graph: Any) -> None:
    saver.raise_fence("t", 1)
    at(graph, 1).invoke({"said": []}, config(), durability="sync")
    saver.raise_fence("t", 2)
    with pytest.raises(FencedOff):
        at(graph, 1).update_state(config(), {"said": ["late"]}, as_node="second")


def test_a_fence_is_never_lowered(saver: FencedSaver, graph: Any) -> None:
    saver.raise_fence("t", 3)
    saver.raise_fence("t", 2)
    with pytest.raises(FencedOff):
        at(graph, 2).invoke({"said": []}, config(), durability="sync")


def test_a_fence_holds_for_its_thread_alone(saver: FencedSaver, graph: Any) -> None:
    saver.raise_fence("other", 9)
    at(graph, 1).invoke({"said": []}, config(), durability="sync")
    assert waiting(graph)


def test_a_fence_raised_by_another_process_holds(saver: FencedSaver, graph: Any, tmp_path: Path) -> None:
    other = FencedSaver(tmp_path / "checkpoints.sqlite")
    other.raise_fence("t", 5)
    other.conn.close()
    with pytest.raises(FencedOff):
        at(graph, 4).invoke({"said": []}, config(), durability="sync")


def test_many_threads_write_side_by_side(graph: Any) -> None:
    def run(number: int) -> None:
        at(graph, 1).invoke({"said": []}, config(f"t{number}"), durability="sync")

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert all(graph.get_state(config(f"t{number}")).interrupts for number in range(8))


def test_a_stale_resume_is_an_error(graph: Any) -> None:
    graph.invoke({"said": []}, config(), durability="sync")
    first = waiting(graph)
    graph.invoke(Command(resume={first: "yes"}), config(), durability="sync")
    with pytest.raises(UnknownInterruptError):
        graph.invoke(Command(resume={first: "yes"}), config(), durability="sync")


def test_a_stale_resume_answers_nothing_else(graph: Any) -> None:
    graph.invoke({"said": []}, config(), durability="sync")
    first = waiting(graph)
    graph.invoke(Command(resume={first: "yes"}), config(), durability="sync")
    with pytest.raises(UnknownInterruptError):
        graph.invoke(Command(resume={first: "yes"}), config(), durability="sync")
    assert graph.get_state(config()).values["said"] == ["yes"]


def test_a_resume_after_the_end_is_an_error(graph: Any) -> None:
    graph.invoke({"said": []}, config(), durability="sync")
    answered = []
    for _ in range(2):
        answered.append(waiting(graph))
        graph.invoke(Command(resume={answered[-1]: "yes"}), config(), durability="sync")
    with pytest.raises(UnknownInterruptError):
        graph.invoke(Command(resume={answered[-1]: "yes"}), config(), durability="sync")


def test_a_run_whose_checkpoints_are_locked_is_told_what_to_do(
    saver: FencedSaver, graph: Any, tmp_path: Path
) -> None:
    saver.raise_fence("t", 1)
    saver.conn.execute("PRAGMA busy_timeout = 0")
    with closing(sqlite3.connect(tmp_path / "checkpoints.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CheckpointsUnavailable, match=r"locked.*then retry"):
            at(graph, 1).invoke({"said": []}, config(), durability="sync")


# Whole steps.


def whole() -> Any:
    found = config()
    found["configurable"][WHOLE_STEPS] = True
    return found


def written(saver: FencedSaver) -> tuple[int, int]:
    """How many checkpoints, and how many writes of what nodes said, another process finds in the file."""
    (path,) = (row[2] for row in saver.conn.execute("PRAGMA database_list"))
    with closing(sqlite3.connect(path)) as other:
        (checkpoints,) = other.execute("SELECT count(*) FROM checkpoints").fetchone()
        (writes,) = other.execute("SELECT count(*) FROM writes WHERE channel = 'said'").fetchone()
    return checkpoints, writes


def plain() -> Any:
    """A graph of two steps that asks nothing."""
    graph = StateGraph(State)
    graph.add_node("first", lambda _: {"said": ["first"]})
    graph.add_node("second", lambda _: {"said": ["second"]})
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    return graph


@pytest.mark.parametrize(("named", "more"), [(whole, 0), (config, 3)], ids=["whole steps", "else"])
def test_a_step_and_the_checkpoint_behind_it_come_to_the_file_together(
    saver: FencedSaver, named: Any, more: int
) -> None:
    compiled = plain().compile(checkpointer=saver)
    commits = commits_of(saver)
    compiled.invoke({"said": []}, named(), durability="sync")
    assert compiled.get_state(config()).values == {"said": ["first", "second"]}
    checkpoints, writes = written(saver)
    assert writes == 3, "the input's, and each node's"
    assert len(commits) == checkpoints + more


def commits_of(saver: FencedSaver) -> list[str]:
    saver.setup()
    found: list[str] = []
    saver.conn.set_trace_callback(lambda sql: found.append(sql) if sql == "COMMIT" else None)
    return found


def test_a_question_and_its_answer_are_kept_at_once(saver: FencedSaver, graph: Any) -> None:
    graph.invoke({"said": []}, whole(), durability="sync")
    graph.invoke(Command(resume={waiting(graph): "yes"}), whole(), durability="sync")
    assert graph.get_state(config()).values == {"said": ["yes"]}
    assert saver._held == {}


def test_a_step_below_the_fence_leaves_nothing(saver: FencedSaver, graph: Any) -> None:
    saver.raise_fence("t", 1)
    at(graph, 1).invoke({"said": []}, whole(), durability="sync")
    before = written(saver)
    parent = graph.get_state(config()).config["configurable"]
    late, run = whole(), saver.for_run(1)
    late["configurable"] |= parent
    run.put_writes(late, [("said", ["late"])], "a task")
    assert written(saver) == before
    saver.raise_fence("t", 2)
    with pytest.raises(FencedOff):
        run.put(late, empty_checkpoint(), {"step": 9}, {})
    assert written(saver) == before
    assert saver._held == {}


def test_a_checkpoint_that_cannot_be_written_leaves_nothing_of_its_step(
    saver: FencedSaver, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = plain().compile(checkpointer=saver)
    put, full = SqliteSaver.put, sqlite3.OperationalError("database or disk is full")

    def once(self: SqliteSaver, *args: Any) -> Any:
        found = put(self, *args)
        if args[2]["step"] == 1:  # the checkpoint behind the first node
            raise full
        return found

    with monkeypatch.context() as patched:
        patched.setattr(SqliteSaver, "put", once)
        with pytest.raises(CheckpointsUnavailable):
            compiled.invoke({"said": []}, whole(), durability="sync")
    assert written(saver) == (2, 1), "the input, and the start of the first node"
    compiled.invoke(None, whole(), durability="sync")
    assert compiled.get_state(config()).values == {"said": ["first", "second"]}
