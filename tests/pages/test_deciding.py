"""Deciding on a card: what is offered, what is sent, and what is not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from threading import Event
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import RerunData, RerunException, get_script_run_ctx

from agent import bootstrap
from agent.bootstrap import Opened
from agent.console import Console
from agent.review import tool_messages
from agent.review.actions import ActionState, Review
from agent.review.events import EventKind
from agent.review.threads import Run
from pages.parts.card import card as inbox_card
from pages.parts.card import card_clicks
from pages.parts.card.stepper import AT_ONCE
from pages.parts.state import on_screen, widget_keys
from tests.conftest import SetClock, ask, start_deciding, waiting
from tests.pages.conftest import MAIL, Opens, Screen, calls, of, send, under_clock

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
    assert not screen.approve(mail).is_off(send(mail))


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
    assert page_console.console.queries.queue_length() == 1


def test_a_choice_survives_the_end_of_the_browser_session(opens: Opens, mail: Review) -> None:
    opens().click(of("reject", mail)).type(of("reason", mail), "not now")
    again = opens()
    assert again.primary(of("reject", mail))
    assert again.at.text_area(key=of("reason", mail)).value == "not now"


def test_an_approval_runs_the_call_once(opens: Opens, page_console: Opened, mail: Review) -> None:
    opens().approve(mail).send(mail)
    (sent,) = page_console.world.outbox()
    assert sent.recipient == "alice@example.com"


def test_the_next_card_is_drawn_before_the_run_starts(
    opens: Opens, console: Console, mail: Review, letters: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    came: list[Event] = []
    drawn: list[tuple[str, bool]] = []
    decide, card = Console.decide, inbox_card.card

    def decided(*args: Any, after: Event, **more: Any) -> Run:
        came.append(after)
        return decide(*args, after=after, **more)

    def put(review: Review, **more: Any) -> None:
        card(review, **more)
        drawn.extend((review.review_id, behind.is_set()) for behind in came)

    screen = opens().approve(mail)
    monkeypatch.setattr(Console, "decide", decided)
    monkeypatch.setattr(inbox_card, "card", put)
    screen.send(mail)
    assert drawn == [(letters.review_id, False)]
    assert [behind.is_set() for behind in came] == [True]


def test_the_agent_is_told_the_reason_of_a_rejection(opens: Opens, console: Console, mail: Review) -> None:
    screen = opens().click(of("reject", mail)).type(of("reason", mail), "Alice is away until May")
    assert "Alice is away until May" in screen.said()
    screen.send(mail)
    assert "Alice is away until May" in console.queries.history(mail.thread_id)[-1].content


def test_an_answer_in_the_tools_place_cannot_be_empty(opens: Opens, console: Console) -> None:
    review = waiting(
        console, ask(console, calls('ask_user {"question": "Which report?"}'), agent="operations")
    )
    screen = opens().click(of("respond", review))
    assert screen.is_off(send(review))
    screen.type(of("reply", review), "The one of May").send(review)
    (action,) = console.queries.actions(review.thread_id)
    assert (action.state, action.result) == (ActionState.RESPONDED, "The one of May")


def test_several_decisions_are_sent_together_and_none_before_the_last(
    opens: Opens, page_console: Opened, letters: Review
) -> None:
    screen = opens().approve(letters, 0)
    assert screen.is_off(send(letters))
    screen.click(of("reject", letters, 1))
    assert page_console.world.outbox() == ()
    screen.send(letters)
    assert [one.recipient for one in page_console.world.outbox()] == ["bob@example.com"]
    states = [action.state for action in page_console.console.queries.actions(letters.thread_id)]
    assert states == [ActionState.DONE, ActionState.REJECTED]


def test_approving_one_of_several_moves_on_to_the_next_undecided(opens: Opens, letters: Review) -> None:
    screen = opens()
    assert screen.has(of("approve", letters, 0))
    screen.approve(letters, 0)
    assert screen.has(of("approve", letters, 1))
    assert not screen.has(of("approve", letters, 0))


def test_the_stepper_goes_back_to_an_action_that_was_decided(opens: Opens, letters: Review) -> None:
    screen = opens().approve(letters, 0)
    screen.at.button_group(key=widget_keys.key("step", letters.review_id, 1)).set_value(0)
    screen.run()
    assert screen.primary(of("approve", letters, 0))


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"to": 1, "to": 2}', '{"to": NaN}', "nonsense"])
def test_an_edit_that_is_no_json_object_cannot_be_sent(opens: Opens, mail: Review, text: str) -> None:
    screen = opens().click(of("edit", mail)).write_args(mail, text)
    assert screen.is_off(send(mail))


def test_of_many_actions_the_steps_around_the_one_in_view_are_drawn_and_the_others_are_a_click_away(
    opens: Opens, console: Console
) -> None:
    mails = [f'send_email {{"to": "{n}@x.org", "subject": "s", "body": "b"}}' for n in range(AT_ONCE + 3)]
    review = waiting(console, ask(console, calls(*mails)))

    def steps(screen: Screen, place: int) -> int:
        return len(screen.at.button_group(key=widget_keys.key("step", review.review_id, place)).options)

    screen = opens()
    assert steps(screen, 0) == AT_ONCE
    screen.click(widget_keys.key("steps", review.review_id, AT_ONCE))
    assert screen.has(of("approve", review, AT_ONCE))
    assert steps(screen, AT_ONCE) == 3
    screen.click(widget_keys.key("steps", review.review_id, 0))
    assert screen.has(of("approve", review, 0))


def test_a_mistake_in_the_json_is_named_with_its_line(opens: Opens, mail: Review) -> None:
    screen = opens().click(of("edit", mail))
    screen.write_args(mail, '{"to": "bob@example.com",\n "subject": "s"\n "body": "b"}')
    assert "line 3" in screen.said()
    assert screen.is_off(send(mail))


def test_an_argument_of_the_wrong_type_is_named_by_its_path(opens: Opens, mail: Review) -> None:
    screen = opens().click(of("edit", mail)).write_args(mail, edited(mail, to=7))
    assert "args.to" in screen.said()
    assert screen.is_off(send(mail))


def test_an_argument_the_tool_does_not_have_is_named_and_not_dropped(opens: Opens, mail: Review) -> None:
    screen = opens().click(of("edit", mail)).write_args(mail, edited(mail, cc="eve@example.com"))
    assert "args.cc" in screen.said()
    assert screen.is_off(send(mail))


def test_a_faulty_edit_can_be_mended_and_sent(opens: Opens, page_console: Opened, mail: Review) -> None:
    screen = opens().click(of("edit", mail)).write_args(mail, "{")
    screen.write_args(mail, edited(mail, to="bob@example.com"))
    assert "args.to\n  alice@example.com\n→ bob@example.com" in screen.said()
    screen.send(mail)
    assert [one.recipient for one in page_console.world.outbox()] == ["bob@example.com"]


def test_reset_brings_the_proposal_back(opens: Opens, mail: Review) -> None:
    screen = opens().click(of("edit", mail)).write_args(mail, "{").click(of("reset", mail))
    assert json.loads(screen.args(mail)) == mail.actions[0].args
    assert "Nothing is changed yet" in screen.said()
    assert not screen.type_again(mail).is_off(send(mail))


def test_reset_can_be_followed_by_another_edit(opens: Opens, page_console: Opened, mail: Review) -> None:
    screen = opens().click(of("edit", mail)).write_args(mail, edited(mail, to="eve@example.com"))
    screen.click(of("reset", mail)).write_args(mail, edited(mail, to="bob@example.com"))
    screen.send(mail)
    assert [one.recipient for one in page_console.world.outbox()] == ["bob@example.com"]


@pytest.mark.parametrize("body", ["one\r\ntwo", "trailing  \n", " ", "tab\there", "e\u0301 \u202e x"])
def test_an_edit_that_was_not_touched_sends_the_servers_own_copy(
    opens: Opens, page_console: Opened, body: str
) -> None:
    console = page_console.console
    call = json.dumps({"to": "bob@example.com", "subject": "s", "body": body})
    review = waiting(console, ask(console, calls(f"send_email {call}")))
    opens().click(of("edit", review)).send(review)
    (sent,) = page_console.world.outbox()
    assert sent.body == body


def test_an_edit_keeps_numbers_beyond_what_a_browser_can_hold(opens: Opens, console: Console) -> None:
    review = waiting(
        console,
        ask(console, calls('write_file {"path": "n", "content": "9007199254740993"}'), agent="operations"),
    )
    screen = opens().click(of("edit", review))
    screen.write_args(review, '{"path": "n2", "content": "9007199254740993"}').send(review)
    assert console.queries.actions(review.thread_id)[0].args == {"path": "n2", "content": "9007199254740993"}


def test_an_edit_whose_preview_has_changed_since_is_not_sent(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    """The sentence on what will run depends on the world, and the world may move while one reads."""
    screen = opens().click(of("edit", mail)).write_args(mail, edited(mail, to="bob@example.com"))
    screen.type_again(mail)
    known = waiting(
        page_console.console,
        ask(
            page_console.console,
            calls('send_email {"to": "bob@example.com", "subject": "s", "body": "b"}'),
        ),
    )
    decided = [{"type": "approve"}]
    run = start_deciding(page_console.console, known.thread_id, decided, by="ben")
    assert page_console.console.wait(run, 30)
    screen.click(send(mail))
    assert len(page_console.world.outbox()) == 1
    assert "What would run has changed since it was shown" in screen.said()
    assert screen.has(of("args", mail)), "the draft is gone"
    screen.send(mail)
    assert len(page_console.world.outbox()) == 2


def test_the_loser_of_a_race_is_told_who_decided_what_and_keeps_the_draft(
    opens: Opens, console: Console, mail: Review
) -> None:
    screen = opens(reviewer="ben", review=mail.review_id)
    screen.click(of("edit", mail)).write_args(mail, edited(mail, to="ben@example.com")).type_again(mail)
    assert console.wait(start_deciding(console, mail.thread_id, [{"type": "reject"}], by="ana"), 30)
    screen.click(send(mail))
    assert "already decided by ana" in screen.said()
    assert "reject" in screen.said()
    assert "ben@example.com" in (console.queries.draft(mail.review_id, "ben") or "")
    (refused,) = console.trail.events(kind=EventKind.DECISION_REFUSED)
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
    screen = opens(review=mail.review_id).approve(mail)
    put_on_screen(screen, other)
    screen.click(send(mail))
    assert page_console.world.outbox() == ()
    assert page_console.console.queries.queue_length() == 2


def put_on_screen(screen: Screen, review: Review) -> None:
    """As if the page had just been drawn with another card, while the browser still shows the one before."""
    action = review.actions[0]
    card = (review.review_id, action.key.tool_call_id, action.shown_digest)
    screen.at.session_state[on_screen.CARD] = (card, bootstrap.opened().console.queries.now())


def test_what_is_sent_is_what_this_screen_shows_whatever_another_tab_chose(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    here, there = opens(), opens()
    here.approve(mail)
    there.click(of("edit", mail)).write_args(mail, edited(mail, to="eve@example.com"))
    here.click(send(mail))
    assert [one.recipient for one in page_console.world.outbox()] == ["alice@example.com"]


def test_a_rejection_on_this_screen_is_not_turned_into_an_approval_by_another_tab(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    here, there = opens(), opens()
    here.click(of("reject", mail))
    there.click(of("approve", mail))
    here.send(mail)
    assert page_console.world.outbox() == ()


def closing(review: Review) -> str:
    """The key of what holds the way to close the review."""
    return widget_keys.key("closing", review.review_id)


def test_closing_without_deciding_runs_nothing_and_tells_the_agent(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    opens().open_fold(closing(mail)).click(widget_keys.key("close", mail.review_id))
    (action,) = page_console.console.queries.actions(mail.thread_id)
    assert action.state is ActionState.CANCELLED
    assert page_console.world.outbox() == ()


def test_closing_what_another_has_decided_says_who_and_what(
    opens: Opens, console: Console, mail: Review
) -> None:
    screen = opens(review=mail.review_id).open_fold(closing(mail))
    assert console.wait(start_deciding(console, mail.thread_id, [{"type": "approve"}], by="ben"), 30)
    assert "already decided by ben" in screen.click(widget_keys.key("close", mail.review_id)).said()


def test_the_card_shows_a_reviewers_first_look_once(opens: Opens, console: Console, mail: Review) -> None:
    opens().run()
    opens()
    assert [event.by for event in console.trail.events(kind=EventKind.REVIEW_SHOWN)] == ["ana"]


def field(review: Review, name: str) -> str:
    return widget_keys.field_key("field", review, review.actions[0], name)


def in_form(opens: Opens, review: Review) -> Screen:
    screen = opens().click(of("edit", review))
    screen.at.button_group(key=of("edit-view", review)).set_value("Form")
    return screen.run()


def test_a_field_of_the_form_changes_its_own_argument_alone(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    in_form(opens, mail).type(field(mail, "to"), "bob@example.com").send(mail)
    (action,) = page_console.console.queries.actions(mail.thread_id)
    assert action.args == {**(mail.actions[0].args or {}), "to": "bob@example.com"}


def test_two_fields_changed_before_the_page_is_drawn_are_both_kept(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    screen = in_form(opens, mail)
    screen.at.text_area(key=field(mail, "to")).set_value("bob@example.com")
    screen.at.text_area(key=field(mail, "subject")).set_value("Lunch")
    screen.run().send(mail)
    (sent,) = page_console.world.outbox()
    assert (sent.recipient, sent.subject) == ("bob@example.com", "Lunch")


def test_the_form_and_the_json_are_views_of_one_draft(opens: Opens, mail: Review) -> None:
    screen = in_form(opens, mail).type(field(mail, "to"), "bob@example.com")
    screen.at.button_group(key=of("edit-view", mail)).set_value("JSON")
    screen.run()
    assert json.loads(screen.args(mail))["to"] == "bob@example.com"
    screen.write_args(mail, edited(mail, to="eve@example.com"))
    screen.at.button_group(key=of("edit-view", mail)).set_value("Form")
    screen.run()
    assert screen.at.text_area(key=field(mail, "to")).value == "eve@example.com"


def test_reset_empties_the_form_too(opens: Opens, mail: Review) -> None:
    screen = in_form(opens, mail).type(field(mail, "to"), "bob@example.com").click(of("reset", mail))
    assert screen.at.text_area(key=field(mail, "to")).value == "alice@example.com"


def test_json_that_is_broken_is_not_lost_by_looking_at_the_form(opens: Opens, mail: Review) -> None:
    screen = opens().click(of("edit", mail)).write_args(mail, '{"to": ')
    screen.at.button_group(key=of("edit-view", mail)).set_value("Form")
    assert "until its JSON is fixed" in screen.run().said()
    screen.at.button_group(key=of("edit-view", mail)).set_value("JSON")
    assert screen.run().args(mail) == '{"to": '


@pytest.mark.parametrize(
    ("shown", "pressed"), [("approve", "reject"), ("reject", "approve"), ("approve", "undo")]
)
def test_a_choice_and_a_send_that_arrive_together_send_nothing(
    opens: Opens, page_console: Opened, mail: Review, shown: str, pressed: str
) -> None:
    """Two keys pressed faster than the page is drawn reach the server as one, in no order that means anything."""
    screen = opens().click(of(shown, mail)).type_again(mail)
    screen.at.button(key=of(pressed, mail)).click()
    screen.at.button(key=send(mail)).click()
    screen.run()
    assert page_console.console.queries.queue_length() == 1
    assert page_console.world.outbox() == ()
    assert "Nothing was sent" in screen.said()
    assert pressed == "undo" or screen.primary(of(pressed, mail))


def type_value(screen: Screen, review: Review, value: str, place: int = 0) -> Screen:
    screen.at.text_input(key=of("typed", review, place)).set_value(value)
    return screen.run()


def test_an_irreversible_call_is_approved_only_after_its_dangerous_value_was_typed(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    screen = opens().click(of("approve", mail))
    assert screen.is_off(send(mail))
    for wrong in ("alice@example.co", "Alice@example.com", "alice@example.com "):
        assert type_value(screen, mail, wrong).is_off(send(mail)), wrong
    type_value(screen, mail, "alice@example.com").click(send(mail))
    assert len(page_console.world.outbox()) == 1


def test_the_server_asks_for_the_typed_value_whatever_the_browser_offers(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    """The draft is another tab's by the time the click arrives: the button it came from was drawn before."""
    screen = opens().approve(mail)
    review_id, body = screen.at.session_state[on_screen.DRAFT]
    screen.at.session_state[on_screen.DRAFT] = (
        review_id,
        body.replace("alice@example.com", "alice@example.co"),
    )
    screen.click(send(mail))
    assert page_console.world.outbox() == ()
    assert card_clicks.NOT_TYPED in screen.said()


