"""External agents: any compiled LangGraph graph that converses in `messages`.

It is driven through its own graph and gates itself. How results get into its turn is told in `drivers/turns.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Interrupt

from agent.engine import breakpoints
from agent.engine.asynchronous import is_only_asynchronous
from agent.engine.checkpointer import FencedSaver
from agent.engine.checkpoints import Graph, Reading, messages_in, schema_of
from agent.engine.decoding import Reaching
from agent.engine.drivers import Running, StandsInState
from agent.engine.drivers.outputs import output_of
from agent.engine.drivers.turns import Turn, tools_by_name
from agent.engine.loading.needs import context_of, needs_of
from agent.engine.loading.schemas import classes_of
from agent.engine.messages import message_of
from agent.engine.namespaces import graph_of, names_of
from agent.engine.reach import tools_by_place
from agent.engine.unsaved import routed_wrong
from agent.ports import Look, Moment, Proposed, Said
from agent.review import external, shapes, tool_messages
from agent.review.agents import Agent, Tool
from agent.review.bounds import MAX_RESULT
from agent.review.deliveries import AnswerCalls, Repeat, Resume
from agent.review.errors import NothingToAskAgain
from agent.review.policy import Policy
from agent.review.screening import ScreenedCall
from agent.serving.options import AgentOptions


def agent_of(name: str, graph: Graph, options: AgentOptions) -> Agent:
    """Return the graph as an agent of the console."""
    return Agent(
        name=name,
        title=name,
        tools=_tools(graph),
        policy=Policy({}),
        prompt="",
        version="",
        gates_itself=True,
        isolated=False,
        tools_at=tools_by_place(graph),
        needs=needs_of(graph, options),
    )


class Foreign:
    """An agent that keeps its own gating."""

    # With `messages`, LangGraph gives each message that has no id one, and streams models that are only invoked. A
    # graph inside the graph tells of its steps too, for a run has to stop at them as well.
    streamed: Mapping[str, Any] = MappingProxyType(
        {"stream_mode": ["updates", "messages", "custom"], "subgraphs": True}
    )
    whole_steps = False

    def __init__(self, agent: Agent, graph: Graph, options: AgentOptions) -> None:
        self.agent, self._graph, self._options = agent, graph, options
        self._speakers = {"", *_speakers(graph)}
        self._classes = classes_of(graph)
        self.asynchronous = is_only_asynchronous(graph)

    def compiled(self, saver: FencedSaver) -> Graph:
        return self._graph.copy(update={"checkpointer": saver.decoding(Reaching(self._classes))})

    def limits(self) -> RunnableConfig:
        return {}

    def configurable(self, running: Running) -> Mapping[str, Any]:
        return self._options.configurable

    def context(self, given: Mapping[str, Any]) -> Any:
        return context_of(self._graph.context_schema, {**self._options.context, **given})

    def look(self, reading: Reading) -> Look:
        return replace(reading.look(limit=MAX_RESULT), output=output_of(self._graph, reading.snapshot.values))

    def speaks(self, place: Mapping[str, Any]) -> bool:
        return names_of(graph_of(str(place.get("langgraph_checkpoint_ns") or ""))) in self._speakers

    def moments(
        self, update: Mapping[str, Any], place: Sequence[str] = ()
    ) -> Iterator[Moment | StandsInState]:
        if names_of("|".join(place)) not in self._speakers:
            return
        for node, change in update.items():
            if not place and not node.startswith("__") and _is_of_another_form(change):
                yield StandsInState()
            said = [] if node.startswith("__") else list(_messages(change))
            if any(isinstance(message, ToolMessage) for message in said):
                # No call is judged here. But the step before is saved by now, so what was said in it can be recorded.
                yield Proposed(())
            if said:
                yield Said(tuple(message_of(message, MAX_RESULT) for message in said))
                yield from self._unreadable(said)

    def _unreadable(self, said: Sequence[BaseMessage]) -> Iterator[Moment]:
        """Tell of calls whose arguments their model wrote so that nobody can read them, with the raw text."""
        for message in said:
            for call in message.invalid_tool_calls if isinstance(message, AIMessage) else ():
                meant = external.OpenCall(str(message.id), call["id"] or "", call["name"] or "", call["args"])
                if meant.tool_call_id:
                    yield Proposed((external.unreadable(self.agent, meant),))

    def asked(self, reading: Reading) -> Mapping[str, tuple[ScreenedCall, ...]]:
        meant: set[tuple[str, str]] = set()
        found = {}
        for raised in reading.waiting:
            opened = [
                call
                for call in external.open_calls(raised.messages)
                if (call.message_id, call.tool_call_id) not in meant
            ]
            calls = external.calls_of(self.agent, _asked(raised.interrupt, raised.place), opened)
            meant |= {(call.message_id, call.tool_call_id) for call in calls}
            found[raised.interrupt.id] = calls
        return found

    def answer(self, reading: Reading, resume: Resume) -> Any:
        raised = reading.raised_as(resume.review_id)
        if raised is None:
            return None
        asked = _asked(raised.interrupt)
        return shapes.answer(shapes.read(asked.value, asked.response_schema), resume.decisions)

    def repeat(self, graph: Graph, config: RunnableConfig, repeat: Repeat) -> None:
        """Not for a graph that gates itself: what it makes of a proposal that is not its model's, nobody knows."""
        raise NothingToAskAgain(str(config["configurable"]["thread_id"]))

    def answer_calls(
        self, graph: Graph, config: RunnableConfig, answers: AnswerCalls, reading: Reading
    ) -> None:
        if answers.closing is None or not reading.holds(answers.closing_id):
            self._turn(graph, config).answer(answers, reading.snapshot)

    def pass_breakpoint(self, graph: Graph, config: RunnableConfig, resume: Resume, reading: Reading) -> None:
        turn, snapshot = self._turn(graph, config), reading.snapshot
        said = messages_in(snapshot)
        told = {
            call.tool_call_id: tool_messages.rejected_elsewhere(str(one.get("message") or "").strip())
            for call, one in zip(breakpoints.waiting_calls(said), resume.decisions, strict=True)
        }
        # A tools node runs every call of the message; its tools' doors then give the rejected ones their result.
        answers = turn.router is not None
        if turn.router is None and turn.tools_node is not None:
            decisions = [one if one["type"] == "edit" else {"type": "approve"} for one in resume.decisions]
        else:
            decisions = list(resume.decisions)
        if found := breakpoints.changed(snapshot, said, decisions, told, answers=answers):
            turn.write({"messages": found}, turn.sender(said, found))

    def go_on(self, graph: Graph, config: RunnableConfig, reading: Reading) -> None:
        turn = self._turn(graph, config)
        if (failed := routed_wrong(turn.saver, graph, reading.snapshot)) is not None:
            node, values = failed
            turn.write(values, node)

    def set_aside(self, graph: Graph, config: RunnableConfig, reading: Reading) -> None:
        self._turn(graph, config).hand_up(reading.snapshot)

    def _turn(self, graph: Graph, config: RunnableConfig) -> Turn:
        return Turn(graph, graph, config, self.asynchronous)


