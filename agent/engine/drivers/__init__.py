"""What differs from one make of agent to another: how it is compiled, what its stream tells, how open calls are answered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig

from agent.engine.checkpointer import FencedSaver
from agent.engine.checkpoints import Graph, Reading
from agent.ports import Look, Moment
from agent.review.agents import Agent
from agent.review.deliveries import AnswerCalls, Repeat, Resume
from agent.review.rules import Rule
from agent.review.screening import ScreenedCall
from agent.review.threads import Run


@dataclass(frozen=True)
class Running:
    """What a run hands to its agent."""

    run: Run
    stop: threading.Event
    rules: Callable[[], Sequence[Rule]]
    """The remembered rules in force on the run's thread."""


@dataclass(frozen=True)
class StandsInState:
    """Something was said in a form that only the graph's state makes a message of, with an id."""


class Make(Protocol):
    """One agent, as its own make wants to be driven."""

    agent: Agent
    streamed: Mapping[str, Any]
    """What LangGraph is to stream of it."""
    whole_steps: bool
    """Whether each of its steps is one task, so that what it wrote need not be kept before its step is done."""

    asynchronous: bool
    """Whether it has parts that need an event loop."""

    def compiled(self, saver: FencedSaver) -> Graph:
        """Compile the agent's graph over this checkpointer."""

    def limits(self) -> RunnableConfig:
        """Return what a run's config holds for this kind of agent alone."""

    def configurable(self, running: Running) -> Mapping[str, Any]:
        """Return what the agent finds in its config's `configurable`, besides LangGraph's own keys."""

    def context(self, given: Mapping[str, Any]) -> Any:
        """Return the context that the agent runs with, where `given` are the values of its thread."""

    def look(self, reading: Reading) -> Look:
        """Where the thread stands, with the calls the graph keeps in its state, if it does."""

    def speaks(self, place: Mapping[str, Any]) -> bool:
        """Whether a model that is called there, by LangGraph's metadata of the call, writes the agent's own words."""

    def moments(
        self, update: Mapping[str, Any], place: Sequence[str] = ()
    ) -> Iterator[Moment | StandsInState]:
        """Yield what an update of the graph's state reports, except for a pause."""

    def asked(self, reading: Reading) -> Mapping[str, tuple[ScreenedCall, ...]]:
        """Return what each waiting interrupt asks about; one that is left out asks about everything pending."""

    def answer(self, reading: Reading, resume: Resume) -> Any:
        """Return the value that the interrupt is resumed with, in the shape it asked in."""

    def repeat(self, graph: Graph, config: RunnableConfig, repeat: Repeat) -> None:
        """Write a person's word, and behind it a message that proposes these calls, as the model would have."""

    def answer_calls(
        self, graph: Graph, config: RunnableConfig, answers: AnswerCalls, reading: Reading
    ) -> None:
        """Write results for open calls as the node that would have given them. The second time changes nothing."""

    def pass_breakpoint(self, graph: Graph, config: RunnableConfig, resume: Resume, reading: Reading) -> None:
        """Make the calls that wait at a breakpoint what was decided on them."""

    def go_on(self, graph: Graph, config: RunnableConfig, reading: Reading) -> None:
        """Before the graph goes on: have a router asked again that failed behind its node."""

    def set_aside(self, graph: Graph, config: RunnableConfig, reading: Reading) -> None:
        """Before something else begins: bring up what graphs inside the graph have done."""
