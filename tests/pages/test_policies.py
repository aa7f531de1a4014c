"""The policies page: every tool with its tier and reasons, and what another policy would have asked."""

from __future__ import annotations

import pytest

from agent.console import Console
from agent.review.policy import Tier
from pages.parts.common.words import TIER_ELSEWHERE, TIER_WORDS
from pages.parts.policies.simulation import EVERYTHING
from pages.parts.state import widget_keys
from tests.conftest import ask, decide
from tests.pages.conftest import Opens, Screen, calls

TEN = [
    *['search_books {"text": "dragons"}'] * 6,
    *[f'renew_loan {{"loan_id": "l-{n}"}}' for n in (1, 2, 3)],
    'borrow_book {"book_id": "b-1", "member_id": "m-9"}',
]
"""Six searches, three renewals, one loan."""


def metrics(screen: Screen) -> dict[str, str]:
    return {one.label: one.value for one in screen.at.metric}


@pytest.fixture
def ten(console: Console) -> None:
    ask(console, calls(*TEN), agent="library")


@pytest.mark.parametrize("agent", ["mail", "operations", "library"])
def test_every_tool_stands_there_with_its_tier_reason_and_harm(
    opens: Opens, console: Console, agent: str
) -> None:
    said = opens("policies", policy=agent).said()
    for name, entry in console.queries.agent(agent).policy.tools.items():
        assert name in said
        assert entry.why in said
        assert entry.undo in said
        assert f"It {TIER_WORDS[entry.tier]}." in said
        assert entry.precondition is None or entry.precondition.words in said
    assert "It cannot be undone. The value of “to” has to be typed again." in said or agent != "mail"


def test_the_page_says_what_it_shows_and_what_each_tier_means(opens: Opens, console: Console) -> None:
    said = opens("policies", policy="mail").said()
    assert "A tool that is not listed here never runs." in said
    assert (
        f"Version of this policy, as the record names it: {console.queries.agent('mail').policy.version}"
        in said
    )
    for tier in Tier:
        assert f"{tier}: {TIER_WORDS[tier]}. Other systems call it {TIER_ELSEWHERE[tier]}." in said


def test_a_tools_own_clocks_stand_there(opens: Opens) -> None:
    said = opens("policies", policy="library").said()
    assert "A person may approve, edit or reject within 8 h, and an approval is valid for 15 min." in said


@pytest.mark.usefixtures("ten")
def test_ten_actions_are_one_question_here_and_ten_where_everything_is_asked(
    opens: Opens, console: Console
) -> None:
    screen = opens("policies", policy="library")
    assert metrics(screen) == {
        "Actions on record": "10",
        "Asked at the time": "1",
        "Asked under the current policy": "1",
        "Asked with this edit": "1",
        "Denied with this edit": "0",
    }
    before = console.queries.pulse()
    screen.at.toggle(key=EVERYTHING).set_value(True)
    screen.run()
    assert metrics(screen)["Asked with this edit"] == "10"
    assert "auto → ask · search_books  dragons" in screen.said()
    assert '"renew_loan": ToolPolicy(Tier.ASK, …),  # was Tier.LOG' in screen.said()
    assert console.queries.pulse() == before


def test_what_people_refused_or_changed_is_told_of_the_calls_that_nobody_would_be_asked_about(
    opens: Opens, console: Console
) -> None:
    mails = [
        f'send_email {{"to": "{who}@example.com", "subject": "s", "body": "b"}}' for who in ("a", "b", "c")
    ]
    thread_id = ask(console, calls(*mails))
    edited = {"name": "send_email", "args": {"to": "d@example.com", "subject": "s", "body": "b"}}
    decide(
        console, thread_id, {"type": "approve"}, {"type": "reject"}, {"type": "edit", "edited_action": edited}
    )
    screen = opens("policies", policy="mail")
    assert not screen.at.warning
    screen.at.selectbox(key=widget_keys.key("tier", "mail", "send_email")).set_value(Tier.AUTO)
    screen.run()
    assert [one.value for one in screen.at.warning] == [
        "3 of the actions on record would run without anybody being asked. Of them, a person rejected 1, "
        "a person edited 1 before it ran, 3 cannot be undone."
    ]
    told = [one.value for one in screen.at.text if "ask → auto" in one.value]
    assert [("c@" in one, "b@" in one, "a@" in one) for one in told] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]
    assert [one.split(" · ", 3)[3] for one in told] == [
        "a person edited it · cannot be undone",
        "a person rejected it · cannot be undone",
        "a person approved it · cannot be undone",
    ]


@pytest.mark.usefixtures("ten")
def test_the_edit_of_one_tool_says_what_it_would_have_changed_and_where_to_write_it(
    opens: Opens, console: Console
) -> None:
    screen = opens("policies", policy="library")
    screen.at.selectbox(key=widget_keys.key("tier", "library", "renew_loan")).set_value(Tier.ASK)
    screen.run()
    assert metrics(screen)["Asked with this edit"] == "4"
    said = screen.said()
    assert "**Treated differently** · 3" in said
    assert f"In {console.queries.agent('library').policy.tools['renew_loan'].where}:" in said
    assert "agent.demos.library, line " in said
    assert console.queries.agent("library").policy.tools["renew_loan"].tier is Tier.LOG


def test_without_a_past_there_is_nothing_to_judge(opens: Opens) -> None:
    screen = opens("policies", policy="library")
    assert "has not proposed anything yet" in screen.said()
    assert metrics(screen) == {}
