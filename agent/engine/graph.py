"""The built-in agent: a LangGraph graph that stops before the calls that its policy asks about.

    START → llm_call ─ no tool call → END
               └─ tool calls → screen → human_review ─ calls to run → tool_node → llm_call
                                              └─ none to run → llm_call

`screen` judges the calls once and keeps its verdicts in the state. `human_review` holds the only
`interrupt()`; it runs again from its top on resume, so the code before the interrupt only reads.
Every call gets a result before the model is called again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Literal, cast
from uuid import uuid4

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    InvalidToolCall,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.channels import DeltaChannel
from langgraph.errors import GraphBubbleUp
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import _messages_delta_reducer
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from agent.engine.bounding import as_broken, fault_of, named, within_bounds
from agent.engine.checkpointer import WHOLE_STEPS
from agent.engine.door import calling
from agent.engine.guard import Stop
from agent.engine.scheduling import aside
from agent.engine.turn import REJECTED, answered, looping, rejections, rounds, within
from agent.review import tool_messages
from agent.review.agents import Agent
from agent.review.arguments.args import MAX_BYTES, parse, utf8_length
from agent.review.bounds import MAX_RESULT, spelt
from agent.review.errors import ArgumentsRefused
from agent.review.repeats import same_call
from agent.review.screening import Proposal, ScreenedCall, entered_apart, screen
from agent.review.shapes import interrupt_value
from agent.review.threads import result_id

WINDOW = 300
"""Messages kept in the state; the complete transcript is in the ledger."""
MAX_ROUNDS = 25
STEPS_PER_ROUND = 4
TOO_MANY_ROUNDS = (
    "I stopped here: this turn has used all its tool calls ({rounds} rounds). Tell me how to go on."
)
MODEL, STOP, RULES = "model", "stop", "rules"
"""What the console sets in `configurable`, for the nodes alone: no tool sees it."""
ACCEPTED = "accepted"
"""Key set in `configurable` if decisions reach this graph only after the console accepted them under its policy.

They are then carried out as decided, whatever the policy says by now."""
OF_THE_CONSOLE = frozenset([MODEL, STOP, RULES, ACCEPTED, WHOLE_STEPS])
STOPPED = "Stopped while the model was replying."
EMPTY_REPLY = "(The model gave an empty reply. Ask again, or ask differently.)"


Model = Runnable[LanguageModelInput, AIMessage]
"""A chat model with the agent's tools bound to it."""


class GraphState(TypedDict):
    # With it a turn costs its own size on disk, not the thread's. Beta in LangGraph; `add_messages` is the alternative.
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=100)]
    calls: list[dict[str, Any]]


def build(
    agent: Agent,
    model_named: Callable[[str | None], BaseChatModel],
    *,
    window: int = WINDOW,
    max_rounds: int = MAX_ROUNDS,
) -> StateGraph[GraphState]:
    """Return the agent's graph, to be compiled with the checkpointer of the caller's choice.

    `model_named` returns the chat model for `configurable.model`, or the default for None. It is called once per model,
    because describing the tools to a model takes as long as many other steps of a turn.
    """

    @cache
    def bound(name: str | None) -> Model:
        return model_named(name).bind_tools(list(agent.tools))  # type: ignore[arg-type]

    nodes = Nodes(agent, bound, window, max_rounds)
    graph = StateGraph(GraphState)
    graph.add_node("llm_call", nodes.llm_call)
    graph.add_node("screen", nodes.screen)
    graph.add_node("human_review", nodes.human_review)
    graph.add_node("tool_node", nodes.tool_node)
    graph.add_edge(START, "llm_call")
    graph.add_conditional_edges("llm_call", _route, ["screen", END])
    graph.add_edge("screen", "human_review")
    graph.add_edge("tool_node", "llm_call")
    return graph


