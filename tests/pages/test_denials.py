"""A card whose call the policy has come to deny: it says so, and offers what is left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent import bootstrap
from agent.console import Console
from agent.review.actions import ActionState, Review
from agent.settings import Settings
from pages.parts.state import widget_keys
from tests import tightened_agents
from tests.conftest import ask, waiting
from tests.pages.conftest import Opens, calls, ended, of, send


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    found = tmp_path / "langgraph.json"
    tightened_agents.serve(found, "as_it_was")
    return found


@pytest.fixture
def settings(settings: Settings, agents: Path) -> Settings:
    return settings.model_copy(update={"review_agents": agents})


def write(path: str) -> str:
    return f"write_file {json.dumps({'path': path, 'content': 'x'})}"


def tighten(agents: Path, policy: str, review: Review) -> tuple[Console, Review]:
    """Start the console over under this policy; the review as it waits then."""
    bootstrap.close()
    tightened_agents.serve(agents, policy)
    console = bootstrap.opened().console
    return console, waiting(console, review.thread_id)


@pytest.mark.parametrize(
    ("policy", "reason", "off"),
    [
        ("denied", "The policy now denies this tool. The files are being moved.", {"approve", "edit"}),
        (
            "denied_for_path",
            "The policy now denies this tool with these arguments. The notes are being moved.",
            {"approve"},
        ),
        ("gone", "The agent now has no tool write_file.", {"approve", "edit"}),
    ],
)
def test_the_card_says_that_the_call_is_denied_and_takes_away_what_would_run_it(
    opens: Opens, console: Console, agents: Path, policy: str, reason: str, off: set[str]
) -> None:
    before = waiting(console, ask(console, calls(write("notes/a.txt"))))
    console, review = tighten(agents, policy, before)
    screen = opens()
    assert reason in screen.said()
    assert "This cannot be approved any more." in screen.said()
    assert {kind for kind in ("approve", "edit", "reject") if screen.is_off(of(kind, review))} == off
    screen.click(of("reject", review)).send(review)
    ended(console, review.thread_id)
    assert [one.state for one in console.queries.actions(review.thread_id)] == [ActionState.REJECTED]


def test_a_card_that_is_not_denied_says_nothing_of_it(opens: Opens, console: Console) -> None:
    review = waiting(console, ask(console, calls(write("notes/a.txt"))))
    screen = opens()
    assert "cannot be approved" not in screen.said()
    assert not screen.is_off(of("approve", review))


def test_a_denied_call_can_be_closed_from_its_card(opens: Opens, console: Console, agents: Path) -> None:
    console, review = tighten(agents, "denied", waiting(console, ask(console, calls(write("notes/a.txt")))))
    opens().open_fold(widget_keys.key("closing", review.review_id)).click(
        widget_keys.key("close", review.review_id)
    )
    ended(console, review.thread_id)
    assert [one.state for one in console.queries.actions(review.thread_id)] == [ActionState.CANCELLED]


def test_an_approval_that_was_chosen_before_cannot_be_sent_any_more(
    opens: Opens, console: Console, agents: Path
) -> None:
    text = calls(write("drafts/a.txt"), write("notes/b.txt"))
    before = waiting(console, ask(console, text))
    screen = opens().approve(before, 0).approve(before, 1)
    assert not screen.is_off(send(before))
    console, review = tighten(agents, "denied_for_path", before)
    screen = opens()
    assert screen.is_off(send(review))
    assert screen.is_off(f"all-approve:{review.review_id}")


def test_an_edit_into_what_is_denied_shows_why_and_one_into_what_is_not_runs(
    opens: Opens, console: Console, agents: Path
) -> None:
    before = waiting(console, ask(console, calls(write("notes/a.txt"))))
    console, review = tighten(agents, "denied_for_path", before)
    screen = opens().click(of("edit", review))
    assert "With other arguments it may run." in screen.said()
    assert "The notes are being moved. Edit them, or reject the call." in screen.said()
    assert screen.is_off(send(review))
    screen.write_args(review, '{"path": "drafts/a.txt", "content": "x"}').send(review)
    ended(console, review.thread_id)
    assert [one.state for one in console.queries.actions(review.thread_id)] == [ActionState.DONE]
