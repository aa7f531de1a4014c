"""On the page: what has changed since a question, a comment, rejecting all, ending a turn, closing and asking again."""

from __future__ import annotations

from agent.bootstrap import Opened
from agent.console import Console
from agent.demos.world import Ref
from agent.review import tool_messages
from agent.review.actions import ActionState, Review
from agent.review.events import EventKind
from pages.parts.card.card_warnings import CHANGED, EXPIRED, WOULD_FAIL
from pages.parts.card.editor import MAY_PLAN_AGAIN
from pages.parts.state import widget_keys
from tests.conftest import SetClock, ask, decide, until, waiting
from tests.pages.conftest import MAIL, Opens, calls, of, send, under_clock

REJECT = {"type": "reject"}


def two_mails(console: Console) -> Review:
    mails = [f'send_email {{"to": "{name}@example.com", "subject": "s", "body": "b"}}' for name in "ab"]
    return waiting(console, ask(console, calls(*mails)))


def test_the_card_says_what_has_changed_since_the_question(opens: Opens, page_console: Opened) -> None:
    console = page_console.console
    review = waiting(console, ask(console, "Borrow b-1 for member m-9", agent="library"))
    assert CHANGED not in opens(review=review.review_id).said()
    page_console.world.borrow("b-1", "m-2", Ref("elsewhere", "c"))
    said = opens(review=review.review_id).said()
    assert CHANGED in said
    assert WOULD_FAIL in said
    assert "stock was 1, is 0" in said


def test_the_card_of_a_loan_says_for_how_long_it_is_and_how_many_copies_are_left(
    opens: Opens, console: Console
) -> None:
    review = waiting(console, ask(console, "Lend b-3 to m-9 for 1 day", agent="library"))
    said = opens(review=review.review_id).said()
    assert (
        "Lend b-3, “The Shape of Rivers”, to m-9, “Noor Haddad”, for 1 day, to be brought back by 20" in said
    )
    assert "2 copies are on the shelf now; 1 is left after this loan." in said


def test_a_call_that_comes_back_after_a_rejection_is_marked(opens: Opens, console: Console) -> None:
    mail = calls('send_email {"to": "a@x.org", "subject": "s", "body": "b"}')
    thread = ask(console, f"{mail}\n/then\n{mail.replace('/call', '/call#again')}")
    assert "asked about this same call again" not in opens(thread=thread, page="chat").said()
    decide(console, thread, REJECT)
    assert "rejected in this turn, 1 of 3 times" in opens(thread=thread, page="chat").said()


def test_a_call_that_comes_back_as_it_was_before_an_edit_is_marked(opens: Opens, console: Console) -> None:
    mail = calls('send_email {"to": "a@x.org", "subject": "s", "body": "b"}')
    thread = ask(console, f"{mail}\n/then\n{mail.replace('/call', '/call#again')}")
    assert "proposes the original again" not in opens(thread=thread, page="chat").said()
    to_b = {"to": "b@x.org", "subject": "s", "body": "b"}
    decide(console, thread, {"type": "edit", "edited_action": {"name": "send_email", "args": to_b}})
    (again,) = waiting(console, thread).actions
    assert again.args == {**to_b, "to": "a@x.org"}
    assert "You edited this same call" in (said := opens(thread=thread, page="chat").said())
    assert "Approved instead: Send an e-mail to b@x.org" in said
    assert "Somebody else edited this same call" in opens(thread=thread, page="chat", reviewer="ben").said()


def test_a_large_edit_is_called_one_and_can_be_sent(opens: Opens, mail: Review, console: Console) -> None:
    screen = opens().click(of("edit", mail))
    screen.write_args(mail, '{"to": "alice@example.com", "subject": "s", "body": "The meeting moved to 10."}')
    assert MAY_PLAN_AGAIN not in screen.said()
    screen.write_args(mail, '{"to": "alice@example.com", "subject": "s", "body": "Cancelled."}')
    assert MAY_PLAN_AGAIN in screen.said()
    screen.send(mail)
    assert console.queries.actions(mail.thread_id)[0].state is ActionState.DONE


