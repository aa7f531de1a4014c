"""A thread on the chat page: starting, going on, trouble, and what is under the hood."""

from __future__ import annotations

from agent.bootstrap import Opened
from agent.console import Console
from agent.review.actions import Action, Review
from agent.review.threads import Message, Status
from pages.parts.state import widget_keys
from tests.conftest import ask, start_deciding, until
from tests.pages.conftest import MAIL, Opens, calls, ended, of, send


def test_a_typed_request_starts_a_thread_and_shows_its_review(opens: Opens, console: Console) -> None:
    screen = opens("chat")
    screen.at.chat_input(key="message").set_value(MAIL)
    screen.run()
    (review,) = console.queries.queue()
    assert screen.at.query_params["thread"] == review.thread_id
    assert screen.has(send(review))


def test_a_suggestion_starts_a_thread_with_the_chosen_agent(opens: Opens, console: Console) -> None:
    screen = opens("chat")
    screen.at.button_group(key="new-agent").set_value("operations")
    screen.run().click("suggestion:1")
    (thread,) = console.queries.threads()
    assert (thread.agent, thread.opening) == (
        "operations",
        console.queries.agent("operations").suggestions[1],
    )


def test_an_empty_message_is_refused_with_a_remedy(opens: Opens, console: Console) -> None:
    screen = opens("chat")
    screen.at.chat_input(key="message").set_value("  \n ")
    said = screen.run().said()
    assert "The message was not sent." in said
    assert "Write what the agent should do" in said
    assert console.queries.threads() == []


def test_a_thread_that_does_not_exist_is_named_with_a_way_out(opens: Opens) -> None:
    screen = opens("chat", thread="nowhere")
    assert "There is no such thread." in screen.said()
    assert "nowhere" in screen.said()
    screen.click("new")
    assert screen.has("suggestion:0")


def test_a_thread_that_waits_has_its_card_in_place_of_the_message_box(opens: Opens, mail: Review) -> None:
    screen = opens("chat", thread=mail.thread_id)
    assert screen.has(of("approve", mail))
    assert not screen.has("message")


def test_after_the_decision_the_answer_and_the_message_box_are_there(
    opens: Opens, console: Console, mail: Review
) -> None:
    screen = opens("chat", thread=mail.thread_id).approve(mail).send(mail)
    ended(console, mail.thread_id)
    screen.run()
    assert console.queries.history(mail.thread_id)[-1].content in screen.said()
    assert not screen.at.chat_input(key="message").disabled


def test_a_rejected_call_shows_who_rejected_it_and_what_the_agent_got(
    opens: Opens, console: Console, mail: Review
) -> None:
    decision = [{"type": "reject", "message": "wrong Alice"}]
    assert console.wait(start_deciding(console, mail.thread_id, decision, by="ben"), 30)
    said = opens("chat", thread=mail.thread_id).said()
    assert "reject by ben" in said
    assert "wrong Alice" in said


def test_an_edited_call_shows_what_ran_and_what_was_proposed(
    opens: Opens, console: Console, mail: Review
) -> None:
    (action,) = mail.actions
    args = {**(action.args or {}), "to": "bob@example.com"}
    decision = [{"type": "edit", "edited_action": {"name": "send_email", "args": args}}]
    assert console.wait(start_deciding(console, mail.thread_id, decision, by="ben"), 30)
    screen = opens("chat", thread=mail.thread_id)
    assert "edit by ben" in screen.said()
    assert "bob@example.com" in screen.said()
    (proposal,) = (one for one in screen.at.expander if one.label == "As the agent proposed it")
    assert "alice@example.com" in proposal.code[0].value
    assert not screen.at.error


def test_a_call_that_ran_unasked_says_so(opens: Opens, console: Console) -> None:
    thread_id = ask(console, calls('archive_mail {"message_id": "m-1"}'))
    assert "log: ran without asking" in opens("chat", thread=thread_id).said()


def test_a_call_the_policy_refuses_says_so(opens: Opens, console: Console) -> None:
    thread_id = ask(console, calls("wipe_mailbox"))
    assert "refused by the policy" in opens("chat", thread=thread_id).said()


def test_arguments_that_could_not_be_read_are_shown_as_they_came(opens: Opens, console: Console) -> None:
    thread_id = ask(console, calls('send_email {"to": '))
    assert '{"to":' in opens("chat", thread=thread_id).said()


def test_a_failed_turn_can_be_tried_again(opens: Opens, console: Console) -> None:
    thread_id = ask(console, "/fail once\n/say All is well")
    screen = opens("chat", thread=thread_id)
    assert "This turn failed. Nothing is lost." in screen.said()
    assert "told to fail" in screen.said()
    screen.click("retry")
    ended(console, thread_id)
    assert "All is well" in screen.run().said()


