"""The calls that external agents ask about, in the console's own form.

An external agent gates its calls itself, so no policy judges them: what it asks is read from its interrupts, and
what it does not ask about is recorded as not gated by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent.review import questions, shapes, tool_messages
from agent.review.agents import Agent
from agent.review.arguments.args import check, dumps
from agent.review.arguments.fitting import Received
from agent.review.bounds import MAX_REFUSED, bounded
from agent.review.errors import ArgumentsRefused
from agent.review.policy import seconds
from agent.review.screening import Fate, ScreenedCall, entered_apart, notes_on
from agent.review.shapes import Pause, Request
from agent.review.threads import Message

NOT_GATED = "not gated"
"""Used in place of a policy's tier for a call that its agent did not ask about."""
NOT_GATED_BY_ITS_AGENT = "Not gated by its agent."
ASKED_BY_ITS_AGENT = "Its agent asks before this."
MAX_FAULTS = 10
OF_AN_INTERRUPT = "interrupt/"
"""The prefix of an action's message id if no message proposed the action, only an interrupt."""


@dataclass(frozen=True)
class WaitingInterrupt:
    """One interrupt that waits."""

    id: str
    value: Any
    response_schema: Mapping[str, Any] | None = None
    place: str = ""
    """The task that raised it, as LangGraph's checkpoint namespace."""


@dataclass(frozen=True)
class OpenCall:
    """A call in the conversation that has no result yet."""

    message_id: str
    tool_call_id: str
    tool: str
    args: Any
    place: str = ""
    """The task that runs it, or that asks about it, as LangGraph's checkpoint namespace."""


@dataclass(frozen=True)
class Taken:
    """What a tool receives of its arguments, as far as is known, and what a reviewer should know about that."""

    args: dict[str, Any] | None
    """None if they cannot be shown exactly."""
    entered: dict[str, Any] | None = None
    notes: dict[str, Any] = field(default_factory=dict)


def open_calls(messages: Sequence[Message]) -> list[OpenCall]:
    """Return the calls proposed last that have no result yet, in order."""
    answered: set[str | None] = set()
    for message in reversed(messages):
        if message.type == "ai":
            calls = {call.id: call for call in message.tool_calls}
            return [
                OpenCall(message.id, call.id, call.name, call.args)
                for call in calls.values()
                if call.id not in answered
            ]
        if message.type == "tool":
            answered.add(message.tool_call_id)
    return []


def calls_of(agent: Agent, asked: WaitingInterrupt, opened: Sequence[OpenCall]) -> tuple[ScreenedCall, ...]:
    """Return the calls an interrupt asks about: each request with the open call it means.

    A request that fits no open call, and a question that is not about a call, become calls of the interrupt itself.
    """
    pause = shapes.read(asked.value, asked.response_schema)
    if not pause.requests:
        return (_question(agent, asked, pause),)
    left = _Left(opened)
    calls = []
    for place, request in enumerate(pause.requests):
        meant = left.take(request)
        if meant is None:
            meant = OpenCall(
                f"{OF_AN_INTERRUPT}{asked.id}", f"{asked.id}/{place}", request.name, request.args
            )
        calls.append(_asked_about(agent, request, pause, replace(meant, place=asked.place)))
    return tuple(calls)


def free(agent: Agent, meant: OpenCall, received: dict[str, Any] | None) -> ScreenedCall:
    """Return a call that its agent runs without asking, with what its tool's function is about to receive."""
    try:
        check(meant.args)
        check(received)
    except ArgumentsRefused as refused:
        got = Taken(None, notes={"unfit": str(refused)})
    else:
        got = Taken(received) if received is None else _taken(Received(received, meant.args))
    return _call(agent, meant, got, tier=NOT_GATED, why=NOT_GATED_BY_ITS_AGENT, fate="run")


def unreadable(agent: Agent, meant: OpenCall) -> ScreenedCall:
    """Return a call whose arguments nobody can read, and which its agent's own code therefore does not run."""
    refused = _call(
        agent, meant, Taken(None), tier=NOT_GATED, why="The arguments cannot be read.", fate="answered"
    )
    return replace(refused, refusal=tool_messages.UNREADABLE, notes={"unfit": "it is no JSON object"})