def test_a_comment_goes_on_record_and_not_to_the_agent(opens: Opens, mail: Review, console: Console) -> None:
    screen = opens(review=mail.review_id).click(of("reject", mail))
    screen.type(of("comment", mail), "Ask Eve first.").click(send(mail))
    (event,) = console.trail.events(thread_id=mail.thread_id, kind=EventKind.DECISION_MADE)
    assert (event.data or {})["comment"] == "Ask Eve first."
    assert all("Ask Eve" not in message.content for message in console.queries.history(mail.thread_id))


def test_all_can_be_rejected_at_once_and_are_sent_with_the_button(opens: Opens, console: Console) -> None:
    review = two_mails(console)
    screen = opens(review=review.review_id).click(widget_keys.key("all-reject", review.review_id))
    assert {one.state for one in console.queries.actions(review.thread_id)} == {ActionState.PENDING}
    screen.click(send(review))
    assert {one.state for one in console.queries.actions(review.thread_id)} == {ActionState.REJECTED}


def test_a_rejection_can_end_the_turn(opens: Opens, mail: Review, console: Console) -> None:
    screen = opens(review=mail.review_id)
    end = widget_keys.key("end-turn", mail.review_id)
    assert not screen.has(end)
    screen.click(of("approve", mail))
    assert not screen.has(end)
    screen.click(of("reject", mail)).click(end)
    assert console.queries.history(mail.thread_id)[-1].content == tool_messages.ENDED_ANSWER


def test_what_was_closed_is_asked_again_with_one_press(opens: Opens, console: Console) -> None:
    thread = ask(console, MAIL)
    review = waiting(console, thread)
    screen = opens(page="chat", thread=thread).open_fold(widget_keys.key("closing", review.review_id))
    screen.at.text_input(key=widget_keys.key("close-reason", review.review_id)).set_value("Not today.")
    screen.click(widget_keys.key("close", review.review_id))
    (event,) = console.trail.events(thread_id=thread, kind=EventKind.REVIEW_CLOSED)
    assert (event.data or {})["reason"] == "Not today."

    screen.click(widget_keys.key("ask-again", thread))
    again = waiting(console, thread)
    assert again.review_id != review.review_id
    assert again.actions[0].args == review.actions[0].args
    assert not screen.has(widget_keys.key("ask-again", thread))


def expire_all(console: Console, clock: SetClock) -> None:
    clock.now = console._clock()
    clock.move(hours=25)
    under_clock(console, clock)
    console.expire()
    until(lambda: not console.queries.running())


def test_what_nobody_decided_in_time_is_asked_again_with_a_button(
    opens: Opens, console: Console, clock: SetClock
) -> None:
    thread = ask(console, MAIL)
    expire_all(console, clock)
    screen = opens(page="chat", thread=thread)
    assert "Nobody decided on this in time, so it did not run." in screen.said()
    screen.click(widget_keys.key("ask-again", thread))
    (again,) = waiting(console, thread).actions
    assert again.state is ActionState.PENDING
    assert not screen.has(widget_keys.key("ask-again", thread))


def test_a_call_that_comes_back_after_it_expired_is_marked(
    opens: Opens, console: Console, clock: SetClock
) -> None:
    mail = calls('send_email {"to": "a@x.org", "subject": "s", "body": "b"}')
    thread = ask(console, f"{mail}\n/then\n{mail.replace('/call', '/call#again')}")
    assert EXPIRED not in opens(thread=thread, page="chat").said()
    first = waiting(console, thread).actions[0].key.tool_call_id
    expire_all(console, clock)
    said = opens(thread=thread, page="chat").said()
    assert EXPIRED in said
    assert f"The earlier one is tool call {first}, attempt 1." in said
