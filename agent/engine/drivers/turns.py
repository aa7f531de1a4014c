"""How results are written into a turn of a graph that gates itself: the outermost one, or one inside it.

What cannot be known of every graph is how a turn is ended or goes on once some of its calls have got their results from
elsewhere:

* LangChain's `create_agent` has one node that sends the open calls to the tools. Results are written as that node:
  the calls that are still open then run, or are asked about again, and a closing answer ends the turn.
* In another graph with a tools node, results for *all* open calls are written as the tools node, since a graph that
  only looks at its last message would forget the others. A closing answer is written as the node behind the tools.
* In a graph without one the turn just ends: results are written where it stands, and nothing more of it runs.

A graph inside the graph is written to in its own checkpoint. When its turn goes on, it hands up what it did itself; when
the turn ends, that is done here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import InvalidUpdateError
from langgraph.graph import END
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.types import PregelTask, StateSnapshot

from agent.engine.asynchronous import update_state
from agent.engine.checkpoints import Graph, messages_in, saver_of
from agent.engine.messages import results_for
from agent.engine.unsaved import unsaved, unsaved_messages
from agent.review import external, tool_messages
from agent.review.agents import Tool
from agent.review.bounds import MAX_RESULT
from agent.review.deliveries import AnswerCalls, ToolResult
from agent.review.threads import Message

CREATE_AGENT = "langchain_create_agent"
"""How LangChain marks the graphs that `create_agent` builds."""
ROUTE_TO_TOOLS = "model_to_tools"
CLEARINGS = 10
"""Supersteps that ending a turn may take: each only applies what finished nodes had written."""


@dataclass(frozen=True)
class Turn:
    """The present turn of one graph of an agent."""

    graph: Graph
    """The graph itself, compiled or not over the console's checkpointer."""
    through: Graph
    """The outermost graph, through which all of them are read and written."""
    config: RunnableConfig
    asynchronous: bool

    @cached_property
    def router(self) -> str | None:
        """The node of a `create_agent` graph that sends the open calls to the tools."""
        if ((self.graph.config or {}).get("metadata") or {}).get("ls_integration") != CREATE_AGENT:
            return None
        branches = self.graph.builder.branches.items()
        return next((node for node, routes in branches if ROUTE_TO_TOOLS in routes), None)

    @cached_property
    def tools_node(self) -> str | None:
        return next((name for name, node in self.graph.nodes.items() if tools_by_name(node)), None)

    def answer(self, answers: AnswerCalls, snapshot: StateSnapshot) -> None:
        """Write the results where their calls are open, and end the turn where it cannot go on."""
        ends = answers.closing is not None
        inside = [inner.answer_inside(answers, task) for task, inner in self._nested(snapshot)]
        handed = self._take_up(snapshot) if ends else None
        messages = self._results(answers, snapshot, only_known=any(inside) and not ends)
        if answers.closing is not None:
            messages.append(AIMessage(answers.closing, id=answers.closing_id))
        if handed is not None:
            self.end({"messages": messages}, handed)
        elif messages:
            self._write_results(messages, snapshot, ends)
        elif not any(inside) and _asks_one_of(snapshot, answers.results):
            # What was closed was a question next to any call: only ending the turn takes it away.
            self.end(self._unsaved(snapshot), None)

    def answer_inside(self, answers: AnswerCalls, task: PregelTask) -> bool:
        """Write the results of this graph, which the task called; return whether there was anything to write."""
        snapshot = task.state
        if not isinstance(snapshot, StateSnapshot):
            return False
        inside = [inner.answer_inside(answers, one) for one, inner in self._nested(snapshot)]
        if messages := self._results(answers, snapshot, only_known=True):
            self._write_results(messages, snapshot, False)
            return True
        if not any(inside) and _asks_one_of(snapshot, answers.results):
            self.end(self._unsaved(snapshot), None)
            return True
        return any(inside)

    def sender(self, said: Sequence[Message], written: Sequence[AnyMessage]) -> str | None:
        """Return as which node of a `create_agent` graph results are written, so that what is still open goes on."""
        answered = {one.tool_call_id for one in written if isinstance(one, ToolMessage)}
        if any(call.tool_call_id not in answered for call in external.open_calls(said)):
            return self.router
        # Without middleware the node that proposes the calls is the one that sends them to the tools: it knows no way
        # back to itself.
        return self.tools_node or self.router

    def end(self, values: Mapping[str, Any], node: str | None) -> None:
        """Write these values as this node, and let nothing more of the turn run."""
        if values:
            try:
                self.write(values, node)
            except InvalidUpdateError:  # nobody can tell which node would have written this
                self.write(values, "__start__")
        for _ in range(CLEARINGS):
            if not self.through.get_state(self.config).tasks:
                return
            self.through.update_state(self.config, None, as_node=END)

    def write(self, values: Mapping[str, Any], node: str | None) -> None:
        """Write these values as this node, whose routers then say what goes on."""
        if self.asynchronous:
            update_state(self.through, self.config, dict(values), node)
        else:
            self.through.update_state(self.config, dict(values), as_node=node)

    def hand_up(self, snapshot: StateSnapshot) -> None:
        """Bring up what the graphs inside did, and end the turn there: something else is to begin."""
        if (node := self._take_up(snapshot)) is not None:
            self.end({}, node)

    def _take_up(self, snapshot: StateSnapshot) -> str | None:
        """Write what the graphs inside did into this one, as the nodes that called them; return the last such node."""
        last = None
        for task, inner in self._nested(snapshot):
            if not isinstance(self.graph.nodes[task.name].bound, Pregel):
                continue  # a function called it, and what that makes of it nobody here knows
            inner._take_up(task.state)  # type: ignore[arg-type]
            values = self.through.get_state(inner.config).values
            handed = {name: values[name] for name in self._shared(inner, values)}
            if handed:
                self.write(handed, task.name)
                last = task.name
        return last

    def _shared(self, inner: Turn, values: Mapping[str, Any]) -> Sequence[str]:
        given = inner.graph.output_channels
        names = [given] if isinstance(given, str) else given
        return [name for name in names if name in values and name in self.graph.channels]

    def _results(
        self, answers: AnswerCalls, snapshot: StateSnapshot, *, only_known: bool
    ) -> list[AnyMessage]:
        """Return results for the open calls; with `only_known` none where no result is for one of them."""
        goes_on = self.router is not None and answers.closing is None
        rest = answers.rest if goes_on else answers.rest or tool_messages.NO_RESULT
        said = messages_in(snapshot, MAX_RESULT)
        opened = {call.tool_call_id for call in external.open_calls(said)}
        if only_known and not any(one.tool_call_id in opened for one in answers.results):
            return []  # another graph of the agent was asked
        return list(results_for(said, answers.results, rest))

    def _unsaved(self, snapshot: StateSnapshot) -> dict[str, Any]:
        said = unsaved_messages(self.saver, snapshot)
        values = unsaved(self.saver, self.graph, snapshot)
        return {**values, "messages": said} if said else values

    @property
    def saver(self) -> BaseCheckpointSaver[Any]:
        return saver_of(self.through)

    def _write_results(self, messages: Sequence[AnyMessage], snapshot: StateSnapshot, ends: bool) -> None:
        before = self._unsaved(snapshot)
        values = {**before, "messages": [*before.get("messages", ()), *messages]}
        if self.router is not None:
            said = messages_in(snapshot, MAX_RESULT)
            self.write(values, self.router if ends else self.sender(said, values["messages"]))
        elif self.tools_node is None:
            self.end(values, next(iter(snapshot.next), None))
        elif not ends:
            self.write(values, self.tools_node)
        else:
            behind = [end for start, end in self.graph.builder.edges if start == self.tools_node]
            self.end(values, behind[0] if len(behind) == 1 else self.tools_node)

    def _nested(self, snapshot: StateSnapshot) -> Iterator[tuple[PregelTask, Turn]]:
        """Yield the graphs that the snapshot's tasks have called and that have not ended, each with its task."""
        graphs = dict(self.graph.get_subgraphs())
        around = self.config["configurable"].get("checkpoint_ns") or ""
        for task in snapshot.tasks:
            inner = graphs.get(task.name)
            if not isinstance(inner, CompiledStateGraph) or not isinstance(task.state, StateSnapshot):
                continue
            place = f"{around}|{task.name}:{task.id}".lstrip("|")
            named = {**self.config["configurable"], "checkpoint_ns": place}
            yield task, replace(self, graph=inner, config={**self.config, "configurable": named})


def tools_by_name(node: Any) -> Mapping[str, Tool]:
    """Return the tools of a node, if it is a `ToolNode`."""
    found = getattr(getattr(node, "bound", None), "tools_by_name", {})
    return found if isinstance(found, Mapping) else {}


def _asks_one_of(snapshot: StateSnapshot, results: Sequence[ToolResult]) -> bool:
    """Whether one of the results is for a question that was asked here, by itself or with the calls it was about."""
    asked = tuple(one.id for one in snapshot.interrupts)
    return any(result.tool_call_id.startswith(asked) for result in results) if asked else False