def test_an_edit_asks_for_the_value_that_would_run_and_not_the_one_proposed(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    screen = opens().click(of("edit", mail)).write_args(mail, edited(mail, to="bob@example.com"))
    assert type_value(screen, mail, "alice@example.com").is_off(send(mail))
    type_value(screen, mail, "bob@example.com").click(send(mail))
    assert [one.recipient for one in page_console.world.outbox()] == ["bob@example.com"]


def test_rejecting_an_irreversible_call_asks_for_nothing(opens: Opens, mail: Review) -> None:
    screen = opens().click(of("reject", mail))
    assert not screen.has(of("typed", mail))
    assert not screen.is_off(send(mail))


def test_approving_one_of_several_stays_until_its_value_is_typed(opens: Opens, letters: Review) -> None:
    screen = opens().click(of("approve", letters, 0))
    assert screen.has(of("approve", letters, 0))
    assert type_value(screen, letters, "bob@example.com").has(of("approve", letters, 1))


def test_nothing_is_sent_in_the_first_moments_of_a_card(
    opens: Opens, page_console: Opened, mail: Review, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.now = datetime.now(UTC)
    screen = opens()
    under_clock(page_console.console, clock)
    screen.at.session_state[on_screen.CARD] = None
    screen.run().approve(mail)
    monkeypatch.setattr(card_clicks, "FIRST_MOMENTS", 0.7)
    clock.move(seconds=0.6)
    assert card_clicks.TOO_SOON in screen.click(send(mail)).said()
    assert page_console.world.outbox() == ()
    screen.open_fold(closing(mail))
    assert card_clicks.TOO_SOON in screen.click(widget_keys.key("close", mail.review_id)).said()
    assert page_console.console.queries.queue_length() == 1
    clock.move(seconds=0.2)
    screen.click(send(mail))
    assert len(page_console.world.outbox()) == 1


def test_a_second_choice_that_comes_at_once_changes_nothing(
    opens: Opens, mail: Review, page_console: Opened, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.now = datetime.now(UTC)
    under_clock(page_console.console, clock)
    monkeypatch.setattr(card_clicks, "FIRST_MOMENTS", 0.7)
    screen = opens().click(of("reject", mail))
    clock.move(seconds=0.6)
    assert card_clicks.TWO_AT_ONCE in screen.click(of("approve", mail)).said()
    assert screen.primary(of("reject", mail))
    clock.move(seconds=0.2)
    assert screen.click(of("approve", mail)).primary(of("approve", mail))


def test_a_key_that_reaches_the_cards_before_and_after_does_not_deny_the_choice_it_made(
    opens: Opens, console: Console
) -> None:
    first, second = (waiting(console, ask(console, MAIL)) for _ in range(2))
    chosen = opens(review=second.review_id).click(of("approve", second))
    draft = chosen.at.session_state[on_screen.DRAFT]
    screen = opens(review=first.review_id)
    put_on_screen(screen, second)
    screen.at.session_state[on_screen.DRAFT] = draft
    assert card_clicks.MOVED not in screen.click(of("approve", first)).said()


def test_what_is_chosen_stands_above_the_arguments(opens: Opens, mail: Review) -> None:
    screen = opens().click(of("reject", mail))
    keys = [str(one.key) for one in screen.nodes()]
    assert keys.index(of("reason", mail)) < keys.index("call")


def test_faults_of_an_edit_stand_one_on_a_line_and_mark_the_lines_they_are_on(
    opens: Opens, mail: Review
) -> None:
    screen = opens().click(of("edit", mail))
    screen.write_args(mail, '{"to": 7,\n "subject": "s",\n "body": [],\n "cc": "x"}')
    faults = [line for line in screen.said().splitlines() if line.startswith("args.")]
    assert [fault.partition(":")[0] for fault in faults] == ["args.to", "args.body", "args.cc"]
    assert screen.marked_lines(mail) == [1, 3, 4]


def test_looking_at_a_review_does_not_move_the_pulse(opens: Opens, console: Console, mail: Review) -> None:
    before = console.queries.pulse(), console.queries.pulse(mail.thread_id)
    opens()
    assert console.trail.events(kind=EventKind.REVIEW_SHOWN)
    assert (console.queries.pulse(), console.queries.pulse(mail.thread_id)) == before


@pytest.mark.parametrize("cut_off", [0, 1, 2])
def test_what_a_field_holds_counts_though_a_new_server_was_told_of_no_change(
    opens: Opens, console: Console, mail: Review, monkeypatch: pytest.MonkeyPatch, cut_off: int
) -> None:
    before = opens().click(of("reject", mail))
    before.at.text_area(key=of("reason", mail)).set_value("Alice is away")
    after = opens()
    # As after a restart: a new session is sent what the page's fields hold.
    after.at.session_state[widget_keys.DRAWN] = set()
    after.at.session_state[of("reason", mail)] = "Alice is away"
    keep, cuts = Console.keep_draft, iter(range(cut_off))

    def cut(*args: Any) -> None:
        """Another request comes while the page is drawn, and brings what the fields hold, as each does."""
        if next(cuts, None) is not None:
            context = get_script_run_ctx()
            assert context is not None
            states = WidgetStates(widgets=context.session_state.get_widget_states())
            raise RerunException(RerunData(widget_states=states))
        keep(*args)

    monkeypatch.setattr(Console, "keep_draft", cut)
    assert tool_messages.rejected("Alice is away") in after.run().said()
    after.click(send(mail))
    (decided,) = console.trail.events(kind=EventKind.DECISION_MADE)
    assert (decided.data or {})["reason"] == "Alice is away"
