"""Start a thread, and hold it to the agent and the model it was started with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agent.console.writes import Entry
from agent.ports import Engine, Transaction
from agent.review.agents import Agent
from agent.review.errors import ContextNeeded, InvalidMessage, OtherThread, UnknownAgent, UnknownModel
from agent.review.events import instant
from agent.review.facts import LEFT_OUT, ThreadStartedFact
from agent.review.threads import Status, Thread

OPENING = 120
OWN_MODEL = "its own"
"""The name of a thread's model if its agent has its own."""


def found_or_started(
    tx: Transaction,
    thread_id: str,
    text: str,
    *,
    agent: str | None,
    model: str | None,
    context: Mapping[str, Any] | None,
    by: str,
    engine: Engine,
    moment: datetime,
) -> Thread:
    """Return the thread; record it if it is new. Raises what `Console.send` does of agent, model and context."""
    thread = tx.thread(thread_id)
    if thread is None:
        name, model = _agent_and_model(engine, agent, model)
        _check_context(engine.agent(name), context or {})
        now, opening = instant(moment), " ".join(text.split())[:OPENING]
        thread = Thread(thread_id, name, model, Status.IDLE, now, now, by, opening)
        tx.add_thread(thread)
        Entry(tx, thread, by, moment).note(
            ThreadStartedFact(model=thread.model, context=dict(context) if context else LEFT_OUT)
        )
    elif context is not None:
        raise InvalidMessage(
            f"The context of {thread_id} was set when it started. Leave it out, or start another."
        )
    _check_same(thread, agent, model)
    return thread


def _agent_and_model(engine: Engine, agent: str | None, model: str | None) -> tuple[str, str]:
    """Return the agent and the model of a new thread: those named, or the first ones served."""
    agents, models = engine.agents(), engine.models()
    if agent is None and not agents:
        raise UnknownAgent("", agents)
    found = engine.agent(agent or agents[0])
    if found.gates_itself:
        return found.name, OWN_MODEL
    if model is not None and model not in models:
        raise UnknownModel(model, models)
    return found.name, model or models[0]


def _check_context(agent: Agent, context: Mapping[str, Any]) -> None:
    """Raise `ContextNeeded` if the agent's context lacks a value, and `InvalidMessage` if it has no such field."""
    if missing := agent.needs.missing(context):
        raise ContextNeeded(agent.name, missing)
    known = agent.needs.context_schema.get("properties", {})
    if unknown := sorted(context.keys() - known.keys()):
        fields = ", ".join(known) or "no fields"
        raise InvalidMessage(
            f"The context of {agent.name} has no {unknown[0]!r}. Leave it out; it has {fields}."
        )


def _check_same(thread: Thread, agent: str | None, model: str | None) -> None:
    """Raise `OtherThread` if another agent or model than the thread's own is named."""
    # An agent with its own model keeps it, whichever model is named.
    model = thread.model if thread.model == OWN_MODEL else model
    if (agent or thread.agent, model or thread.model) != (thread.agent, thread.model):
        raise OtherThread(thread.thread_id, thread.agent, thread.model)
