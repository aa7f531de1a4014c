"""Start a thread, and hold it to the agent and the model it was started with."""

from __future__ import annotations

from datetime import datetime

from agent.console.writes import Entry
from agent.ports import Engine, Transaction
from agent.review.errors import OtherThread, UnknownAgent, UnknownModel
from agent.review.events import instant
from agent.review.facts import ThreadStartedFact
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
    by: str,
    engine: Engine,
    moment: datetime,
) -> Thread:
    """Return the thread; record it if it is new. Raises `UnknownAgent`, `UnknownModel` and `OtherThread`."""
    thread = tx.thread(thread_id)
    if thread is None:
        name, model = _agent_and_model(engine, agent, model)
        now, opening = instant(moment), " ".join(text.split())[:OPENING]
        thread = Thread(thread_id, name, model, Status.IDLE, now, now, by, opening)
        tx.add_thread(thread)
        Entry(tx, thread, by, moment).note(ThreadStartedFact(model=thread.model))
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


def _check_same(thread: Thread, agent: str | None, model: str | None) -> None:
    """Raise `OtherThread` if another agent or model than the thread's own is named."""
    # An agent with its own model keeps it, whichever model is named.
    model = thread.model if thread.model == OWN_MODEL else model
    if (agent or thread.agent, model or thread.model) != (thread.agent, thread.model):
        raise OtherThread(thread.thread_id, thread.agent, thread.model)
