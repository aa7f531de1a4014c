"""Deciding on a card: what is offered, what is sent, and what is not."""

from __future__ import annotations

import json

import pytest

from agent.bootstrap import Opened
from agent.console import Console
from agent.review.actions import Review, State
from agent.review.events import Kind
from pages.parts import session
from tests.conftest import ask, waiting
from tests.pages.conftest import MAIL, Opens, Screen, calls, of, send

KINDS = ("approve", "edit", "reject", "respond")


def edited(review: Review, place: int = 0, **changes: object) -> str:
    """The arguments of an action as JSON, changed so."""
    return json.dumps({**(review.actions[place].args or {}), **changes})


@pytest.fixture
def letters(console: Console) -> Review:
    """One review of two e-mails."""
    one, two = (
        json.dumps({"to": f"{name}@example.com", "subject": "s", "body": "b"}) for name in ("bob", "eve")
    )
    return waiting(console, ask(console, calls(f"send_email {one}", f"send_email {two}")))


@pytest.mark.parametrize(
    ("call", "allowed"),
    [
        ('send_email {"to": "a@b.c", "subject": "s", "body": "b"}', {"approve", "edit", "reject"}),
        ('execute_sql {"query": "select 1"}', {"approve", "reject"}),
        ('rotate_keys {"service": "billing"}', {"approve"}),
        ('ask_user {"question": "Which?"}', {"respond"}),
    ],
)
def test_only_the_allowed_decisions_are_offered(
    opens: Opens, console: Console, call: str, allowed: set[str]
) -> None:
    agent = "mail" if call.startswith("send_email") else "operations"
    review = waiting(console, ask(console, calls(call), agent=agent))
    screen = opens()
    assert {kind for kind in KINDS if screen.has(of(kind, review))} == allowed


def test_nothing_can_be_sent_before_a_decision_is_chosen(opens: Opens, mail: Review) -> None:
    screen = opens()
    assert screen.is_off(send(mail))
    assert not screen.is_off(of("approve", mail))
    assert not screen.click(of("approve", mail)).is_off(send(mail))


def test_a_choice_is_shown_and_can_be_undone(opens: Opens, mail: Review) -> None:
    screen = opens()
    assert not screen.has(of("undo", mail))
    screen.click(of("approve", mail))
    assert screen.primary(of("approve", mail))
    screen.click(of("undo", mail))
    assert not screen.primary(of("approve", mail))
    assert screen.is_off(send(mail))


def test_choosing_runs_nothing(opens: Opens, page_console: Opened, mail: Review) -> None:
    opens().click(of("approve", mail))
    assert page_console.world.outbox() == ()
    assert page_console.console.queue_length() == 1


def test_a_choice_survives_the_end_of_the_browser_session(opens: Opens, mail: Review) -> None:
    opens().click(of("reject", mail)).type(of("reason", mail), "not now")
    again = opens()
    assert again.primary(of("reject", mail))
    assert again.at.text_area(key=of("reason", mail)).value == "not now"


def test_an_approval_runs_the_call_once(opens: Opens, page_console: Opened, mail: Review) -> None:
    opens().click(of("approve", mail)).click(send(mail))
    (sent,) = page_console.world.outbox()
    assert sent.recipient == "alice@example.com"


def test_the_agent_is_told_the_reason_of_a_rejection(opens: Opens, console: Console, mail: Review) -> None:
    screen = opens().click(of("reject", mail)).type(of("reason", mail), "Alice is away until May")
    assert "Alice is away until May" in screen.said()
    screen.click(send(mail))
    assert "Alice is away until May" in console.history(mail.thread_id)[-1].content


def test_an_answer_in_the_tools_place_cannot_be_empty(opens: Opens, console: Console) -> None:
    review = waiting(
        console, ask(console, calls('ask_user {"question": "Which report?"}'), agent="operations")
    )
    screen = opens().click(of("respond", review))
    assert screen.is_off(send(review))
    screen.type(of("reply", review), "The one of May").click(send(review))
    (action,) = console.actions(review.thread_id)
    assert (action.state, action.result) == (State.RESPONDED, "The one of May")


