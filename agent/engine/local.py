"""Agents in this process: LangGraph graphs of any make, driven and read through one checkpointer file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl
from langgraph.types import StateSnapshot

from agent.engine import graph as built_in
from agent.engine.asynchronous import stepped
from agent.engine.breakpoints import has_breakpoints
from agent.engine.checkpointer import WHOLE_STEPS, FencedSaver
from agent.engine.checkpoints import Graph, holds_an_interrupt, messages_in, read, readable, schema_of
from agent.engine.delivery import DELIVERED, Start, deliver
from agent.engine.door import know, under
from agent.engine.drivers import Make, Running, StandsInState
from agent.engine.drivers.built_in import BuiltIn
from agent.engine.drivers.external import Foreign
from agent.engine.guard import Guard, Stop
from agent.engine.models import Models
from agent.engine.scheduling import aside
from agent.engine.tokens import Listener
from agent.engine.tool_order import keep_order
from agent.ports import (
    CheckpointStep,
    Inside,
    Look,
    Moment,
    Paused,
    Progressed,
    RunCutOff,
    Said,
    Stood,
    Token,
)
from agent.review import shapes
from agent.review.agents import Agent, LoadFailure
from agent.review.arguments.args import dumps
from agent.review.bounds import bounded
from agent.review.deliveries import Resume
from agent.review.errors import AgentNotLoaded, UnknownAgent
from agent.review.questions import legible
from agent.review.rules import Rule
from agent.review.threads import Message, Run
from agent.serving.options import AgentOptions

# LangGraph refuses a resume that names no waiting interrupt only under this private key; a test holds it.
STRICT_RESUME = "__pregel_strict_resume"
MAX_TOLD = 10_000
"""Bytes of one thing that an agent's own code tells of its progress."""
LAST_SAID = 100
"""Messages that are read from the state, where nodes say something in another form than a message's."""
OF_ITSELF = "Its agent stopped of itself, before {nodes}, and asks nothing. Go on when that may run."
WAITS_ELSEWHERE = (
    "Another client went on with this thread, and is at work on it or left it before {nodes}. "
    "Wait for it; or go on from there, if it is gone."
)

GuardFor = Callable[[Run, Agent], Guard]
RulesFor = Callable[[Run], Sequence[Rule]]
ContextFor = Callable[[Run], Mapping[str, Any]]


class Compiled(dict[str, Graph]):
    """Each agent's graph over one checkpointer, compiled when it is first needed: few processes run all of them."""

    def __init__(self, makes: Mapping[str, Make], saver: FencedSaver) -> None:
        super().__init__()
        self._makes, self._saver = makes, saver

    def __missing__(self, name: str) -> Graph:
        return self.setdefault(name, self._makes[name].compiled(self._saver))


