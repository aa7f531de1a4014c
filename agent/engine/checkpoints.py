"""Read a thread's checkpoint: which interrupts wait, which are answered, and whether the console wrote it.

LangGraph's own snapshot lists an interrupt until its step is saved, even when its answer is saved already. Answers
are in the pending writes, under the task that asked. An interrupt's id encodes how many answers its task had before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Interrupt, StateSnapshot

from agent.engine.breakpoints import breakpoint_at, has_breakpoints, is_of
from agent.engine.checkpointer import WRITTEN_HERE, FencedSaver, Unavailable
from agent.engine.messages import Transcript
from agent.ports import Look
from agent.review.bounds import LARGEST
from agent.review.errors import CheckpointLost
from agent.review.screening import ScreenedCall
from agent.review.threads import Message

Graph = CompiledStateGraph[Any, Any, Any, Any]


@dataclass(frozen=True)
class Answered:
    """The saved answer to an interrupt whose step is not saved yet."""

    value: Any
    failed: bool
    """The node that asked failed on the answer."""


@dataclass(frozen=True)
class Raised:
    """An interrupt and where it was raised: in the graph itself or in one inside it."""

    interrupt: Interrupt[Any]
    messages: Sequence[Message]
    """The conversation it was raised in."""
    place: str
    """LangGraph's checkpoint namespace of the task that raised it."""
    answered: Answered | None
    unfinished: bool = True
    """Whether the task that asked is unfinished: LangGraph lists only the interrupts of such tasks."""
    static: bool = False
    """The graph stands at a breakpoint, and raised nothing."""


@dataclass(frozen=True)
class Reading:
    """A snapshot, and the interrupts of its step."""

    snapshot: StateSnapshot
    raised: tuple[Raised, ...]

    @property
    def waiting(self) -> list[Raised]:
        """The interrupts that wait for an answer."""
        return [one for one in self.raised if one.answered is None and one.unfinished]

    def holds(self, message_id: str) -> bool:
        """Return whether the conversation has a message with this id."""
        return messages_in(self.snapshot).holds(message_id)

    def raised_as(self, interrupt_id: str) -> Raised | None:
        return next((one for one in self.raised if one.interrupt.id == interrupt_id), None)

    def look(self, calls: Sequence[ScreenedCall] = (), limit: int = LARGEST) -> Look:
        """Return what the console needs to know of it, with at most `limit` bytes of each result."""
        snapshot, waiting = self.snapshot, tuple(one.interrupt.id for one in self.waiting)
        answered = [one for one in self.raised if one.answered is not None and one.unfinished]
        asking = sum(any(one.id in waiting for one in task.interrupts) for task in snapshot.tasks)
        return Look(
            messages=messages_in(snapshot, limit),
            calls=tuple(calls),
            waiting=waiting,
            answered=tuple(one.interrupt.id for one in answered),
            stuck=tuple(one.interrupt.id for one in answered if one.answered and one.answered.failed),
            # `next` leaves out a node whose writes are saved while the step's checkpoint is not.
            unfinished=self._is_at_work(asking) if waiting else bool(snapshot.tasks),
            next=tuple(snapshot.next),
            exists=snapshot.created_at is not None,
            own=WRITTEN_HERE in (snapshot.metadata or {}),
        )

    def _is_at_work(self, asking: int) -> bool:
        """Whether a task next to the `asking` ones can go on; at a breakpoint none does."""
        return len(self.snapshot.next) > asking and not any(one.static for one in self.raised)

    def passed(self, review_id: str) -> Reading:
        """Return the same reading once this review's breakpoint has been passed: its open calls may run."""
        return replace(self, raised=()) if is_of(review_id, self.snapshot) else self


def read(graph: Graph, config: RunnableConfig) -> Reading:
    """Read the thread's checkpoint and its interrupts. Raises `CheckpointLost` if it cannot be read."""
    with readable(config):
        snapshot = graph.get_state(config, subgraphs=True)
        saver = graph.checkpointer
        raised = _raised(saver, snapshot) if isinstance(saver, BaseCheckpointSaver) else ()
        return Reading(snapshot, tuple(raised) or _at_breakpoint(graph, snapshot))


def saver_of(graph: Graph) -> BaseCheckpointSaver[Any]:
    """Return the checkpointer that the console compiled the graph with."""
    return cast("BaseCheckpointSaver[Any]", graph.checkpointer)


