"""The inbox: what waits, in which order, and where each button leads."""

from __future__ import annotations

from agent.console import Console
from agent.review.actions import Review
from pages.parts.common.words import short
from pages.parts.inbox.inbox_list import count, row_title
from pages.parts.state import address, widget_keys
from tests.conftest import SetClock, ask, start_deciding, waiting
from tests.pages.conftest import MAIL, Opens, Screen, calls, send, under_clock


def named(screen: Screen) -> list[str]:
    """The reviews in the list, by their ids."""
    return [name for name, *_ in screen.rows("waiting")]


def test_a_title_is_the_tool_and_its_first_argument_if_it_has_one() -> None:
    assert row_title("send_email", {"to": "ann", "body": "b"}) == "send_email  ann"
    assert row_title("sync_now", {}) == "sync_now"
    assert row_title("sync_now", None) == "sync_now"


def test_an_empty_inbox_says_so_and_offers_a_demo(opens: Opens, console: Console) -> None:
    screen = opens()
    assert "Nothing waits for a decision." in screen.said()
    screen.click("demo")
    assert console.queries.queue_length() == 1
    assert screen.has("card")


def test_the_demo_button_puts_something_before_a_reviewer_at_once(opens: Opens, console: Console) -> None:
    screen = opens().click("demo")
    (review,) = console.queries.queue()
    assert screen.has(send(review))
    assert len(review.actions) == 2


def test_the_oldest_review_is_on_screen_first(opens: Opens, console: Console) -> None:
    oldest, _ = (waiting(console, ask(console, MAIL)) for _ in range(2))
    screen = opens()
    assert screen.has(send(oldest))
    assert screen.picked("waiting") == oldest.review_id


def test_a_row_opens_its_card(opens: Opens, console: Console) -> None:
    first, second = (waiting(console, ask(console, MAIL)) for _ in range(2))
    screen = opens().pick("waiting", second.review_id)
    assert screen.has(send(second))
    assert not screen.has(send(first))
    assert screen.at.query_params["review"] == second.review_id


def test_the_address_of_a_review_opens_it(opens: Opens, console: Console) -> None:
    _, second = (waiting(console, ask(console, MAIL)) for _ in range(2))
    assert opens(review=second.review_id).has(send(second))


def test_next_and_previous_go_around_the_queue(opens: Opens, console: Console) -> None:
    first, second, third = (waiting(console, ask(console, MAIL)) for _ in range(3))
    screen = opens()
    screen.click("next")
    assert screen.has(send(second))
    screen.click("previous")
    assert screen.has(send(first))
    screen.click("previous")
    assert screen.has(send(third))
    screen.click("next")
    assert screen.has(send(first))


def test_later_leaves_the_review_waiting_and_shows_the_next(opens: Opens, console: Console) -> None:
    _, second = (waiting(console, ask(console, MAIL)) for _ in range(2))
    screen = opens().click("later")
    assert screen.has(send(second))
    assert console.queries.queue_length() == 2


def test_after_a_decision_comes_the_review_behind_it(opens: Opens, console: Console) -> None:
    first, second, third = (waiting(console, ask(console, MAIL)) for _ in range(3))
    screen = opens(review=second.review_id)
    screen.approve(second).send(second)
    assert screen.has(send(third))
    assert not screen.has(send(first))


def test_after_the_last_decision_of_the_queue_comes_the_oldest(opens: Opens, console: Console) -> None:
    first, second = (waiting(console, ask(console, MAIL)) for _ in range(2))
    screen = opens(review=second.review_id)
    screen.approve(second).send(second)
    assert screen.has(send(first))


def test_after_the_only_decision_nothing_waits(opens: Opens, mail: Review) -> None:
    screen = opens().approve(mail).send(mail)
    assert "Nothing waits for a decision." in screen.said()


def test_a_review_that_is_over_says_who_ended_it_and_how(
    opens: Opens, console: Console, mail: Review
) -> None:
    assert console.wait(start_deciding(console, mail.thread_id, [{"type": "reject"}], by="ben"), 30)
    said = opens(review=mail.review_id).said()
    assert "This review is over." in said
    assert "ended by ben: reject" in said


def test_an_address_of_no_review_says_so(opens: Opens) -> None:
    assert "There is no such review." in opens(review="none").said()


def test_the_list_is_narrowed_by_agent_tool_and_text(opens: Opens, console: Console) -> None:
    waiting(console, ask(console, MAIL))
    file = waiting(
        console, ask(console, calls('write_file {"path": "a.txt", "content": "x"}'), agent="operations")
    )
    for narrowed in ({"agent": "operations"}, {"tool": "write_file"}, {"q": "a.txt"}):
        screen = opens(**narrowed)
        assert named(screen) == [file.review_id], narrowed


def test_a_search_without_a_match_says_that_nothing_matches(opens: Opens, mail: Review) -> None:
    said = opens(q="no such thing").said()
    assert "Nothing here matches." in said
    assert "Needs a decision** · 1" in said


def test_a_long_queue_is_drawn_fifty_at_a_time(opens: Opens, console: Console) -> None:
    reviews = [waiting(console, ask(console, MAIL)) for _ in range(52)]
    screen = opens()
    assert named(screen) == [one.review_id for one in reviews[:50]]
    screen.click("next-page")
    assert named(screen) == [one.review_id for one in reviews[50:]]
    screen.click("first-page")
    assert named(screen)[0] == reviews[0].review_id


def test_what_ran_without_asking_stands_in_the_list_until_it_is_looked_over(
    opens: Opens, console: Console
) -> None:
    ask(console, calls('archive_mail {"message_id": "m-1"}'), agent="mail")
    (action,) = console.queries.ran_without_asking()
    looked = widget_keys.key("looked", action.key.thread_id, action.key.tool_call_id, action.key.attempt)
    screen = opens()
    assert "archive_mail" not in screen.said()
    screen.open_fold("Ran without asking").click(looked)
    assert not screen.has(looked)
    assert console.queries.ran_without_asking() == []


def test_a_decided_action_stands_among_what_was_done_today_and_leads_to_its_thread(
    opens: Opens, mail: Review
) -> None:
    screen = opens().approve(mail).send(mail).open_fold("Done today")
    ((name, what, end),) = screen.rows("done")
    assert (what, end) == ("send_email  alice@example.com", f"done, by ana · {short(mail.thread_id)}")
    screen.pick("done", name)
    assert screen.at.query_params[address.THREAD_PARAMETER] == mail.thread_id


def test_what_runs_leads_to_its_thread(opens: Opens, console: Console) -> None:
    run = console.send("/slow 2\n/say Done", by="ana", thread_id="t")
    screen = opens().open_fold("Running")
    assert [(name, opening) for name, opening, _ in screen.rows("running")] == [("t", "/slow 2 /say Done")]
    screen.pick("running", "t")
    assert screen.at.query_params[address.THREAD_PARAMETER] == "t"
    assert console.wait(run, 30)


def test_of_a_full_page_nothing_is_said_that_was_not_counted() -> None:
    assert (count(range(49)), count(range(50))) == ("49", "50 or more")


def test_the_navigation_counts_what_waits(opens: Opens, console: Console, mail: Review) -> None:
    screen = opens()
    titles = [page["page_name"] for page in screen.at._registered_pages.values()]
    assert "Inbox · 1" in titles


def test_a_review_that_expired_meanwhile_is_over(
    opens: Opens, console: Console, mail: Review, clock: SetClock
) -> None:
    screen = opens(review=mail.review_id)
    clock.now = console._clock()
    clock.move(hours=25)
    under_clock(console, clock)
    console.expire()
    assert "This review is over." in screen.run().said()
