"""Remembering a call on its card, and the list of what is remembered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.bootstrap import Opened
from agent.console import Console
from agent.review.actions import ActionState, Review
from agent.review.rules import Rule, RuleEnd
from agent.settings import Settings
from pages.parts.state import widget_keys
from tests import defaulted_agent
from tests.conftest import ask, waiting
from tests.pages.conftest import Opens, Screen, of

ARGS = {"path": "notes/today.txt", "content": "*bold*"}


def write(console: Console, thread_id: str = "t-1", **args: str) -> str:
    text = "/call#c1 write_file " + json.dumps({**ARGS, **args})
    return ask(console, text, thread_id=thread_id, agent="operations")


@pytest.fixture
def review(console: Console) -> Review:
    return waiting(console, write(console))


def remembering(opens: Opens, review: Review) -> Screen:
    """The card with the part under "Remember…" open."""
    screen = opens(review=review.review_id)
    screen.at.session_state[of("remember", review)] = True
    return screen.run()


def choose(screen: Screen, review: Review, name: str, option: str) -> Screen:
    screen.at.button_group(key=of(name, review)).set_value(option)
    return screen.run()


def the_rule(console: Console) -> Rule:
    (found,) = console.rules.all()
    return found


def test_a_call_is_remembered_as_narrowly_as_can_be_unless_more_is_chosen(
    opens: Opens, console: Console, review: Review
) -> None:
    screen = remembering(opens, review).click(of("save-rule", review))
    rule = the_rule(console)
    assert (rule.bound, rule.free, rule.thread_id, rule.made_by) == (ARGS, (), "t-1", "ana")
    assert "Remembered until" in screen.said()


def test_what_may_differ_where_and_how_long_are_chosen(
    opens: Opens, console: Console, review: Review
) -> None:
    screen = choose(remembering(opens, review), review, "match-1", "free")
    choose(screen, review, "rule-scope", "agent")
    choose(screen, review, "rule-lasting", "30 days").click(of("save-rule", review))
    rule = the_rule(console)
    assert (rule.bound, rule.free, rule.thread_id) == ({"path": "notes/today.txt"}, ("content",), None)
    assert rule.expires_at[:10] > rule.made_at[:10]


def test_the_call_it_was_made_from_still_waits_and_the_next_one_runs(
    opens: Opens, console: Console, review: Review
) -> None:
    screen = choose(remembering(opens, review), review, "match-1", "free")
    choose(screen, review, "rule-scope", "agent").click(of("save-rule", review))
    assert waiting(console, "t-1").review_id == review.review_id
    write(console, "t-2", content="next")
    (action,) = console.queries.actions("t-2")
    assert (action.state, action.rule_id) == (ActionState.DONE, the_rule(console).rule_id)


def test_before_it_is_saved_it_is_shown_what_it_would_have_allowed_and_what_not(
    opens: Opens, console: Console, review: Review
) -> None:
    write(console, "t-2", content="# other")
    write(console, "t-3", path="notes/TODAY.txt")
    screen = choose(remembering(opens, review), review, "match-1", "free")
    said = choose(screen, review, "rule-scope", "agent").said()
    assert "it would have let 2 run without asking" in said
    assert "# other" in said
    assert "path has another value" in said
    assert console.rules.all() == []


def test_a_rule_that_would_allow_anything_cannot_be_saved(opens: Opens, review: Review) -> None:
    screen = choose(remembering(opens, review), review, "match-0", "free")
    screen = choose(screen, review, "match-1", "free")
    assert screen.is_off(of("save-rule", review))
    assert "Leave at least one as it is: path, content." in screen.said()


class TestADefault:
    """The card of a call whose one argument the tool's default filled in."""

    @pytest.fixture
    def settings(self, settings: Settings, tmp_path: Path) -> Settings:
        defaulted_agent.serve(tmp_path / "langgraph.json")
        return settings.model_copy(update={"review_agents": tmp_path / "langgraph.json"})

    def test_is_marked_and_does_not_count_as_what_stays_bound(self, opens: Opens, console: Console) -> None:
        review = waiting(console, ask(console, '/call#c1 file_note {"text": "x"}', thread_id="t-1"))
        screen = remembering(opens, review)
        assert "folder, filled in with the tool's default" in screen.said()
        assert not screen.is_off(of("save-rule", review))
        screen = choose(screen, review, "match-0", "free")
        assert screen.is_off(of("save-rule", review))
        assert "Leave at least one as it is: text." in screen.said()


def test_what_cannot_be_undone_is_not_offered(opens: Opens, mail: Review) -> None:
    screen = remembering(opens, mail)
    assert "cannot be undone, so it is always asked about" in screen.said()
    assert not screen.has(of("save-rule", mail))


def test_a_second_click_remembers_nothing_twice(opens: Opens, console: Console, review: Review) -> None:
    said = remembering(opens, review).click(of("save-rule", review)).click(of("save-rule", review)).said()
    assert len(console.rules.all()) == 1
    assert "Nothing was remembered." in said
    assert "remembered already" in said


# The list.


@pytest.fixture
def rule(console: Console, review: Review) -> Rule:
    return console.rules.make("t-1", "c1", free=["content"], scope="agent", lasting="today", by="ben")


def test_nothing_remembered_says_where_rules_are_made(opens: Opens) -> None:
    assert "Nothing is remembered now." in opens("policies", policy="operations").said()


def test_a_rule_is_listed_with_what_it_matches_who_made_it_and_its_uses(
    opens: Opens, console: Console, rule: Rule
) -> None:
    assert "never used" in opens("policies", policy="operations").said()
    write(console, "t-2", content="next")
    said = opens("policies", policy="operations").said()
    for part in ("write_file", "path: notes/today.txt", "content", "every thread", "ben made it", "used 1×"):
        assert part in said


def test_a_rule_is_revoked_by_one_press(opens: Opens, console: Console, rule: Rule) -> None:
    screen = opens("policies", policy="operations").click(widget_keys.key("revoke", rule.rule_id))
    found = the_rule(console)
    assert (found.ended, found.ended_by) == (RuleEnd.REVOKED, "ana")
    assert not screen.has(widget_keys.key("revoke", rule.rule_id))
    assert "revoked by ana" in screen.said()


def test_what_another_has_revoked_is_told(opens: Opens, console: Console, rule: Rule) -> None:
    screen = opens("policies", policy="operations")
    console.rules.revoke(rule.rule_id, by="ben")
    assert "was revoked by ben" in screen.click(widget_keys.key("revoke", rule.rule_id)).said()


def test_the_conversation_says_by_which_rule_a_call_ran(
    opens: Opens, page_console: Opened, console: Console, rule: Rule
) -> None:
    write(console, "t-2", content="next")
    screen = opens("chat", thread="t-2")
    assert f"allowed by {rule.rule_id}" in screen.said()
    (action,) = console.queries.actions("t-2")
    screen.at.session_state[widget_keys.key("proof", action.key.message_id, "c1")] = True
    said = screen.run().said()
    assert f"a rule applied ({rule.rule_id} by ben)" in said
    assert "What ran is what was decided." in said