@dataclass(frozen=True)
class Nodes:
    """The graph's nodes, for one agent."""

    agent: Agent
    model_named: Callable[[str | None], Model]
    window: int
    max_rounds: int

    def llm_call(self, state: GraphState, config: RunnableConfig) -> dict[str, Any]:
        """Call the model, unless the turn repeats a rejected call or has used up its rounds."""
        kept = within(state["messages"], self.window)
        dropped = [
            RemoveMessage(id=str(m.id)) for m in state["messages"][: len(state["messages"]) - len(kept)]
        ]
        if loop := looping(kept, state.get("calls", ())):
            answer = AIMessage(tool_messages.REPEATED_ANSWER.format(times=loop), id=str(uuid4()))
        elif rounds(kept) >= self.max_rounds:
            answer = AIMessage(TOO_MANY_ROUNDS.format(rounds=self.max_rounds), id=str(uuid4()))
        else:
            model = self.model_named(config.get("configurable", {}).get(MODEL))
            answer = ask(model, [SystemMessage(self.agent.prompt), *kept], config)
        return {"messages": [*dropped, answer]}

    def screen(self, state: GraphState, config: RunnableConfig) -> dict[str, Any]:
        """Judge the calls the model proposed, once."""
        message = _last_ai(state["messages"])
        remembered = config.get("configurable", {}).get(RULES)
        calls = screen(
            self.agent,
            str(message.id),
            proposals(message),
            rejected=rejections(state["messages"]),
            remembered=remembered() if remembered else (),
        )
        refused = [result(call, "error", call.refusal) for call in calls if call.fate == "answered"]
        return {
            "messages": [*_repaired(message, calls), *refused],
            "calls": [call.to_state() for call in calls],
        }

    def human_review(
        self, state: GraphState, config: RunnableConfig
    ) -> Command[Literal["tool_node", "llm_call"]]:
        """Interrupt for the calls that a person must decide, and apply the answer. Runs again from here on resume."""
        calls = [ScreenedCall.from_state(kept) for kept in state["calls"]]
        asked = [call for call in calls if call.fate == "ask"]
        answer = interrupt(interrupt_value(asked)) if asked else {}
        decided = dict(zip((c.tool_call_id for c in asked), decisions_in(answer, len(asked)), strict=True))
        accepted = bool(config.get("configurable", {}).get(ACCEPTED))
        outcomes = [_outcome(call, decided.get(call.tool_call_id), self.agent, accepted) for call in calls]
        after = [call for call, _ in outcomes]
        results = [message for _, message in outcomes if message]
        changed = [
            now
            for was, now in zip(calls, after, strict=True)
            if (now.tool, now.args, now.enters) != (was.tool, was.args, was.enters)
        ]
        edited = [_with_calls(_last_ai(state["messages"]), after)] if changed else []
        return Command(
            update={"messages": [*edited, *results], "calls": [call.to_state() for call in after]},
            goto="tool_node" if any(call.fate == "run" for call in after) else "llm_call",
        )

    def tool_node(self, state: GraphState, config: RunnableConfig) -> dict[str, Any]:
        """Run the calls that may run and have no result yet, in the model's order."""
        done = answered(state["messages"])
        calls = [ScreenedCall.from_state(kept) for kept in state["calls"]]
        return {
            "messages": [
                self._run(call, config)
                for call in calls
                if call.fate == "run" and call.tool_call_id not in done
            ]
        }

    def _run(self, call: ScreenedCall, config: RunnableConfig) -> ToolMessage:
        tool = self.agent.tools_by_name.get(call.tool)
        if tool is None:  # an update took it away since the call was judged
            return result(call, "error", tool_messages.unknown_tool(call.tool, self.agent.policy.usable))
        return run(tool, call, config, self.agent.policy.max_result_of(call.tool))