class LocalEngine:
    """The agents, over the checkpoint file at `path`. An external agent comes with its graph in `graphs`.

    `rules_for` gives the remembered rules in force on a run's thread, whenever it is asked; `context_for` the values
    of an external agent's context that its thread was started with.
    """

    def __init__(
        self,
        agents: Mapping[str, Agent],
        models: Models,
        path: Path | str,
        *,
        graphs: Mapping[str, Graph] | None = None,
        broken: Mapping[str, LoadFailure] | None = None,
        options: Mapping[str, AgentOptions] | None = None,
        rules_for: RulesFor = lambda run: (),
        context_for: ContextFor = lambda run: {},
        window: int = built_in.WINDOW,
        max_rounds: int = built_in.MAX_ROUNDS,
    ) -> None:
        keep_order()
        self._models, self._broken = models, broken or {}
        self._rules_for, self._context_for = rules_for, context_for
        foreign = graphs or {}
        self._makes: dict[str, Make] = {
            name: Foreign(agent, foreign[name], (options or {}).get(name, AgentOptions()))
            if name in foreign
            else BuiltIn(agent, models.named, window=window, max_rounds=max_rounds)
            for name, agent in agents.items()
        }
        # A reader of its own, because one saver is one connection and one lock.
        self._writer, self._reader = FencedSaver(path), FencedSaver(path)
        self._graphs, self._views = Compiled(self._makes, self._writer), Compiled(self._makes, self._reader)
        self._guard_for: GuardFor | None = None
        for made in (make.agent for make in self._makes.values()):
            nested = [
                one for named in made.tools_at.values() for several in named.values() for one in several
            ]
            for tool in (*made.tools, *nested):
                know(tool)

    def guard_with(self, guard_for: GuardFor) -> None:
        """Give every later run a guard; a run without one is never started."""
        self._guard_for = guard_for

    def agent(self, name: str) -> Agent:
        return self._make(name).agent

    def agents(self) -> Sequence[str]:
        return tuple(self._makes)

    def tools(self) -> Sequence[str]:
        return sorted({tool for make in self._makes.values() for tool in make.agent.policy.tools})

    def broken(self) -> Mapping[str, LoadFailure]:
        return self._broken

    def models(self) -> Sequence[str]:
        return self._models.names()

    def look(self, agent: str, thread_id: str) -> Look:
        make = self._make(agent)
        with readable(_thread(thread_id)):
            return make.look(read(self._views[agent], _thread(thread_id)))

    def waiting(self, agent: str, thread_id: str) -> tuple[str, ...]:
        self._make(agent)
        view = self._views[agent]
        asked = has_breakpoints(view) or holds_an_interrupt(view, _thread(thread_id))
        return self.look(agent, thread_id).waiting if asked else ()

    def inside(self, agent: str, thread_id: str, *, steps: int = 20) -> Inside:
        self._make(agent)
        view = self._views[agent]
        snapshot, drawn = read(view, _thread(thread_id)).snapshot, view.get_graph()
        with readable(_thread(thread_id)):
            history = view.get_state_history(_thread(thread_id), limit=steps)
            return Inside(
                nodes=tuple(drawn.nodes),
                edges=tuple((edge.source, edge.target, edge.conditional) for edge in drawn.edges),
                at=tuple(task.name for task in snapshot.tasks),
                payloads={interrupt.id: interrupt.value for interrupt in snapshot.interrupts},
                pauses={one.id: shapes.read(one.value, schema_of(one)) for one in snapshot.interrupts},
                steps=tuple(_step(one) for one in history),
            )

    def forget(self, thread_id: str) -> None:
        self._writer.forget(thread_id)

    def stream(self, run: Run, stop: threading.Event, hear: Callable[[Token], None]) -> Iterator[Moment]:
        if self._guard_for is None:
            raise RuntimeError("An engine without a guard runs nothing. Call guard_with first.")
        make, kept = self._make(run.agent), self._graphs[run.agent]
        graph = kept.copy(update={"checkpointer": cast(FencedSaver, kept.checkpointer).for_run(run.fence)})
        self._writer.raise_fence(run.thread_id, run.fence)
        guard = self._guard_for(run, make.agent)
        callbacks: list[BaseCallbackHandler] = [guard, Listener(make.speaks, hear)]
        config = _config(Running(run, stop, partial(self._rules_for, run)), make, callbacks)
        start = deliver(make, graph, config, run)
        yield from start.moments
        said_in_state = False
        if start.runs:
            # An external agent waits for its models and tools in its own places.
            with aside() if make.agent.gates_itself else nullcontext():
                context = make.context(self._context_for(run) if make.agent.gates_itself else {})
                said_in_state = yield from _follow(make, graph, start, stop, guard, context)
        if said_in_state:
            yield _said_in_state(graph, config)
        yield from _standing(make, graph, config, start, stop, run)

    def shut(self) -> None:
        self._writer.conn.close()
        self._reader.conn.close()

    def _make(self, name: str) -> Make:
        if name in self._broken:
            raise AgentNotLoaded(name, str(self._broken[name]))
        if name not in self._makes:
            raise UnknownAgent(name, self.agents())
        return self._makes[name]


