"""Interrupts that somebody pasted: read and answered like any other, but the answer is sent to nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.review import shapes
from agent.review.actions import Action
from agent.review.agents import Agent
from agent.review.arguments.args import parse
from agent.review.arguments.argument_faults import ArgumentFault
from agent.review.decisions import check_decisions
from agent.review.errors import ArgumentsRefused, PayloadUnreadable
from agent.review.external import WaitingInterrupt, calls_of
from agent.review.policy import Policy
from agent.review.shapes import Pause

NO_ID = "INTERRUPT_ID"
"""Used in place of the interrupt's id in the answer to a bare value."""
ENVELOPE = frozenset({"value", "id", "response_schema", "ns", "resumable", "when", "interrupt_id"})
"""The fields that the versions of LangGraph have put around an interrupt's value."""
HELD_IN = ("__interrupt__", "interrupts")
"""The keys under which a LangGraph result, or a thread of its server, holds its interrupts."""
REQUESTS = ("action_requests", "actionRequests")
CONFIGS = ("review_configs", "reviewConfigs")
NOBODYS = Agent("(pasted)", "(pasted)", (), Policy({}), "", gates_itself=True)
"""The agent of a pasted interrupt: its tools are unknown, and it gates itself."""


@dataclass(frozen=True)
class Pasted:
    """One parsed interrupt: its shape, and what it asks about."""

    interrupt_id: str
    value: Any
    pause: Pause
    actions: tuple[Action, ...]

    @property
    def asks_nothing(self) -> bool:
        """Whether it has the batched shape, with nothing to decide on."""
        return isinstance(self.value, Mapping) and any(self.value.get(name) == [] for name in REQUESTS)

    @property
    def lacks_configs(self) -> bool:
        """Whether it has the batched shape and does not say which decisions are allowed."""
        return self.pause.shape == "batched" and not any(self.value.get(name) for name in CONFIGS)

    def answers_rejection(self, place: int) -> bool:
        """Return whether a rejection is sent as an answer with the reason, because the action cannot be ignored."""
        return self.pause.shape == "legacy" and self.pause.requests[place].rejected_as == "response"


def read(text: str) -> list[Pasted]:
    """Return the interrupts in a JSON text: a bare value, an interrupt, or something that holds several of them.

    Raises `PayloadUnreadable` for text that is not JSON, or that holds what cannot be shown exactly.
    """
    try:
        found = parse(text)
    except ArgumentsRefused as refused:
        raise PayloadUnreadable([_in_words(fault) for fault in refused.faults]) from None
    return [_read(one) for one in _interrupts(found)]


def answer(pasted: Pasted, decisions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the resume value for these decisions. Raises `InvalidDecision` as deciding does."""
    accepted = check_decisions(list(decisions), pasted.actions, NOBODYS, b"")
    return {pasted.interrupt_id: shapes.answer(pasted.pause, [one.wire for one in accepted])}


def _in_words(fault: ArgumentFault) -> str:
    """Return a fault of the pasted text in words, which are not yet about a tool's arguments."""
    if fault.expected == "JSON":
        return f"it is not JSON, with {fault.got}"
    place = fault.path.removeprefix("args").removeprefix(".")
    return f"{place or 'it'}: expected {fault.expected}, got {fault.got}"


def _interrupts(found: Any) -> list[Any]:
    if isinstance(found, Mapping):
        for name in HELD_IN:
            if isinstance(found.get(name), list) and found[name]:
                return list(found[name])
    if isinstance(found, list) and found and all(_is_envelope(one) for one in found):
        return found
    return [found]


def _is_envelope(found: Any) -> bool:
    return isinstance(found, Mapping) and "value" in found and found.keys() <= ENVELOPE


def _read(found: Any) -> Pasted:
    about: Mapping[str, Any] = found if _is_envelope(found) else {"value": found}
    given = about.get("id", about.get("interrupt_id"))
    interrupt_id = given if isinstance(given, str) and given else NO_ID
    schema = about.get("response_schema")
    schema = schema if isinstance(schema, Mapping) else None
    calls = calls_of(NOBODYS, WaitingInterrupt(interrupt_id, about["value"], schema), ())
    actions = tuple(call.as_action(NOBODYS.name, NOBODYS.name, place) for place, call in enumerate(calls))
    return Pasted(interrupt_id, about["value"], shapes.read(about["value"], schema), actions)


def decision(kind: str, action: Action, text: str) -> dict[str, Any]:
    """Return a decision as a person wrote it: `text` is the reason, the answer, or the edited arguments as JSON.

    Raises `ArgumentsRefused` if an edit's text is not JSON.
    """
    match kind:
        case "edit":
            args = parse(text)
            if not isinstance(args, dict):
                raise ArgumentsRefused(["args: expected an object with the tool's arguments by name"])
            return {"type": kind, "edited_action": {"name": action.tool, "args": args}}
        case "reject" | "respond":
            return {"type": kind, "message": text}
        case _:
            return {"type": kind}
