"""What the pages say of external agents that cannot be loaded, need something, or fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.console import Console
from agent.settings import Settings
from tests.conftest import ask
from tests.pages.conftest import Opens
from tests.serving import projects

NEEDY = """
from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState, StateGraph
from pydantic import BaseModel


class Context(BaseModel):
    user: str
    limit: int


def n(state: MessagesState, runtime):
    return {"messages": [AIMessage(f"{runtime.context.user} {runtime.context.limit + 1}")]}


graph = StateGraph(MessagesState, context_schema=Context).add_node(n).add_edge("__start__", "n").compile()
failing = (
    StateGraph(MessagesState).add_node("n", lambda state: state["nothing"]).add_edge("__start__", "n").compile()
)
"""


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    graphs = {"needy": "./needy.py:graph", "failing": "./needy.py:failing", "broken": "./broken.py:graph"}
    files = {"needy.py": NEEDY, "broken.py": "\nraise ValueError('its key is missing')\n"}
    file = projects.write(tmp_path / "home", files, {"graphs": graphs})
    return settings.model_copy(update={"review_agents": file})


def test_an_agent_that_cannot_be_loaded_is_shown_with_file_line_and_traceback(opens: Opens) -> None:
    said = opens("chat").said()
    assert "broken: ValueError: its key is missing" in said
    assert "broken.py, line 2" in said
    assert "Traceback (most recent call last)" in said


def test_what_the_context_needs_is_asked_for_before_the_thread_starts(opens: Opens, console: Console) -> None:
    screen = opens("chat")
    screen.at.chat_input(key="message").set_value("hello")
    assert "its context needs user, limit. Set it in review.toml" in screen.run().said()
    assert console.queries.threads() == []
    screen.at.text_input(key="context:needy:user").set_value("7")
    screen.at.text_input(key="context:needy:limit").set_value("7")
    screen.at.chat_input(key="message").set_value("hello")
    screen.run()
    (thread,) = console.queries.threads()
    assert console.queries.history(thread.thread_id)[-1].content == "7 8"


def test_a_run_that_failed_is_shown_with_its_traceback(opens: Opens, console: Console) -> None:
    thread_id = ask(console, "hello", agent="failing")
    said = opens("chat", thread=thread_id).said()
    assert "KeyError: 'nothing'" in said
    assert "needy.py" in said