def ask(model: Model, messages: list[Any], config: RunnableConfig) -> AIMessage:
    """Return the model's reply, with its calls' arguments read strictly from the text it streamed.

    Raises `Stop` as soon as the event `configurable.stop`, if there is one, is set.

    LangChain completes broken JSON while it merges a stream; a reply cut short would then look like a
    shorter call. Text that is not one exact JSON object stays an invalid call instead.
    """
    stop = config.get("configurable", {}).get(STOP)
    chunks = []
    with aside():
        for chunk in model.stream(messages, config):
            if stop is not None and stop.is_set():
                raise Stop(STOPPED)
            chunks.append(chunk)
    if not chunks:
        return AIMessage(EMPTY_REPLY, id=str(uuid4()))
    # Added up in one go: adding chunk by chunk takes time quadratic in the number of calls.
    whole = cast(AIMessage, chunks[0] if len(chunks) == 1 else chunks[0] + chunks[1:])
    calls: list[Any] = []
    broken: list[InvalidToolCall] = []
    for proposal in _streamed(whole):
        try:
            calls.append(tool_call(name=proposal.tool, args=_object(proposal.args), id=proposal.id))
        except ArgumentsRefused as refused:
            broken.append(as_broken(proposal, refused))
    content = whole.content if whole.content or calls or broken else EMPTY_REPLY
    return AIMessage(
        content,
        # A new id: a provider may give several replies the same one, and the later would replace the earlier.
        id=str(uuid4()),
        tool_calls=calls,
        invalid_tool_calls=broken,
        response_metadata=whole.response_metadata,
    )


def _streamed(whole: AIMessage) -> list[Proposal]:
    chunks = whole.tool_call_chunks if isinstance(whole, AIMessageChunk) else []
    found = [Proposal(c["id"] or "", c["name"] or "", c["args"] or "{}") for c in chunks]
    return [named(proposal) for proposal in found or proposals(whole)]


def _object(args: Any) -> dict[str, Any]:
    # An object is checked later, when the call is screened; one that is too large is refused here.
    text = spelt(args)
    read = parse(text) if isinstance(args, str) or utf8_length(text) > MAX_BYTES else args
    if not isinstance(read, dict):
        raise ArgumentsRefused(["the arguments are not a JSON object"])
    return read


def proposals(message: AIMessage) -> list[Proposal]:
    """Return the calls a message proposes; one whose arguments could not be read keeps their text."""
    return [Proposal(c["id"] or "", c["name"], c["args"]) for c in message.tool_calls] + [
        Proposal(c["id"] or "", c["name"] or "", c["args"] or "", fault_of(c))
        for c in message.invalid_tool_calls
    ]


def result(call: ScreenedCall, status: str, text: Any, limit: int = MAX_RESULT) -> ToolMessage:
    """Return a call's result as the model sees it, under an id that is the same each time."""
    return ToolMessage(
        within_bounds(text, limit),
        id=result_id(call.message_id, call.tool_call_id),
        tool_call_id=call.tool_call_id,
        name=call.tool,
        status=status,
    )


def run(tool: Any, call: ScreenedCall, config: RunnableConfig, limit: int = MAX_RESULT) -> ToolMessage:
    """Run one call. What the tool raises becomes its result; only what stops the run propagates.

    The tool gets a `configurable.idempotency_key` that is the same for every attempt at this action, and for no other.
    """
    named = config.get("configurable", {})
    own = {key: value for key, value in named.items() if key not in OF_THE_CONSOLE}
    own["idempotency_key"] = _action_id(call, config)
    config = {**config, "configurable": own}
    request = {"type": "tool_call", "id": call.tool_call_id, "name": call.tool, "args": deepcopy(call.enters)}
    try:
        with aside(), calling(call.key(str(own.get("thread_id", "")))):
            message = tool.invoke(request, config)
    except GraphBubbleUp:
        raise
    except Exception as error:
        return result(call, "error", tool_messages.failed(error), limit)
    return result(call, message.status, message.content, limit)


def _action_id(call: ScreenedCall, config: RunnableConfig) -> str:
    thread_id = config.get("configurable", {}).get("thread_id", "")
    return f"{thread_id}/{call.message_id}/{call.tool_call_id}"


