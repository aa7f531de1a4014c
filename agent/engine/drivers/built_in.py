"""The agents of this repository: the graph of `agent.engine.graph` under a policy of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.messages.tool import tool_call
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from agent.engine import graph as built_in
from agent.engine.checkpointer import FencedSaver
from agent.engine.checkpoints import Graph, Reading
from agent.engine.drivers import Running
from agent.engine.messages import message_of, results_for
from agent.ports import Look, Moment, Proposed, Said
from agent.review.agents import Agent
from agent.review.deliveries import AnswerCalls, Repeat, Resume
from agent.review.external import open_calls
from agent.review.screening import ScreenedCall
from agent.review.shapes import resume_value


class BuiltIn:
    """An agent of ours."""

    # Updates alone, of one graph alone: only then does LangGraph run a node in the thread of its caller. Else each
    # step takes three threads that wait for each other.
    streamed: Mapping[str, Any] = MappingProxyType({"stream_mode": "updates"})
    whole_steps = True
    asynchronous = False

    def __init__(
        self,
        agent: Agent,
        model_named: Callable[[str | None], BaseChatModel],
        *,
        window: int = built_in.WINDOW,
        max_rounds: int = built_in.MAX_ROUNDS,
    ) -> None:
        self.agent = agent
        self._builder = built_in.build(agent, model_named, window=window, max_rounds=max_rounds)
        self._recursion_limit = built_in.STEPS_PER_ROUND * (max_rounds + 2)

    def compiled(self, saver: FencedSaver) -> Graph:
        return self._builder.compile(checkpointer=saver.decoding_once())

    def limits(self) -> RunnableConfig:
        return {"recursion_limit": self._recursion_limit}

    def configurable(self, running: Running) -> Mapping[str, Any]:
        return {
            built_in.MODEL: running.run.model,
            built_in.STOP: running.stop,
            built_in.RULES: running.rules,
            built_in.ACCEPTED: True,
        }

    def context(self, given: Mapping[str, Any]) -> Any:
        return None

    def look(self, reading: Reading) -> Look:
        values = reading.snapshot.values
        kept = values.get("calls", ()) if values else ()
        return reading.look([ScreenedCall.from_state(one) for one in kept])

    def speaks(self, place: Mapping[str, Any]) -> bool:
        return place.get("langgraph_node") == "llm_call"

    def moments(self, update: Mapping[str, Any], place: Sequence[str] = ()) -> Iterator[Moment]:
        for node, change in update.items():
            if node == "__interrupt__" or not change:
                continue
            said = [one for one in change.get("messages", ()) if not isinstance(one, RemoveMessage)]
            if said:
                yield Said(tuple(message_of(message) for message in said))
            if node == "human_review":
                # Not when they were screened: until the next step, a crash could still have them judged again.
                yield Proposed(tuple(ScreenedCall.from_state(kept) for kept in change["calls"]))

    def asked(self, reading: Reading) -> Mapping[str, tuple[ScreenedCall, ...]]:
        return {}

    def answer(self, reading: Reading, resume: Resume) -> Any:
        return resume_value(resume.decisions)

    def pass_breakpoint(self, graph: Graph, config: RunnableConfig, resume: Resume, reading: Reading) -> None:
        """Nothing: a graph of ours has no breakpoints."""

    def go_on(self, graph: Graph, config: RunnableConfig, reading: Reading) -> None:
        """Nothing: no router of ours fails."""

    def set_aside(self, graph: Graph, config: RunnableConfig, reading: Reading) -> None:
        """Nothing: no graph is inside one of ours."""

    def repeat(self, graph: Graph, config: RunnableConfig, repeat: Repeat) -> None:
        calls = [tool_call(name=one.tool, args=one.args, id=one.tool_call_id) for one in repeat.calls]
        messages = [
            HumanMessage(repeat.text, id=repeat.message_id),
            AIMessage("", id=repeat.proposal_id, tool_calls=calls),
        ]
        graph.update_state(config, {"messages": messages}, as_node="llm_call")

    def answer_calls(
        self, graph: Graph, config: RunnableConfig, answers: AnswerCalls, reading: Reading
    ) -> None:
        look = self.look(reading)
        results = results_for(look.messages, answers.results, answers.rest)
        if answers.closing is not None:
            closing = AIMessage(answers.closing, id=answers.closing_id)
            if not reading.holds(answers.closing_id):
                graph.update_state(config, {"messages": [*results, closing]}, as_node="llm_call")
            return
        answered = {message.tool_call_id for message in results}
        opened = {call.tool_call_id for call in open_calls(look.messages)}
        left = opened - answered if answers.rest is None else set[str]()
        update = {"messages": results, "calls": [_answered(call, answers, left) for call in look.calls]}
        if answers.ask_again:
            again = [
                call for call in look.calls if call.tool_call_id in answers.ask_again and call.fate == "run"
            ]
            if again or results:
                graph.update_state(config, update, as_node="screen")
        elif results and left:
            graph.update_state(config, Command(update=update, goto="tool_node"), as_node="human_review")
        elif results:
            graph.update_state(config, update, as_node="tool_node")


def _answered(call: ScreenedCall, answers: AnswerCalls, left: Set[str]) -> dict[str, Any]:
    """Return the call as it is afterwards: asked about again, or answered if it has a result by now."""
    kept = call.to_state()
    if call.tool_call_id in answers.ask_again:
        # A call that ran without asking had no allowed decisions; now it is a person's, whatever rule allowed it.
        kept |= {"fate": "ask", "attempt": call.attempt + 1, "tier": "ask", "rule_id": None}
        kept["allowed"] = call.allowed or ["approve", "reject"]
    elif call.tool_call_id not in left:
        # Else a later question about a sibling would ask about this one too.
        kept["fate"] = "answered"
    return kept