def test_several_decisions_are_sent_together_and_none_before_the_last(
    opens: Opens, page_console: Opened, letters: Review
) -> None:
    screen = opens().click(of("approve", letters, 0))
    assert screen.is_off(send(letters))
    screen.click(of("reject", letters, 1))
    assert page_console.world.outbox() == ()
    screen.click(send(letters))
    assert [one.recipient for one in page_console.world.outbox()] == ["bob@example.com"]
    states = [action.state for action in page_console.console.actions(letters.thread_id)]
    assert states == [State.DONE, State.REJECTED]


def test_approving_one_of_several_moves_on_to_the_next_undecided(opens: Opens, letters: Review) -> None:
    screen = opens()
    assert screen.has(of("approve", letters, 0))
    screen.click(of("approve", letters, 0))
    assert screen.has(of("approve", letters, 1))
    assert not screen.has(of("approve", letters, 0))


def test_the_stepper_goes_back_to_an_action_that_was_decided(opens: Opens, letters: Review) -> None:
    screen = opens().click(of("approve", letters, 0))
    screen.at.button_group(key=session.key("step", letters.review_id, 1)).set_value(0)
    screen.run()
    assert screen.primary(of("approve", letters, 0))


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"to": 1, "to": 2}', '{"to": NaN}', "nonsense"])
def test_an_edit_that_is_no_json_object_cannot_be_sent(opens: Opens, mail: Review, text: str) -> None:
    screen = opens().click(of("edit", mail)).type(of("args", mail), text)
    assert screen.is_off(send(mail))


def test_a_mistake_in_the_json_is_named_with_its_line(opens: Opens, mail: Review) -> None:
    screen = opens().click(of("edit", mail))
    screen.type(of("args", mail), '{"to": "bob@example.com",\n "subject": "s"\n "body": "b"}')
    assert "line 3" in screen.said()
    assert screen.is_off(send(mail))


def test_an_argument_of_the_wrong_type_is_named_by_its_path(opens: Opens, mail: Review) -> None:
    screen = opens().click(of("edit", mail)).type(of("args", mail), edited(mail, to=7))
    assert "args.to" in screen.said()
    assert screen.is_off(send(mail))


def test_an_argument_the_tool_does_not_have_is_named_and_not_dropped(opens: Opens, mail: Review) -> None:
    screen = opens().click(of("edit", mail)).type(of("args", mail), edited(mail, cc="eve@example.com"))
    assert "args.cc" in screen.said()
    assert screen.is_off(send(mail))


def test_a_faulty_edit_can_be_mended_and_sent(opens: Opens, page_console: Opened, mail: Review) -> None:
    screen = opens().click(of("edit", mail)).type(of("args", mail), "{")
    screen.type(of("args", mail), edited(mail, to="bob@example.com"))
    assert "args.to\n  alice@example.com\n→ bob@example.com" in screen.said()
    screen.click(send(mail))
    assert [one.recipient for one in page_console.world.outbox()] == ["bob@example.com"]


def test_reset_brings_the_proposal_back(opens: Opens, mail: Review) -> None:
    screen = opens().click(of("edit", mail)).type(of("args", mail), "{").click(of("reset", mail))
    assert json.loads(screen.at.text_area(key=of("args", mail)).value) == mail.actions[0].args
    assert "Nothing is changed yet" in screen.said()
    assert not screen.is_off(send(mail))


def test_reset_can_be_followed_by_another_edit(opens: Opens, page_console: Opened, mail: Review) -> None:
    screen = opens().click(of("edit", mail)).type(of("args", mail), edited(mail, to="eve@example.com"))
    screen.click(of("reset", mail)).type(of("args", mail), edited(mail, to="bob@example.com"))
    screen.click(send(mail))
    assert [one.recipient for one in page_console.world.outbox()] == ["bob@example.com"]


@pytest.mark.parametrize("body", ["one\r\ntwo", "trailing  \n", " ", "tab\there", "e\u0301 \u202e x"])
def test_an_edit_that_was_not_touched_sends_the_servers_own_copy(
    opens: Opens, page_console: Opened, body: str
) -> None:
    console = page_console.console
    call = json.dumps({"to": "bob@example.com", "subject": "s", "body": body})
    review = waiting(console, ask(console, calls(f"send_email {call}")))
    opens().click(of("edit", review)).click(send(review))
    (sent,) = page_console.world.outbox()
    assert sent.body == body


