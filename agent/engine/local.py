"""Agents in this process: LangGraph graphs, driven and read through one checkpointer file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import Command, StateSnapshot

from agent.engine import graph as built_in
from agent.engine.guard import Guard, Stop
from agent.engine.model import Models
from agent.engine.saver import FencedSaver
from agent.ports import (
    Continue,
    Inside,
    Look,
    Mend,
    Moment,
    Paused,
    Proposed,
    Result,
    Resume,
    RunCutOff,
    Said,
    Send,
    Step,
    Token,
    deliveries,
)
from agent.review import told
from agent.review.agents import Agent
from agent.review.errors import AgentNotLoaded, UnknownAgent
from agent.review.screening import Call
from agent.review.shapes import resume_value
from agent.review.threads import Message, Run, ToolCall, result_id

# LangGraph refuses a resume that names no waiting interrupt only under this private key; a test holds it.
STRICT_RESUME = "__pregel_strict_resume"

GuardFor = Callable[[Run, Agent], Guard]
Graph = CompiledStateGraph[Any, Any, Any, Any]


class LocalEngine:
    """The built-in agents, over the checkpoint file at `path`."""

    def __init__(
        self,
        agents: Mapping[str, Agent],
        models: Models,
        path: Path | str,
        *,
        broken: Mapping[str, str] | None = None,
        window: int = built_in.WINDOW,
        max_rounds: int = built_in.MAX_ROUNDS,
    ) -> None:
        self._agents, self._models, self._broken = agents, models, broken or {}
        # A reader of its own, because one saver is one connection and one lock.
        self._writer, self._reader = FencedSaver(path), FencedSaver(path)
        self._recursion_limit = built_in.STEPS_PER_ROUND * (max_rounds + 2)
        builders = {
            name: built_in.build(agent, models.named, window=window, max_rounds=max_rounds)
            for name, agent in agents.items()
        }
        self._graphs = {name: one.compile(checkpointer=self._writer) for name, one in builders.items()}
        self._views = {name: one.compile(checkpointer=self._reader) for name, one in builders.items()}
        self._guard_for: GuardFor | None = None

    def guard_with(self, guard_for: GuardFor) -> None:
        """Give every later run a guard; a run without one is never started."""
        self._guard_for = guard_for

    def agent(self, name: str) -> Agent:
        if name in self._broken:
            raise AgentNotLoaded(name, self._broken[name])
        if name not in self._agents:
            raise UnknownAgent(name, self.agents())
        return self._agents[name]

    def agents(self) -> Sequence[str]:
        return tuple(self._agents)

    def broken(self) -> Mapping[str, str]:
        return self._broken

    def models(self) -> Sequence[str]:
        return self._models.names()

    def look(self, agent: str, thread_id: str) -> Look:
        self.agent(agent)
        return _look(self._views[agent].get_state(_thread(thread_id)))

    def inside(self, agent: str, thread_id: str, *, steps: int = 20) -> Inside:
        self.agent(agent)
        view = self._views[agent]
        drawn = view.get_graph()
        snapshot = view.get_state(_thread(thread_id))
        history = view.get_state_history(_thread(thread_id), limit=steps)
        return Inside(
            nodes=tuple(drawn.nodes),
            edges=tuple((edge.source, edge.target, edge.conditional) for edge in drawn.edges),
            at=tuple(task.name for task in snapshot.tasks),
            payloads={interrupt.id: interrupt.value for interrupt in snapshot.interrupts},
            steps=tuple(_step(one) for one in history),
        )

    def stream(self, run: Run, stop: threading.Event) -> Iterator[Moment]:
        if self._guard_for is None:
            raise RuntimeError("An engine without a guard runs nothing. Call guard_with first.")
        graph, agent = self._graphs[run.agent], self.agent(run.agent)
        self._writer.raise_fence(run.thread_id, run.fence)
        config = self._config(run, self._guard_for(run, agent), stop)
        begin, stands = _deliver(graph, config, run)
        if run.delivery["kind"] == "mend":
            yield Said(stands.messages)
            yield Proposed(stands.calls)
        if begin is None and stands.waiting:
            yield Paused(stands.waiting)
        if begin is None and (stands.waiting or not stands.unfinished):
            return
        control = RunControl()
        stream: Iterator[Any] = graph.stream(
            begin,
            config,
            stream_mode=["updates", "messages"],
            subgraphs=True,
            durability="sync",
            control=control,
        )
        try:
            for _, mode, chunk in stream:
                yield from _tokens(chunk) if mode == "messages" else _moments(chunk)
                if stop.is_set():
                    control.request_drain("stopped by a person")
        except GraphDrained:
            return
        except Stop as stopped:
            raise RunCutOff(str(stopped)) from stopped

    def shut(self) -> None:
        self._writer.conn.close()
        self._reader.conn.close()

    def _config(self, run: Run, guard: Guard, stop: threading.Event) -> RunnableConfig:
        return {
            "configurable": {
                **_thread(run.thread_id)["configurable"],
                "fence": run.fence,
                "model": run.model,
                "stop": stop,
                STRICT_RESUME: True,
            },
            "callbacks": [guard],
            "recursion_limit": self._recursion_limit,
        }


def _thread(thread_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}


# Delivering. Each looks first whether it arrived already, so a run can be delivered again after a crash.


def _deliver(graph: Graph, config: RunnableConfig, run: Run) -> tuple[Any, Look]:
    """What to start the graph with (None: go on from where it stands), and where it stands."""
    look = _look(graph.get_state(config))
    match deliveries.validate_python(run.delivery):
        case Send() as send if all(message.id != send.message_id for message in look.messages):
            return _message(send, look), look
        case Resume() as resume if resume.review_id in look.waiting:
            return Command(resume={resume.review_id: resume_value(resume.decisions)}), look
        case Mend() as mend:
            _mend(graph, config, mend, look)
            return None, _look(graph.get_state(config))
        case Send() | Resume() | Continue():
            return None, look


def _message(send: Send, look: Look) -> dict[str, Any]:
    """The message, behind a result for every call a broken turn left open: no model sees a call without one."""
    known = {result.tool_call_id: result for result in send.results}
    results = [
        _tool_message(known.get(call_id, Result(call_id, tool, "error", told.FAILED_TURN)), look)
        for call_id, tool in _open_calls(look).items()
    ]
    return {"messages": [*results, HumanMessage(send.text, id=send.message_id)]}


def _mend(graph: Graph, config: RunnableConfig, mend: Mend, look: Look) -> None:
    """Write results for open calls as the node that would have given them (see the README's map)."""
    results: list[AnyMessage] = [_tool_message(result, look) for result in _missing(mend.results, look)]
    if mend.closing is not None:
        closing = AIMessage(mend.closing, id=mend.closing_id)
        if all(message.id != closing.id for message in look.messages):
            graph.update_state(config, {"messages": [*results, closing]}, as_node="llm_call")
        return
    left = _open_calls(look).keys() - {result.tool_call_id for result in mend.results}
    update = {"messages": results, "calls": [_mended(call, mend, left) for call in look.calls]}
    if mend.ask_again:
        again = [call for call in look.calls if call.tool_call_id in mend.ask_again and call.fate == "run"]
        if again or results:
            graph.update_state(config, update, as_node="screen")
    elif results and left:
        graph.update_state(config, Command(update=update, goto="tool_node"), as_node="human_review")
    elif results:
        graph.update_state(config, update, as_node="tool_node")


def _mended(call: Call, mend: Mend, left: Set[str]) -> dict[str, Any]:
    """The call after the mending: asked about again, or answered if it has a result by now."""
    kept = call.to_state()
    if call.tool_call_id in mend.ask_again:
        # A call that ran without asking had no allowed decisions; now it is a person's.
        kept |= {"fate": "ask", "attempt": call.attempt + 1, "tier": "ask"}
        kept["allowed"] = call.allowed or ["approve", "reject"]
    elif call.tool_call_id not in left:
        # Else a later question about a sibling would ask about this one too.
        kept["fate"] = "answered"
    return kept


def _open_calls(look: Look) -> dict[str, str]:
    """The last proposed calls that have no result yet: id to tool."""
    opened: dict[str, str] = {}
    for message in look.messages:
        if message.type == "ai":
            opened = {call.id: call.name for call in message.tool_calls}
        elif message.type == "tool":
            opened.pop(str(message.tool_call_id), None)
    return opened


def _missing(results: Sequence[Result], look: Look) -> list[Result]:
    opened = _open_calls(look)
    return [result for result in results if result.tool_call_id in opened]


def _tool_message(result: Result, look: Look) -> ToolMessage:
    proposing = next(m for m in reversed(look.messages) if m.type == "ai" and m.tool_calls)
    return ToolMessage(
        result.text,
        id=result_id(proposing.id, result.tool_call_id),
        tool_call_id=result.tool_call_id,
        name=result.tool,
        status=result.status,
    )


# Telling. What LangGraph streams, in the console's own terms.


def _tokens(chunk: Any) -> Iterator[Moment]:
    message, about = chunk
    if isinstance(message, AIMessageChunk) and about.get("langgraph_node") == "llm_call" and message.text:
        yield Token(str(message.id), str(message.text))


def _moments(update: Mapping[str, Any]) -> Iterator[Moment]:
    for node, change in update.items():
        if node == "__interrupt__":
            yield Paused(tuple(interrupt.id for interrupt in change))
        elif change:
            said = [
                message for message in change.get("messages", ()) if not isinstance(message, RemoveMessage)
            ]
            if said:
                yield Said(tuple(_told(message) for message in said))
            if node == "screen":
                yield Proposed(tuple(Call.from_state(kept) for kept in change["calls"]))


def _look(snapshot: StateSnapshot) -> Look:
    messages = snapshot.values.get("messages", ()) if snapshot.values else ()
    calls = snapshot.values.get("calls", ()) if snapshot.values else ()
    return Look(
        messages=tuple(_told(message) for message in messages),
        calls=tuple(Call.from_state(kept) for kept in calls),
        waiting=tuple(interrupt.id for interrupt in snapshot.interrupts),
        # Not `next`: it leaves out a node whose writes are saved while the step's checkpoint is not.
        unfinished=bool(snapshot.tasks),
    )


def _step(snapshot: StateSnapshot) -> Step:
    about = snapshot.metadata or {}
    return Step(
        checkpoint_id=str(snapshot.config["configurable"]["checkpoint_id"]),
        at=str(snapshot.created_at),
        step=int(about.get("step", 0)),
        source=str(about.get("source", "")),
        next=tuple(snapshot.next),
        messages=len(snapshot.values.get("messages", ())) if snapshot.values else 0,
    )


def _told(message: AnyMessage) -> Message:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    unread = message.invalid_tool_calls if isinstance(message, AIMessage) else []
    tool = message if isinstance(message, ToolMessage) else None
    return Message(
        id=str(message.id),
        type=message.type,
        content=str(message.text),
        tool_calls=tuple(
            ToolCall(call["id"] or "", call["name"] or "", call["args"]) for call in [*calls, *unread]
        ),
        tool_call_id=tool.tool_call_id if tool else None,
        status=tool.status if tool else None,
    )
