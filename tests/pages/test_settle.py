"""Settling an unknown outcome: a person says what became of it, and nothing runs before that."""

from __future__ import annotations

import pytest

from agent.bootstrap import Opened
from agent.console import Console
from agent.review.actions import Action, ActionState
from tests.pages.conftest import Opens, Screen, ended, send


def opened_to_settle(opens: Opens, unknown: Action) -> Screen:
    return opens(action=f"{unknown.key.thread_id}/{unknown.key.tool_call_id}")


def say(screen: Screen, outcome: str, words: str = "") -> Screen:
    screen.at.button_group(key="outcome").set_value(outcome)
    screen.run()
    if words:
        screen.type("settled-result", words)
    return screen.click("record-outcome")


def state(console: Console, action: Action) -> ActionState:
    found = console.queries.action(action.key.thread_id, action.key.tool_call_id)
    assert found is not None
    return found.state


def test_the_inbox_lists_an_unknown_outcome_and_leads_to_it(opens: Opens, unknown: Action) -> None:
    key = unknown.key
    screen = opens().pick("unknown", f"{key.thread_id}/{key.tool_call_id}")
    assert "It **may or may not** have taken effect." in screen.said()
    assert "alice@example.com" in screen.said()


def test_nothing_can_be_recorded_before_something_is_said(opens: Opens, unknown: Action) -> None:
    assert opened_to_settle(opens, unknown).is_off("record-outcome")


def test_it_happened_gives_the_agent_the_persons_words(
    opens: Opens, console: Console, unknown: Action
) -> None:
    say(opened_to_settle(opens, unknown), "happened", "Alice has it")
    ended(console, unknown.key.thread_id)
    assert state(console, unknown) is ActionState.DONE
    results = [one.content for one in console.queries.history(unknown.key.thread_id) if one.type == "tool"]
    assert results == ["Alice has it"]


def test_it_failed_gives_the_agent_an_error(
    opens: Opens, page_console: Opened, console: Console, unknown: Action
) -> None:
    say(opened_to_settle(opens, unknown), "failed")
    ended(console, unknown.key.thread_id)
    assert state(console, unknown) is ActionState.FAILED
    assert page_console.world.outbox() == ()


def test_asked_again_the_call_waits_for_a_reviewer_once_more(
    opens: Opens, page_console: Opened, console: Console, unknown: Action
) -> None:
    screen = say(opened_to_settle(opens, unknown), "ask_again")
    ended(console, unknown.key.thread_id)
    (review,) = console.queries.queue()
    assert screen.run().has(send(review))
    assert page_console.world.outbox() == ()


def test_what_another_has_settled_cannot_be_settled_twice(
    opens: Opens, console: Console, unknown: Action
) -> None:
    screen = opened_to_settle(opens, unknown)
    screen.at.button_group(key="outcome").set_value("failed")
    screen.run()
    console.settle(unknown.key.thread_id, unknown.key.tool_call_id, "happened", by="ben")
    ended(console, unknown.key.thread_id)
    said = screen.click("record-outcome").said()
    assert "This was not recorded." in said
    assert state(console, unknown) is ActionState.DONE


@pytest.mark.parametrize("named", ["", "/", "nowhere/nothing", "nowhere", "a/b/c"])
def test_an_address_of_no_unknown_action_says_so(opens: Opens, named: str) -> None:
    assert "This action has no unknown outcome." in opens(action=named).said()