def test_an_edit_keeps_numbers_beyond_what_a_browser_can_hold(opens: Opens, console: Console) -> None:
    review = waiting(
        console,
        ask(console, calls('write_file {"path": "n", "content": "9007199254740993"}'), agent="operations"),
    )
    screen = opens().click(of("edit", review))
    screen.type(of("args", review), '{"path": "n2", "content": "9007199254740993"}').click(send(review))
    assert console.actions(review.thread_id)[0].args == {"path": "n2", "content": "9007199254740993"}


def test_an_edit_whose_preview_has_changed_since_is_not_sent(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    """The sentence on what will run depends on the world, and the world may move while one reads."""
    screen = opens().click(of("edit", mail)).type(of("args", mail), edited(mail, to="bob@example.com"))
    known = waiting(
        page_console.console,
        ask(
            page_console.console,
            calls('send_email {"to": "bob@example.com", "subject": "s", "body": "b"}'),
        ),
    )
    decided = [{"type": "approve"}]
    assert page_console.console.wait(page_console.console.decide(known.thread_id, decided, by="ben"), 30)
    screen.click(send(mail))
    assert len(page_console.world.outbox()) == 1
    assert "What would run has changed since it was shown" in screen.said()
    assert screen.has(of("args", mail)), "the draft is gone"
    screen.click(send(mail))
    assert len(page_console.world.outbox()) == 2


def test_the_loser_of_a_race_is_told_who_decided_what_and_keeps_the_draft(
    opens: Opens, console: Console, mail: Review
) -> None:
    screen = opens(reviewer="ben", review=mail.review_id)
    screen.click(of("edit", mail)).type(of("args", mail), edited(mail, to="ben@example.com"))
    assert console.wait(console.decide(mail.thread_id, [{"type": "reject"}], by="ana"), 30)
    screen.click(send(mail))
    assert "already decided by ana" in screen.said()
    assert "reject" in screen.said()
    assert "ben@example.com" in (console.draft(mail.review_id, "ben") or "")
    (refused,) = console.trail(kind=Kind.DECISION_REFUSED)
    assert refused.by == "ben"


def test_a_key_pressed_for_the_card_before_decides_nothing(opens: Opens, console: Console) -> None:
    first, second = (waiting(console, ask(console, MAIL)) for _ in range(2))
    screen = opens(review=first.review_id)
    put_on_screen(screen, second)
    screen.click(of("approve", first))
    assert "Nothing was chosen" in screen.said()
    assert not screen.go(review=first.review_id).primary(of("approve", first))


def test_a_send_pressed_for_the_card_before_sends_nothing(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    other = waiting(page_console.console, ask(page_console.console, MAIL))
    screen = opens(review=mail.review_id).click(of("approve", mail))
    put_on_screen(screen, other)
    screen.click(send(mail))
    assert page_console.world.outbox() == ()
    assert page_console.console.queue_length() == 2


def put_on_screen(screen: Screen, review: Review) -> None:
    """As if the page had just been drawn with another card, while the browser still shows the one before."""
    action = review.actions[0]
    screen.at.session_state[session.CARD] = (review.review_id, action.key.tool_call_id, action.shown_digest)


def test_what_is_sent_is_what_this_screen_shows_whatever_another_tab_chose(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    here, there = opens(), opens()
    here.click(of("approve", mail))
    there.click(of("edit", mail)).type(of("args", mail), edited(mail, to="eve@example.com"))
    here.click(send(mail))
    assert [one.recipient for one in page_console.world.outbox()] == ["alice@example.com"]


def test_a_rejection_on_this_screen_is_not_turned_into_an_approval_by_another_tab(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    here, there = opens(), opens()
    here.click(of("reject", mail))
    there.click(of("approve", mail))
    here.click(send(mail))
    assert page_console.world.outbox() == ()


def test_closing_without_deciding_runs_nothing_and_tells_the_agent(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    opens().click(session.key("close", mail.review_id))
    (action,) = page_console.console.actions(mail.thread_id)
    assert action.state is State.CANCELLED
    assert page_console.world.outbox() == ()


def test_closing_what_another_has_decided_says_who_and_what(
    opens: Opens, console: Console, mail: Review
) -> None:
    screen = opens(review=mail.review_id)
    assert console.wait(console.decide(mail.thread_id, [{"type": "approve"}], by="ben"), 30)
    assert "already decided by ben" in screen.click(session.key("close", mail.review_id)).said()


def test_the_card_shows_a_reviewers_first_look_once(opens: Opens, console: Console, mail: Review) -> None:
    opens().run()
    opens()
    assert [event.by for event in console.trail(kind=Kind.REVIEW_SHOWN)] == ["ana"]


def field(review: Review, name: str) -> str:
    return session.key(of("field", review), name)


def in_form(opens: Opens, review: Review) -> Screen:
    screen = opens().click(of("edit", review))
    screen.at.button_group(key=of("edit-view", review)).set_value("Form")
    return screen.run()


def test_a_field_of_the_form_changes_its_own_argument_alone(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    in_form(opens, mail).type(field(mail, "to"), "bob@example.com").click(send(mail))
    (action,) = page_console.console.actions(mail.thread_id)
    assert action.args == {**(mail.actions[0].args or {}), "to": "bob@example.com"}


def test_two_fields_changed_before_the_page_is_drawn_are_both_kept(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    screen = in_form(opens, mail)
    screen.at.text_area(key=field(mail, "to")).set_value("bob@example.com")
    screen.at.text_area(key=field(mail, "subject")).set_value("Lunch")
    screen.run().click(send(mail))
    (sent,) = page_console.world.outbox()
    assert (sent.recipient, sent.subject) == ("bob@example.com", "Lunch")


def test_the_form_and_the_json_are_views_of_one_draft(opens: Opens, mail: Review) -> None:
    screen = in_form(opens, mail).type(field(mail, "to"), "bob@example.com")
    screen.at.button_group(key=of("edit-view", mail)).set_value("JSON")
    screen.run()
    assert json.loads(screen.at.text_area(key=of("args", mail)).value)["to"] == "bob@example.com"
    screen.type(of("args", mail), edited(mail, to="eve@example.com"))
    screen.at.button_group(key=of("edit-view", mail)).set_value("Form")
    screen.run()
    assert screen.at.text_area(key=field(mail, "to")).value == "eve@example.com"


def test_reset_empties_the_form_too(opens: Opens, mail: Review) -> None:
    screen = in_form(opens, mail).type(field(mail, "to"), "bob@example.com").click(of("reset", mail))
    assert screen.at.text_area(key=field(mail, "to")).value == "alice@example.com"


def test_json_that_is_broken_is_not_lost_by_looking_at_the_form(opens: Opens, mail: Review) -> None:
    screen = opens().click(of("edit", mail)).type(of("args", mail), '{"to": ')
    screen.at.button_group(key=of("edit-view", mail)).set_value("Form")
    assert "has to be mended" in screen.run().said()
    screen.at.button_group(key=of("edit-view", mail)).set_value("JSON")
    assert screen.run().at.text_area(key=of("args", mail)).value == '{"to": '


@pytest.mark.parametrize(
    ("shown", "pressed"), [("approve", "reject"), ("reject", "approve"), ("approve", "undo")]
)
def test_a_choice_and_a_send_that_arrive_together_send_nothing(
    opens: Opens, page_console: Opened, mail: Review, shown: str, pressed: str
) -> None:
    """Two keys pressed faster than the page is drawn reach the server as one, in no order that means anything."""
    screen = opens().click(of(shown, mail))
    screen.at.button(key=of(pressed, mail)).click()
    screen.at.button(key=send(mail)).click()
    screen.run()
    assert page_console.console.queue_length() == 1
    assert page_console.world.outbox() == ()
    assert "Nothing was sent" in screen.said()
    assert pressed == "undo" or screen.primary(of(pressed, mail))