def taken(agent: Agent, tool: str, args: Any, place: str = "") -> Taken:
    """Return what the tool receives of these arguments, called at this place of the agent's graph.

    Arguments of an unknown tool, and arguments that do not fit, are shown as they were proposed: if the tool then
    receives others, the guard blocks the call.
    """
    try:
        check(args)
    except ArgumentsRefused as refused:
        return Taken(None, notes={"unfit": str(refused)})
    if not agent.knows(tool):
        return Taken(dict(args), notes={"unchecked": True})
    try:
        return _taken(agent.received(tool, args, unknown="drop", place=place))
    except ArgumentsRefused as refused:
        return Taken(dict(args), notes={"unfit": str(refused)})


def _taken(valid: Received) -> Taken:
    return Taken(valid.args, entered_apart(valid), notes_on(valid))


class _Left:
    """The open calls that no request has taken yet, found by id, or by tool and arguments."""

    def __init__(self, opened: Sequence[OpenCall]) -> None:
        self._left = dict(enumerate(opened))
        self._by_id: dict[Any, list[int]] = {}
        self._by_call: dict[Any, list[int]] = {}
        for place in reversed(self._left):  # so that the first one is last, where it is popped
            call = self._left[place]
            self._by_id.setdefault(call.tool_call_id, []).append(place)
            self._by_call.setdefault(_spelt(call.tool, call.args), []).append(place)
            self._by_call.setdefault(call.tool, []).append(place)

    def take(self, request: Request) -> OpenCall | None:
        """Return the call that a request means, and remove it, so that no other request gets it."""
        if request.tool_call_id is not None:
            return self._first(self._by_id.get(request.tool_call_id, []))
        # If no call has these arguments, this may take another call of the tool than the one shown. What runs is then
        # not what was approved, and the guard blocks it.
        same = self._first(self._by_call.get(_spelt(request.name, request.args), []))
        return same or self._first(self._by_call.get(request.name, []))

    def _first(self, places: list[int]) -> OpenCall | None:
        while places:
            if (call := self._left.pop(places.pop(), None)) is not None:
                return call
        return None


def _spelt(tool: str, args: Any) -> tuple[str, str]:
    try:
        return tool, json.dumps(args, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):  # keys of several types, or a value that contains itself
        return tool, repr(args)


def _asked_about(agent: Agent, request: Request, pause: Pause, meant: OpenCall) -> ScreenedCall:
    got = taken(agent, request.name, request.args, meant.place)
    if request.description:
        got.notes["description"] = request.description
    if pause.shape == "per_call":
        got.notes["same_tool"] = True
    # What cannot be shown exactly cannot be approved as shown.
    allowed = [kind for kind in request.allowed if got.args is not None or kind != "approve"]
    shown = replace(meant, tool=request.name, args=request.args)
    return _call(agent, shown, got, tier="ask", why=ASKED_BY_ITS_AGENT, fate="ask", allowed=allowed)


def _question(agent: Agent, asked: WaitingInterrupt, pause: Pause) -> ScreenedCall:
    """Return a question that is not about a call, as one call that never runs and can only be answered."""
    args = questions.question_of(asked.value, asked.response_schema)
    meant = OpenCall(f"{OF_AN_INTERRUPT}{asked.id}", asked.id, questions.QUESTION, args, asked.place)
    why = "Its agent asks a question of its own form."
    return _call(agent, meant, Taken(args), tier="ask", why=why, fate="ask", allowed=["respond"])


def _call(
    agent: Agent,
    meant: OpenCall,
    got: Taken,
    *,
    tier: str,
    why: str,
    fate: Fate,
    allowed: Sequence[str] = (),
) -> ScreenedCall:
    policy = agent.policy
    return ScreenedCall(
        message_id=meant.message_id,
        tool_call_id=meant.tool_call_id,
        tool=meant.tool,
        proposed=meant.args
        if got.args is not None
        else bounded(json.dumps(meant.args, default=repr), MAX_REFUSED),
        args=got.args,
        entered=got.entered,
        place=meant.place,
        tier=tier,
        why=why,
        allowed=list(allowed),
        summary=_summary(meant.tool, got.args),
        policy_version=policy.version,
        approve_by=seconds(policy.approve_by),
        execute_by=seconds(policy.execute_by),
        fate=fate,
        notes=got.notes,
    )


def _summary(tool: str, args: dict[str, Any] | None) -> str:
    if tool == questions.QUESTION:
        return "Answer the agent's question."
    if args is None:
        return f"Call {tool} with arguments that cannot be shown exactly."
    return f"Call {tool} with {dumps(args)}."
