"""The console that the pages draw, and the world of its demo agents."""

from __future__ import annotations

from agent import bootstrap
from agent.console import Console
from agent.demos.world import World
from agent.review.errors import ReviewError


def console() -> Console:
    return bootstrap.opened().console


def is_isolated(agent: str) -> bool:
    """Whether the agent's tools touch the demo world alone; true if the agent is not served."""
    try:
        return console().queries.agent(agent).isolated
    except ReviewError:
        return True


def gates_itself(agent: str) -> bool:
    """Whether the agent is of another make and decides by itself what it asks about; false if it is not served."""
    try:
        return console().queries.agent(agent).gates_itself
    except ReviewError:
        return False


def world() -> World:
    return bootstrap.opened().world


def wait_for_work() -> None:
    """Until the console is at work; before, what it works with may just be imported, which no page may do meanwhile."""
    bootstrap.opened().go_to_work()


def note_painted() -> None:
    """A browser that asks whether anything moved has painted its page, which is held up by nothing any more."""
    bootstrap.opened().engine.wanted.set()
