"""The console that the pages draw, and the world of its demo agents."""

from __future__ import annotations

from agent import bootstrap
from agent.console import Console
from agent.demos.world import World
from agent.review.agents import Agent
from agent.review.errors import ReviewError


def console() -> Console:
    return bootstrap.opened().console


def is_isolated(agent: str) -> bool:
    """Return whether the agent's tools touch only the demo world; true if the agent is not served."""
    try:
        return console().queries.agent(agent).isolated
    except ReviewError:
        return True


def gates_itself(agent: str) -> bool:
    """Return whether this is an external agent that decides itself what it asks about; false if it is not served."""
    try:
        return console().queries.agent(agent).gates_itself
    except ReviewError:
        return False


def served(agent: str) -> Agent | None:
    """Return the agent, or None if it is not served."""
    try:
        return console().queries.agent(agent)
    except ReviewError:
        return None


def world() -> World:
    return bootstrap.opened().world


def wait_for_work() -> None:
    """Wait until the console is at work. Until then a thread may be importing its modules, and pages must not do so."""
    bootstrap.opened().go_to_work()


def note_painted() -> None:
    """Let the engine start: a browser that polls has painted its page, so starting delays it no more."""
    bootstrap.opened().engine.wanted.set()
