"""External agents of every kind, on the page: their input, their output, and the answers their questions offer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.console import Console
from agent.settings import Settings
from pages.parts.state import widget_keys
from pages.parts.thread.input_form import OUTPUT
from tests.conftest import ask, waiting
from tests.pages.conftest import Opens, ended, of

HERE = "./tests/cases/agents/kinds.py"
NAMES = ("further_input", "no_messages", "choices")


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    file = tmp_path / "langgraph.json"
    file.write_text(json.dumps({"graphs": {name: f"{HERE}:{name}" for name in NAMES}}))
    return settings.model_copy(update={"review_agents": file})


def last(console: Console) -> str:
    (thread,) = console.queries.threads()
    ended(console, thread.thread_id)
    return console.queries.history(thread.thread_id)[-1].content


def test_further_input_is_asked_for_in_a_form(opens: Opens, console: Console) -> None:
    screen = opens("chat")
    screen.at.text_input(key=widget_keys.key("input", "further_input", "email")).set_value("12345")
    screen.at.chat_input(key="message").set_value("hello")
    screen.run()
    assert last(console) == "12345"


def test_an_agent_without_messages_gets_a_form_and_shows_its_output(opens: Opens, console: Console) -> None:
    screen = opens("chat")
    screen.at.button_group(key="new-agent").set_value("no_messages")
    screen.run()
    screen.at.text_input(key=widget_keys.key("input", "no_messages", "question")).set_value("why")
    screen.click("send-input")
    assert json.loads(last(console)) == {"answer": "WHY", "question": "why"}
    assert OUTPUT in [one.label for one in screen.run().at.expander]


def test_an_answer_that_a_question_offers_is_chosen_with_a_button(opens: Opens, console: Console) -> None:
    review = waiting(console, ask(console, "hello", agent="choices"))
    screen = opens("chat", thread=review.thread_id).click(of("respond", review))
    action = review.actions[0]
    screen.click(widget_keys.field_key("offered", review, action, "1"))
    assert screen.at.text_area(key=of("reply", review)).value == '"blue"'
    screen.send(review)
    assert last(console) == "blue"