def _asked(interrupt: Interrupt[Any], place: str = "") -> external.WaitingInterrupt:
    return external.WaitingInterrupt(interrupt.id, interrupt.value, schema_of(interrupt), place)


def _is_of_another_form(change: Any) -> bool:
    """Whether a node's update holds messages as LangGraph takes them too: as dicts, tuples or text, or without an id."""
    for one in change if isinstance(change, list) else [change]:
        found = one.get("messages") if isinstance(one, Mapping) else None
        each = found if isinstance(found, list) else [found] if found is not None else []
        if any(not isinstance(message, BaseMessage) or not message.id for message in each):
            return True
    return False


def _speakers(graph: Graph, around: str = "") -> Iterator[str]:
    """Return the graphs that are nodes of the graph, at any depth, and share its conversation: they speak for the agent."""
    for name, node in graph.nodes.items():
        inner, place = node.bound, f"{around}|{name}".lstrip("|")
        if isinstance(inner, CompiledStateGraph) and "messages" in inner.channels:
            yield place
            yield from _speakers(inner, place)


def _messages(change: Any) -> Iterator[BaseMessage]:
    """Return the new messages of a node's update, which may be one update or a list of them."""
    for one in change if isinstance(change, list) else [change]:
        found = one.get("messages", ()) if isinstance(one, Mapping) else ()
        for message in found if isinstance(found, list | tuple) else [found]:
            if isinstance(message, BaseMessage) and message.id and not isinstance(message, RemoveMessage):
                yield message


def _tools(graph: Graph) -> list[Tool]:
    """Return the tools of the graph and of those inside it; one that a graph hides is not found."""
    graphs = [graph, *(inner for _, inner in graph.get_subgraphs(recurse=True))]
    nodes = [node for one in graphs for node in getattr(one, "nodes", {}).values()]
    found: dict[str, Tool] = {}
    for node in nodes:
        found = {**tools_by_name(node), **found}
    return list(found.values())
