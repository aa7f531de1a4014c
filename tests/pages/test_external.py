"""Threads of agents of another make on the chat page, stuck ones included."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent  # noqa: F401  imported before a page is timed

from agent.bootstrap import Opened
from agent.console import Console
from agent.review.threads import Status
from tests.conftest import until, waiting
from tests.console.test_other_clients import Client
from tests.engine import external_agents
from tests.engine.external_agents import effects
from tests.engine.test_external import APPROVE, THREAD, begin, call, decide_each, settings
from tests.pages.conftest import Opens, ended, of

__all__ = ["settings"]


@pytest.fixture
def stuck(page_console: Opened) -> Console:
    """A console with one thread that another client has stuck."""
    console = page_console.console
    begin(console, "batched", call("a", "send", to="a"))
    client = Client(page_console.settings, external_agents.batched)
    client.answer({"decisions": []})
    client.close()
    until(lambda: console.queries.view(THREAD).thread.status is Status.STUCK)
    return console


def test_an_agent_that_gates_itself_is_said_to_and_has_no_demo_world(opens: Opens, console: Console) -> None:
    begin(console, "batched", call("a", "send", to="a"))
    screen = opens("chat", thread=THREAD)
    assert "gates itself" in screen.said()
    assert not screen.has("reset-world")
    assert screen.has(of("approve", waiting(console, THREAD)))


def test_its_review_is_decided_on_the_page(opens: Opens, console: Console) -> None:
    begin(console, "batched", call("a", "send", to="a"))
    review = waiting(console, THREAD)
    opens("chat", thread=THREAD).approve(review).send(review)
    ended(console, THREAD)
    assert effects() == ["send a 1"]


def test_an_edited_call_is_shown_as_proposed_and_as_it_ran(opens: Opens, console: Console) -> None:
    begin(console, "batched", call("a", "send", to="a"))
    decide_each(console, a={"type": "edit", "edited_action": {"name": "send", "args": {"to": "zoe"}}})
    said = opens("chat", thread=THREAD).said()
    assert "What ran" in said
    assert "zoe" in said
    assert "not what the history shows" not in said


def test_a_new_thread_with_it_asks_for_no_model(opens: Opens, console: Console) -> None:
    screen = opens("chat")
    assert not screen.has("new-model")
    screen.at.chat_input(key="message").set_value("/say hello")
    screen.run()
    (thread,) = console.queries.threads()
    assert thread.model == "its own"


def test_a_stuck_thread_offers_both_ways_on_and_no_card(opens: Opens, stuck: Console) -> None:
    screen = opens("chat", thread=THREAD)
    assert screen.has("ask-again")
    assert screen.has("close-stuck")
    assert not screen.has(of("approve", waiting(stuck, THREAD)))


def test_asking_again_brings_the_card_back(opens: Opens, stuck: Console) -> None:
    screen = opens("chat", thread=THREAD).click("ask-again")
    ended(stuck, THREAD)
    screen.run()
    assert screen.has(of("approve", waiting(stuck, THREAD)))
    decide_each(stuck, a=APPROVE)
    assert effects() == ["send a 1"]


def test_closing_a_stuck_thread_gives_the_message_box_back(opens: Opens, stuck: Console) -> None:
    screen = opens("chat", thread=THREAD).click("close-stuck")
    ended(stuck, THREAD)
    screen.run()
    assert screen.has("message")
    assert effects() == []


def test_a_question_is_answered_on_the_page(opens: Opens, console: Console) -> None:
    begin(console, "question", "hello")
    review = waiting(console, THREAD)
    screen = opens("chat", thread=THREAD)
    assert "Which colour?" in screen.said()
    screen.click(of("respond", review)).type(of("reply", review), "red").send(review)
    ended(console, THREAD)
    assert console.queries.history(THREAD)[-1].content == "You said 'red'."


@pytest.mark.parametrize(
    ("form", "text", "shown", "value"),
    [
        ("text", "12345", "12345", "'12345'"),
        ("json", "12345", "12345", "12345"),
        ("yes", None, "true", "True"),
        ("no", None, "false", "False"),
    ],
)
def test_a_question_is_answered_as_what_the_reviewer_chooses(
    opens: Opens, console: Console, form: str, text: str | None, shown: str, value: str
) -> None:
    begin(console, "question", "hello")
    review = waiting(console, THREAD)
    screen = opens("chat", thread=THREAD).click(of("respond", review))
    screen.at.button_group(key=of("form", review)).set_value(form)
    screen.run()
    if text is not None:
        screen.type(of("reply", review), text)
    assert f"as {'text' if form == 'text' else 'JSON'}" in screen.said()
    assert shown in screen.said()
    screen.send(review)
    ended(console, THREAD)
    assert console.queries.history(THREAD)[-1].content == f"You said {value}."


@pytest.mark.parametrize("make", ["batched", "per_call", "question"])
def test_what_is_under_the_hood_of_it_is_shown(opens: Opens, console: Console, make: str) -> None:
    begin(console, make, call("a", "send", to="a"))
    screen = opens("chat", thread=THREAD)
    screen.at.button_group(key="view").set_value("Under the hood")
    assert "Command(resume=" in screen.run().said()
