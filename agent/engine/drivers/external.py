"""Agents of another make: any compiled LangGraph graph that converses in `messages`.

It is driven through its own graph and gates itself. What cannot be known of every graph is how a turn is ended or
goes on once some of its calls have got their results from elsewhere:

* LangChain's `create_agent` has one node that sends the open calls to the tools. Results are written as that node:
  the calls that are still open then run, or are asked about anew, and a closing answer ends the turn.
* In another graph with a tools node, results for *all* open calls are written as the tools node, since a graph that
  only looks at its last message would forget the others. A closing answer is written as the node behind the tools.
* In a graph without one the turn just ends: results are written where it stands, and nothing more of it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeGuard

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import InvalidUpdateError
from langgraph.graph import END
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Interrupt

from agent.engine.asynchronous import is_only_asynchronous, update_state
from agent.engine.checkpointer import FencedSaver
from agent.engine.checkpoints import Graph, Reading, schema_of
from agent.engine.messages import message_of, results_for
from agent.engine.reach import tools_by_place
from agent.ports import Look, Moment, Proposed, Said
from agent.review import external, shapes, tool_messages
from agent.review.agents import Agent, Tool
from agent.review.bounds import MAX_RESULT
from agent.review.deliveries import AnswerCalls, Repeat, Resume
from agent.review.errors import NothingToAskAgain
from agent.review.policy import Policy
from agent.review.screening import ScreenedCall

CREATE_AGENT = "langchain_create_agent"
"""How LangChain marks the graphs that `create_agent` builds."""
ROUTE_TO_TOOLS = "model_to_tools"
CLEARINGS = 10
"""Supersteps that ending a turn may take: each only applies what finished nodes had written."""


def is_graph(found: Any) -> TypeGuard[Graph]:
    return isinstance(found, CompiledStateGraph)


def agent_of(name: str, graph: Graph) -> Agent:
    """The graph as an agent of the console. Raises TypeError for one that cannot be conversed with."""
    if "messages" not in graph.channels:
        raise TypeError(f"the state of {name} has no messages, so nothing can be said to it")
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
    )


class Foreign:
    """An agent that keeps its own gating."""

    # With `messages`, LangGraph gives each message that has no id one, and streams models that are only invoked. A
    # graph inside the graph tells of its steps too, for a run has to stop at them as well.
    streamed: Mapping[str, Any] = MappingProxyType(
        {"stream_mode": ["updates", "messages"], "subgraphs": True}
    )
    whole_steps = False

    def __init__(self, agent: Agent, graph: Graph) -> None:
        self.agent, self._graph = agent, graph
        self._tools_node = next((name for name, node in graph.nodes.items() if _tools_by_name(node)), None)
        self._router = _router(graph)
        self.asynchronous = is_only_asynchronous(graph)

    def compiled(self, saver: FencedSaver) -> Graph:
        # Compiling anew is what lets the checkpointer read the graph's own types under strict msgpack; the graph
        # itself keeps what it was compiled with, such as a store.
        readable = self._graph.builder.compile(checkpointer=saver).checkpointer
        return self._graph.copy(update={"checkpointer": readable})

    def limits(self) -> RunnableConfig:
        return {}

    def look(self, reading: Reading) -> Look:
        return reading.look(limit=MAX_RESULT)

    def speaks(self, place: Mapping[str, Any]) -> bool:
        return "|" not in place.get("langgraph_checkpoint_ns", "")  # else in a graph inside the graph

    def moments(self, update: Mapping[str, Any]) -> Iterator[Moment]:
        for node, change in update.items():
            said = [] if node.startswith("__") else list(_messages(change))
            if any(isinstance(message, ToolMessage) for message in said):
                # No call is judged here. But the step before is saved by now, so what was said in it can be recorded.
                yield Proposed(())
            if said:
                yield Said(tuple(message_of(message, MAX_RESULT) for message in said))

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
        look = self.look(reading)
        if answers.closing is not None and reading.holds(answers.closing_id):
            return
        goes_on = self._router is not None and answers.closing is None
        rest = answers.rest if goes_on else answers.rest or tool_messages.NO_RESULT
        messages: list[AnyMessage] = list(results_for(look, answers.results, rest))
        if answers.closing is not None:
            messages.append(AIMessage(answers.closing, id=answers.closing_id))
        if not messages:
            # What was closed was a question beside any call: only ending the turn takes it away.
            if any(result.tool_call_id.startswith(look.waiting) for result in answers.results):
                self._end(graph, config, [], None)
            return
        messages = [*reading.unsaved_results(), *messages]
        if self._router is not None:
            answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
            goes_on = any(call.tool_call_id not in answered for call in external.open_calls(look.messages))
            # Without middleware the node that proposes the calls is the one that sends them to the tools: it knows no way back to itself.
            node = (
                self._router if goes_on or answers.closing is not None else self._tools_node or self._router
            )
            self._write(graph, config, messages, node)
        elif self._tools_node is None:
            self._end(graph, config, messages, next(iter(look.next), None))
        elif answers.closing is None:
            self._write(graph, config, messages, self._tools_node)
        else:
            behind = [end for start, end in graph.builder.edges if start == self._tools_node]
            self._end(graph, config, messages, behind[0] if len(behind) == 1 else self._tools_node)

    def _end(
        self, graph: Graph, config: RunnableConfig, messages: list[AnyMessage], node: str | None
    ) -> None:
        """Write the messages as this node, and let nothing more of the turn run."""
        if messages:
            try:
                self._write(graph, config, messages, node)
            except InvalidUpdateError:  # nobody can tell which node would have said this
                self._write(graph, config, messages, "__start__")
        for _ in range(CLEARINGS):
            if not graph.get_state(config).tasks:
                return
            graph.update_state(config, None, as_node=END)

    def _write(
        self, graph: Graph, config: RunnableConfig, messages: list[AnyMessage], node: str | None
    ) -> None:
        """Write the messages as this node, whose routers then say what goes on."""
        if self.asynchronous:
            update_state(graph, config, {"messages": messages}, node)
        else:
            graph.update_state(config, {"messages": messages}, as_node=node)


def _asked(interrupt: Interrupt[Any], place: str = "") -> external.WaitingInterrupt:
    return external.WaitingInterrupt(interrupt.id, interrupt.value, schema_of(interrupt), place)


def _messages(change: Any) -> Iterator[BaseMessage]:
    """The new messages of a node's update, which may be one update or a list of them."""
    for one in change if isinstance(change, list) else [change]:
        found = one.get("messages", ()) if isinstance(one, Mapping) else ()
        for message in found if isinstance(found, list | tuple) else [found]:
            if isinstance(message, BaseMessage) and message.id and not isinstance(message, RemoveMessage):
                yield message


def _tools(graph: Graph) -> list[Tool]:
    """The tools of the graph and of those inside it, as their own objects; one that a graph hides is not known."""
    graphs = [graph, *(inner for _, inner in graph.get_subgraphs(recurse=True))]
    nodes = [node for one in graphs for node in getattr(one, "nodes", {}).values()]
    found: dict[str, Tool] = {}
    for node in nodes:
        found = {**_tools_by_name(node), **found}
    return list(found.values())


def _tools_by_name(node: Any) -> Mapping[str, Tool]:
    found = getattr(getattr(node, "bound", None), "tools_by_name", {})
    return found if isinstance(found, Mapping) else {}


def _router(graph: Graph) -> str | None:
    """The node of a `create_agent` graph that sends the open calls to the tools."""
    if ((graph.config or {}).get("metadata") or {}).get("ls_integration") != CREATE_AGENT:
        return None
    return next((node for node, routes in graph.builder.branches.items() if ROUTE_TO_TOOLS in routes), None)