def _at_breakpoint(graph: Graph, snapshot: StateSnapshot) -> tuple[Raised, ...]:
    if not has_breakpoints(graph):
        return ()
    said = messages_in(snapshot)
    asked = breakpoint_at(graph, snapshot, said)
    return () if asked is None else (Raised(asked, said, "", None, static=True),)


def holds_an_interrupt(graph: Graph, config: RunnableConfig) -> bool:
    """Return whether the thread's last checkpoint holds an interrupt, answered or not, even one from an inner graph.

    Raises `CheckpointLost` if it cannot be read.
    """
    saver = graph.checkpointer
    with readable(config):
        kept = saver.get_tuple(config) if isinstance(saver, BaseCheckpointSaver) else None
    return kept is not None and any(channel == INTERRUPT for _, channel, _ in kept.pending_writes or ())


@contextmanager
def readable(config: RunnableConfig) -> Iterator[None]:
    """Raise `CheckpointLost` for whatever reading the thread's checkpoints raises in this block."""
    try:
        yield
    except (Unavailable, CheckpointLost):
        raise
    except Exception as error:  # damaged bytes can make the reader raise an error of any type
        reason = f"its checkpoint cannot be read ({type(error).__name__})"
        raise CheckpointLost(config["configurable"]["thread_id"], reason) from error


def messages_in(snapshot: StateSnapshot, limit: int = LARGEST) -> Transcript:
    found = snapshot.values.get("messages", ()) if isinstance(snapshot.values, Mapping) else ()
    return Transcript([message for message in found if isinstance(message, BaseMessage)], limit)


def schema_of(interrupt: Interrupt[Any]) -> Mapping[str, Any] | None:
    """Return the JSON Schema of the answer an interrupt asks for, or None if it names none."""
    schema = interrupt.response_schema
    return schema if isinstance(schema, Mapping) else None


def _raised(saver: BaseCheckpointSaver[Any], snapshot: StateSnapshot, inside: str = "") -> Iterator[Raised]:
    if not snapshot.tasks:
        return
    kept = saver.get_tuple(snapshot.config)
    writes = kept.pending_writes or [] if kept else []
    for task in snapshot.tasks:
        place = f"{inside}{task.name}:{task.id}"
        own = [(channel, value) for task_id, channel, value in writes if task_id == task.id]
        if isinstance(task.state, StateSnapshot):
            yield from _raised(saver, task.state, f"{place}|")
            continue
        answers = next((_listed(value) for channel, value in own if channel == RESUME), [])
        failed = any(channel == ERROR for channel, _ in own)
        for interrupt in (one for channel, value in own if channel == INTERRUPT for one in _listed(value)):
            before = next((n for n in range(len(answers)) if interrupt_id(place, n) == interrupt.id), None)
            answered = None if before is None else Answered(answers[before], failed)
            hidden = (
                _hidden(saver, snapshot.config, place, interrupt)
                if interrupt_id(place, len(answers)) != interrupt.id and answered is None
                else None
            )
            messages, raised_at = hidden or (messages_in(snapshot), place)
            # By its own graph: the one around it lists the interrupt until the step of its own task is saved.
            unfinished = any(one.id == interrupt.id for one in snapshot.interrupts)
            yield Raised(interrupt, messages, raised_at, answered, unfinished)


def _hidden(
    saver: BaseCheckpointSaver[Any], config: RunnableConfig, place: str, interrupt: Interrupt[Any]
) -> tuple[Transcript, str] | None:
    """Return where an interrupt was raised that a tool or node passed on from a graph it had called itself."""
    if not isinstance(saver, FencedSaver):
        return None
    thread_id = str(config["configurable"]["thread_id"])
    for graph in saver.graphs_inside(thread_id, place):
        kept = saver.get_tuple({"configurable": {"thread_id": thread_id, "checkpoint_ns": graph}})
        for task_id, channel, value in (kept.pending_writes or ()) if kept else ():
            if channel == INTERRUPT and any(one.id == interrupt.id for one in _listed(value)):
                found = kept.checkpoint["channel_values"].get("messages", ()) if kept else ()
                said = [one for one in found if isinstance(one, BaseMessage)]
                return Transcript(said), f"{graph}|:{task_id}"
    return None


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def interrupt_id(task: str, answers: int = 0) -> str:
    """Return the id of an interrupt raised in a task that has this many answers; a test compares it to LangGraph's."""
    return str(Interrupt.from_ns(None, f"{task}|{answers}" if answers else task).id)
