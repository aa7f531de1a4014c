"""“You are …”: which names are taken, and what they are put on."""

from __future__ import annotations

import ast

import pytest

from agent.console import Console
from agent.review.actions import Review
from agent.review.events import EventKind
from pages.parts.state import identity
from tests.forked import ROOT
from tests.pages.conftest import Opens, Screen, of, send


def take(screen: Screen, name: str) -> Screen:
    screen.open_fold("change-name").at.text_input(key="name").set_value(name)
    return screen.click("use-name")


@pytest.mark.parametrize("name", ["Ben", "Zoë Ångström", "李雷", "O'Brien-Smith", "b" * 80])
def test_a_name_is_taken_and_shown(opens: Opens, name: str) -> None:
    assert f"You are {name} (unverified)" in take(opens(), name).said()


def test_spaces_around_a_name_do_not_belong_to_it(opens: Opens) -> None:
    assert "You are Ben (unverified)" in take(opens(), "  Ben ").said()


@pytest.mark.parametrize(
    "name", ["", "   ", "\n", "a\nb", "a\u202eb", "a\u200bb", "a\x00b", "\ufeff", "a\u2028b", "nobody", "Api"]
)
def test_what_is_no_name_is_refused_and_the_old_one_stays(opens: Opens, name: str) -> None:
    said = take(opens(), name).said()
    assert "That is not a name." in said
    assert "You are ana (unverified)" in said


def test_the_name_stands_on_the_decisions_made_under_it(opens: Opens, console: Console, mail: Review) -> None:
    take(opens(), "Ben").approve(mail).send(mail)
    (made,) = console.trail.events(kind=EventKind.DECISION_MADE)
    assert made.by == "Ben"


def test_each_person_has_a_draft_of_their_own(opens: Opens, mail: Review) -> None:
    opens(reviewer="ana").click(of("approve", mail))
    assert not opens(reviewer="ben").primary(of("approve", mail))


@pytest.fixture
def unnamed(opens: Opens) -> Screen:
    """A browser in which nobody has confirmed a name."""
    return opens(reviewer="")


def asked(screen: Screen) -> bool:
    return screen.has("first-name")


def confirm(screen: Screen, name: str) -> Screen:
    screen.at.text_input(key="first-name").set_value(name)
    return screen.click("first-use-name")


def test_a_browser_without_a_name_may_look_and_choose_unasked(
    mail: Review, unnamed: Screen, console: Console
) -> None:
    before = console.trail.events()
    unnamed.click(of("reject", mail))
    assert not asked(unnamed)
    assert "You are not named yet" in unnamed.said()
    assert console.trail.events() == before  # not even that somebody saw it: nobody knows who


def test_the_first_decision_asks_for_a_name_and_the_settings_only_propose_one(
    mail: Review, unnamed: Screen, console: Console
) -> None:
    unnamed.click(of("reject", mail)).type(of("reason", mail), "Not now.").click(send(mail))
    assert asked(unnamed)
    assert unnamed.at.text_input(key="first-name").value == "ana"
    assert console.queries.view(mail.thread_id).reviews == (mail,)
    assert confirm(unnamed, "Ben").primary(of("reject", mail))
    assert not asked(unnamed)
    assert console.queries.view(mail.thread_id).reviews == (mail,)
    unnamed.click(send(mail))
    (made,) = console.trail.events(kind=EventKind.DECISION_MADE)
    assert made.data is not None
    assert (made.by, made.data["reason"]) == ("Ben", "Not now.")
    assert {one.by for one in console.trail.events(kind=EventKind.REVIEW_SHOWN)} == {"Ben"}


@pytest.mark.parametrize("name", ["", "Nobody", "the agent", "a\u200bb"])
def test_what_is_no_name_is_not_confirmed(mail: Review, unnamed: Screen, console: Console, name: str) -> None:
    unnamed.click(of("reject", mail)).click(send(mail))
    assert "That is not a name." in confirm(unnamed, name).said()
    assert asked(unnamed)
    unnamed.click(send(mail))
    assert console.trail.events(kind=EventKind.DECISION_MADE) == []


def test_a_message_is_kept_until_its_sender_has_a_name(opens: Opens, console: Console) -> None:
    screen = opens("chat", reviewer="")
    screen.at.chat_input(key="message").set_value("/say Hello.")
    screen.run()
    assert asked(screen)
    assert console.queries.threads() == []
    assert screen.at.chat_input(key="message").proto.value == "/say Hello."
    confirm(screen, "Ben").at.chat_input(key="message").set_value("/say Hello.")
    screen.run()
    assert [thread.created_by for thread in console.queries.threads()] == ["Ben"]


@pytest.mark.parametrize("button", ["demo", "stop-all"])
def test_nothing_is_started_or_stopped_by_nobody(opens: Opens, console: Console, button: str) -> None:
    screen = opens(reviewer="").click(button)
    assert asked(screen)
    assert (console.trail.events(), console.queries.halt()) == ([], None)
    confirm(screen, "Ben").click(button)
    assert not asked(screen)
    assert console.queries.threads() or console.queries.halt()


@pytest.mark.parametrize("kept", ["nobody", "an\u202ea", " ", "b" * 81])
def test_a_cookie_that_holds_no_name_counts_as_none(
    opens: Opens, mail: Review, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    screen = opens(reviewer="")
    monkeypatch.setattr(identity, "cookie", lambda name: kept if name == identity.NAME_COOKIE else "")
    assert "You are not named yet" in screen.run().said()
    assert asked(screen.click(of("reject", mail)).click(send(mail)))


def test_a_cookie_that_holds_a_name_is_enough(
    opens: Opens, mail: Review, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = opens(reviewer="")
    monkeypatch.setattr(identity, "cookie", lambda name: "Zoë" if name == identity.NAME_COOKIE else "")
    screen.run().click(of("reject", mail)).click(send(mail))
    assert not asked(screen)
    assert console.trail.events(kind=EventKind.DECISION_MADE)[0].by == "Zoë"


def records_a_name(act: ast.FunctionDef) -> bool:
    """Whether the function hands the name of this browser's person to somebody."""
    calls = [node for node in ast.walk(act) if isinstance(node, ast.Call)]
    given = [
        *(key.value for call in calls for key in call.keywords),
        *(arg for call in calls for arg in call.args),
    ]
    return any("identity.reviewer()" in ast.unparse(one) for one in given)


def test_whatever_records_a_name_waits_for_one() -> None:
    acts = [
        (act.name, {ast.unparse(one) for one in act.decorator_list})
        for path in (ROOT / "pages").rglob("*.py")
        for act in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(act, ast.FunctionDef) and records_a_name(act)
    ]
    reading = {
        "card",
        "who",
        "_field",
    }  # what is shown to nobody is not recorded; the rest only shows the name
    assert {name for name, _ in acts} >= {"send", "close", "_settle", "_stop", "_release", "_reset"}
    assert [
        name for name, decorators in acts if "named_first" not in decorators and name not in reading
    ] == []
