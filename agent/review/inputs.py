"""What an external agent takes in besides a message: checked before it is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.review.agents import Agent
from agent.review.arguments.args import check
from agent.review.arguments.argument_faults import cut
from agent.review.errors import ArgumentsRefused, InvalidMessage
from agent.review.json_schemas import Schema, TooMuchWork
from agent.review.patterns import PatternRefused

MAX_FAULTS = 10


def fields_of(agent: Agent) -> list[str]:
    """Return the names of what the agent takes in besides messages."""
    return list(agent.needs.further_input)


def check_input(agent: Agent, *, says: bool, given: Mapping[str, Any] | None) -> None:
    """Raise `InvalidMessage` unless the agent takes this input, with a message or without one."""
    named = ", ".join(fields_of(agent))
    if says and not agent.needs.converses:
        raise InvalidMessage(f"{agent.name} takes no messages. Send its input alone: {named}.")
    if given is None:
        return
    if agent.needs.further_schema is None:
        raise InvalidMessage(f"{agent.name} takes nothing besides messages. Send the message without input.")
    try:
        check(dict(given))
    except ArgumentsRefused as refused:
        raise InvalidMessage(f"The input cannot be sent: {refused}") from None
    if unknown := [name for name in given if name not in fields_of(agent)]:
        raise InvalidMessage(f"{agent.name} takes no {', '.join(map(cut, unknown))}. It takes: {named}.")
    if faults := _faults(agent, given):
        raise InvalidMessage(f"The input does not fit what {agent.name} takes: {'; '.join(faults)}.")


def _faults(agent: Agent, given: Mapping[str, Any]) -> list[str]:
    # Where there is a conversation, its state may hold a field already, or fill it in by itself.
    schema = dict(agent.needs.further_schema or {}) | ({"required": []} if agent.needs.converses else {})
    try:
        errors = Schema(schema).errors(dict(given))
        return [cut(error.message, 200) for error in errors][:MAX_FAULTS]
    except (PatternRefused, TooMuchWork) as refused:
        return [str(refused)]
    except Exception:  # not a valid schema: the graph itself says what it takes
        return []
