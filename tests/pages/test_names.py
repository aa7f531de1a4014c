"""“You are …”: which names are taken, and what they are put on."""

from __future__ import annotations

import pytest

from agent.bootstrap import Opened
from agent.console import Console
from agent.review.actions import Review
from agent.review.events import Kind
from pages.parts import session
from tests.pages.conftest import Opens, Screen, of


def take(screen: Screen, name: str) -> Screen:
    screen.open_fold("change-name").at.text_input(key="name").set_value(name)
    return screen.click("use-name")


@pytest.mark.parametrize("name", ["Ben", "Zoë Ångström", "李雷", "O'Brien-Smith", "b" * 80])
def test_a_name_is_taken_and_shown(opens: Opens, name: str) -> None:
    assert f"You are {name} (unverified)" in take(opens(), name).said()


def test_spaces_around_a_name_do_not_belong_to_it(opens: Opens) -> None:
    assert "You are Ben (unverified)" in take(opens(), "  Ben ").said()


@pytest.mark.parametrize(
    "name", ["", "   ", "\n", "a\nb", "a\u202eb", "a\u200bb", "a\x00b", "\ufeff", "a\u2028b"]
)
def test_what_is_no_name_is_refused_and_the_old_one_stays(opens: Opens, name: str) -> None:
    said = take(opens(), name).said()
    assert "That is not a name." in said
    assert "You are ana (unverified)" in said


def test_the_name_stands_on_the_decisions_made_under_it(opens: Opens, console: Console, mail: Review) -> None:
    take(opens(), "Ben").approve(mail).send(mail)
    (made,) = console.trail(kind=Kind.DECISION_MADE)
    assert made.by == "Ben"


def test_each_person_has_a_draft_of_their_own(opens: Opens, mail: Review) -> None:
    opens(reviewer="ana").click(of("approve", mail))
    assert not opens(reviewer="ben").primary(of("approve", mail))


def test_without_a_name_given_the_settings_name_is_used(opens: Opens, page_console: Opened) -> None:
    screen = opens()
    del screen.at.session_state[session.REVIEWER]
    assert page_console.settings.review_reviewer == "ana"