def test_a_failed_turn_does_not_keep_a_person_from_writing(opens: Opens, console: Console) -> None:
    thread_id = ask(console, "/fail")
    screen = opens("chat", thread=thread_id)
    screen.at.chat_input(key="message").set_value("/say Here again")
    screen.run()
    ended(console, thread_id)
    assert "Here again" in screen.run().said()


def test_a_running_turn_can_be_stopped_and_gone_on_with(opens: Opens, console: Console) -> None:
    slow = '/slow 2\n/call search_mail {"text": "rent"}\n/then\n/say Done at last'
    run = console.send(slow, by="ana", thread_id="t")
    screen = opens("chat", thread="t")
    assert screen.at.chat_input(key="message").disabled
    screen.click("stop:t")
    assert console.wait(run, 30)
    screen.run()
    assert console.queries.view("t").thread.status is Status.STOPPED
    assert "This turn was stopped." in screen.said()
    screen.click("retry")
    ended(console, "t")
    assert "Done at last" in screen.run().said()


def test_stopping_what_has_just_ended_says_so(opens: Opens, console: Console) -> None:
    run = console.send("/slow 2\n/say Done", by="ana", thread_id="t")
    screen = opens("chat", thread="t")
    assert console.wait(run, 30)
    screen.at.button(key="stop:t").click()
    screen.run()
    assert "The run was not stopped." in screen.said()


def test_a_message_to_a_thread_another_has_moved_on_is_refused_with_the_reason(
    opens: Opens, console: Console
) -> None:
    thread_id = ask(console, "/say Hello")
    screen = opens("chat", thread=thread_id)
    ask(console, MAIL, thread_id=thread_id)
    screen.at.chat_input(key="message").set_value("/say Me too")
    said = screen.run().said()
    assert "The message was not sent." in said
    assert "Decide or close it" in said


def test_an_unknown_outcome_closes_the_message_box_and_leads_to_settling(
    opens: Opens, console: Console, unknown: Action
) -> None:
    screen = opens("chat", thread=unknown.key.thread_id)
    assert "It will not be run again by itself." in screen.said()
    assert screen.at.chat_input(key="message").disabled
    screen.click(widget_keys.key("settle", unknown.key.tool_call_id))
    assert screen.has("record-outcome")


def test_the_same_request_starts_a_thread_of_its_own(opens: Opens, console: Console, mail: Review) -> None:
    screen = opens("chat", thread=mail.thread_id).click("again")
    until(lambda: console.queries.queue_length() == 2)
    new = screen.at.query_params["thread"]
    assert new != mail.thread_id
    assert console.queries.opening(new) == MAIL


def test_under_the_hood_shows_the_interrupt_and_the_command_to_be_sent(opens: Opens, mail: Review) -> None:
    screen = opens("chat", thread=mail.thread_id).click(of("reject", mail))
    screen.type(of("reason", mail), "not today")
    screen.at.button_group(key="view").set_value("Under the hood")
    said = screen.run().said()
    assert mail.review_id in said
    assert "Command(resume=" in said
    assert "not today" in said


def test_looking_under_the_hood_runs_nothing(opens: Opens, page_console: Opened, mail: Review) -> None:
    screen = opens("chat", thread=mail.thread_id)
    before = page_console.console.queries.history_length(mail.thread_id)
    screen.at.button_group(key="view").set_value("Under the hood")
    screen.run()
    assert page_console.console.queries.history_length(mail.thread_id) == before
    assert page_console.console.queries.queue_length() == 1


def test_a_long_thread_shows_its_end_and_more_on_demand(opens: Opens, page_console: Opened) -> None:
    console = page_console.console
    thread_id = ask(console, "/say The beginning")
    said = [Message(f"m{n}", "human" if n % 2 else "ai", f"line {n}.") for n in range(2_000)]
    with console._ledger.write() as tx:
        tx.put_messages(thread_id, said, console.queries.now())
    screen = opens("chat", thread=thread_id)
    assert "line 1999." in screen.said()
    assert len(screen.at.chat_message) == 50
    assert "1,952 more" in screen.at.button(key=widget_keys.key("earlier", thread_id)).label
    screen.click(widget_keys.key("earlier", thread_id))
    assert len(screen.at.chat_message) == 100
    assert "line 1900." in screen.said()


def test_resetting_the_demo_world_leaves_the_record_alone(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    console = page_console.console
    assert console.wait(start_deciding(console, mail.thread_id, [{"type": "approve"}], by="ana"), 30)
    events = console.trail.verify().count
    opens("chat", thread=mail.thread_id).click("reset-world")
    assert page_console.world.outbox() == ()
    assert console.trail.verify().count == events