def _config(running: Running, make: Make, callbacks: list[BaseCallbackHandler]) -> RunnableConfig:
    return {
        **make.limits(),
        "configurable": {
            **make.configurable(running),
            **_thread(running.run.thread_id)["configurable"],
            STRICT_RESUME: True,
        },
        "callbacks": callbacks,
        **({"metadata": {DELIVERED: running.run.run_id}} if make.agent.gates_itself else {}),
    }


def _follow(
    make: Make, graph: Graph, start: Start, stop: threading.Event, guard: Guard, context: Any
) -> Generator[Moment, None, bool]:
    """Run the graph and tell what happens, until it pauses, ends, or is to stop.

    Returns whether something was said that only the graph's state makes a message of.
    """
    control = RunControl()
    whole: Mapping[str, Any] = {WHOLE_STEPS: True} if make.whole_steps else {}
    config: RunnableConfig = {**start.config, "configurable": {**start.config["configurable"], **whole}}
    how: dict[str, Any] = {
        **make.streamed,
        "context": context,
        "durability": "sync",
        "control": control,
        "version": "v2",
    }
    parts = (
        stepped(graph.astream(start.begin, config, **how), under(guard))
        if make.asynchronous
        else _gated(graph.stream(start.begin, config, **how), guard)
    )
    said_in_state = False
    try:
        for part in parts:
            if part["type"] == "updates":
                if said_in_state:  # by a step that is over
                    yield _said_in_state(graph, start.config)
                for moment in make.moments(part["data"], part["ns"]):
                    if isinstance(moment, StandsInState):
                        said_in_state = True
                    else:
                        yield moment
            if part["type"] == "custom":
                yield Progressed(bounded(dumps(legible(part["data"])), MAX_TOLD))
            if stop.is_set():
                control.request_drain("stopped by a person")
    except GraphDrained:
        pass
    except Stop as stopped:
        raise RunCutOff(str(stopped)) from stopped
    finally:
        parts.close()
    return said_in_state


def _said_in_state(graph: Graph, config: RunnableConfig) -> Said:
    """Return the end of the conversation, as the graph has it."""
    return Said(messages_in(graph.get_state(config))[-LAST_SAID:])


def _gated(stream: Iterator[Any], guard: Guard) -> Generator[Any]:
    """Return the stream, with this gate at the doors of all tools: LangGraph passes the context to its threads."""
    context = under(guard)
    ended = object()
    while (part := context.run(next, stream, ended)) is not ended:
        yield part


def _standing(
    make: Make, graph: Graph, config: RunnableConfig, start: Start, stop: threading.Event, run: Run
) -> Iterator[Moment]:
    """Return what waits for answers now. Raises `RunCutOff` if something could run that this run must not run."""
    reading = read(graph, config)
    if start.runs and isinstance(run.delivery, Resume):
        reading = reading.passed(run.delivery.review_id)
    look = make.look(reading)
    if look.waiting:
        yield Paused(look.waiting, make.asked(reading))
    elif look.unfinished and not stop.is_set():
        why = OF_ITSELF if start.runs else WAITS_ELSEWHERE
        raise RunCutOff(why.format(nodes=", ".join(look.next) or "its next step"))
    elif not make.agent.needs.converses and look.output is not None:
        text = dumps(dict(look.output))
        yield Said((Message(id=f"output-{run.run_id}", type="ai", content=text),))
    yield Stood(look)


def _thread(thread_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}


def _step(snapshot: StateSnapshot) -> CheckpointStep:
    about = snapshot.metadata or {}
    return CheckpointStep(
        checkpoint_id=str(snapshot.config["configurable"]["checkpoint_id"]),
        at=str(snapshot.created_at),
        step=int(about.get("step", 0)),
        source=str(about.get("source", "")),
        next=tuple(snapshot.next),
        messages=len(snapshot.values.get("messages", ())) if snapshot.values else 0,
    )