def decisions_in(answer: Any, count: int) -> list[Mapping[str, Any] | None]:
    """Return the first `count` decisions of a resume value of any shape, with None for each missing one."""
    given = answer.get("decisions") if isinstance(answer, Mapping) else None
    found = [one if isinstance(one, Mapping) else None for one in given] if isinstance(given, list) else []
    return (found + [None] * count)[:count]


def _outcome(
    call: ScreenedCall, decision: Mapping[str, Any] | None, agent: Agent, accepted: bool
) -> tuple[ScreenedCall, ToolMessage | None]:
    """Return a call after review, and its result if it does not run.

    A decision that did not pass through the console may have any form: if it is not understood, the call does not run.
    """
    if call.fate != "ask":
        return call, None
    kind = decision.get("type") if decision else None
    if decision is None or kind is None:
        return _not_run(call, tool_messages.UNDECIDED)
    if kind not in call.allowed:
        return _not_run(call, tool_messages.not_allowed(str(kind), call.allowed))
    reply = str(decision.get("message") or "")
    match kind:
        case "approve":
            denial = None if accepted else agent.denial(call.tool, call.args)
            return _not_run(call, denial.for_model) if denial else (replace(call, fate="run"), None)
        case "edit":
            return _edited(call, decision.get("edited_action"), agent, accepted)
        case "respond":
            return replace(call, fate="answered"), result(call, "success", reply)
    stays, rejected = _not_run(call, tool_messages.rejected(reply.strip()))
    # Not sent to the model: only this graph reads it, so that no tool's own words pass for a person's.
    return stays, rejected.model_copy(update={"artifact": {REJECTED: same_call(call.tool, call.args)}})


def _edited(
    call: ScreenedCall, action: Any, agent: Agent, accepted: bool
) -> tuple[ScreenedCall, ToolMessage | None]:
    name = action.get("name") if isinstance(action, Mapping) else None
    if not isinstance(name, str):
        return _not_run(call, tool_messages.UNREADABLE_EDIT)
    tool = agent.tools_by_name.get(name)
    if tool is None:
        return _not_run(call, tool_messages.unknown_tool(name, agent.policy.usable))
    if not accepted and name not in agent.policy.usable:
        return _not_run(call, tool_messages.denied(name))
    try:
        valid = agent.received(tool.name, action.get("args"), unknown="refuse")
    except ArgumentsRefused as refused:
        return _not_run(call, tool_messages.unfit(name, str(refused)))
    if not accepted and (denial := agent.denial(name, valid.args)):
        return _not_run(call, denial.for_model)
    entered = entered_apart(valid)
    return replace(call, tool=name, args=valid.args, entered=entered, fate="run"), None


def _not_run(call: ScreenedCall, text: str) -> tuple[ScreenedCall, ToolMessage]:
    return replace(call, fate="answered"), result(call, "error", text)


def _route(state: GraphState) -> str:
    message = state["messages"][-1]
    calls = isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls)
    return "screen" if calls else END


def _last_ai(messages: Sequence[AnyMessage]) -> AIMessage:
    return next(message for message in reversed(messages) if isinstance(message, AIMessage))


def _repaired(message: AIMessage, calls: Sequence[ScreenedCall]) -> list[AIMessage]:
    """Return the message with valid calls under its own id, or nothing if its calls can be in a history as they are."""
    ids = [call["id"] for call in message.tool_calls]
    whole = all(call.args is not None or isinstance(call.proposed, dict) for call in calls)
    if whole and not message.invalid_tool_calls and ids == [call.tool_call_id for call in calls]:
        return []
    return [_with_calls(message, calls)]


def _with_calls(message: AIMessage, calls: Sequence[ScreenedCall]) -> AIMessage:
    made = [
        tool_call(
            name=call.tool,
            args=call.enters
            if call.enters is not None
            else call.proposed
            if isinstance(call.proposed, dict)
            else {},
            id=call.tool_call_id,
        )
        for call in calls
    ]
    return message.model_copy(update={"tool_calls": made, "invalid_tool_calls": []})
