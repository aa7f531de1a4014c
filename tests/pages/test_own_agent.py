"""An agent with tools of one's own on the chat page."""

from __future__ import annotations

from agent.console import Console
from tests.conftest import ask
from tests.pages.conftest import Opens
from tests.test_own_agent import CALL, agents, settings

__all__ = ["agents", "settings"]


def test_its_thread_shows_neither_the_demo_world_nor_the_way_to_a_scenario(
    opens: Opens, console: Console
) -> None:
    screen = opens("chat", thread=ask(console, CALL))
    assert "add_note" in screen.said()
    assert not screen.has("reset-world")
    assert not screen.has("scenario")
