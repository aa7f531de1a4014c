"""Asking rarely and well, through the console: preconditions, closing, ending a turn, loops, the clocks of a tool."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from agent.bootstrap import Opened, open_console
from agent.console import Console
from agent.demos.library import TO_APPROVE, TO_LEND
from agent.demos.world import Ref
from agent.review import tool_messages
from agent.review.actions import Action, ActionState
from agent.review.errors import InvalidDecision, NothingToAskAgain
from agent.review.events import EventKind
from agent.review.preconditions import ChangedFact, Since
from agent.review.repeats import MOST_REJECTIONS
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import SetClock, ask, decide, start_deciding, until, waiting

THREAD = "t-1"
APPROVE = {"type": "approve"}
REJECT = {"type": "reject", "message": "no"}
LAST = {"book_id": "b-1", "member_id": "m-9"}


def call(name: str, tool: str, **args: Any) -> str:
    return f"/call#{name} {tool} {json.dumps(args)}"


def mail(name: str, to: str = "a@x.org") -> str:
    return call(name, "send_email", to=to, subject="s", body="b")


def states(console: Console) -> dict[str, ActionState]:
    return {action.key.tool_call_id: action.state for action in console.queries.actions(THREAD)}


def results(console: Console) -> dict[str | None, str]:
    return {m.tool_call_id: m.content for m in console.queries.history(THREAD) if m.type == "tool"}


def last_words(console: Console) -> str:
    return console.queries.history(THREAD)[-1].content


def lend_last(console: Console, **decision: Any) -> Action:
    """Ask for the last copy; the action that waits."""
    ask(console, call("a", "borrow_book", **LAST), thread_id=THREAD, agent="library")
    (action,) = waiting(console, THREAD).actions
    return action


# The library, and what must still be true.


@pytest.mark.parametrize(
    ("request_", "ends"),
    [
        ("Find books about dragons", {"search_books": ActionState.DONE}),
        ("Renew loan l-1", {"renew_loan": ActionState.DONE}),
        ("Borrow b-1 for member m-9", {"borrow_book": ActionState.PENDING}),
        ("Delete member m-9", {"delete_member": ActionState.REFUSED}),
    ],
)
def test_each_suggested_request_of_the_library_comes_to_its_tiers_end(
    console: Console, request_: str, ends: dict[str, ActionState]
) -> None:
    assert request_ in console.queries.agent("library").suggestions
    ask(console, request_, thread_id=THREAD, agent="library")
    assert {action.tool: action.state for action in console.queries.actions(THREAD)} == ends


def since_shown(console: Console, action: Action) -> Since:
    """What the action's card shows of the facts it depends on."""
    (review,) = console.queries.view(action.key.thread_id).reviews
    return console.queries.card(review, action).since


def test_nothing_has_changed_since_a_question_that_was_just_put(console: Console) -> None:
    since = since_shown(console, lend_last(console))
    assert (since.changed, since.fault, since.unread) == ((), "", "")


def test_the_last_copy_that_another_reader_took_is_lent_once(opened: Opened) -> None:
    console, action = opened.console, lend_last(opened.console)
    opened.world.borrow("b-1", "m-2", Ref("elsewhere", "c-1"))

    since = since_shown(console, action)
    assert since.changed == (ChangedFact("stock", was=1, now=0),)
    assert "No copy" in since.fault

    decide(console, THREAD, APPROVE)
    assert states(console) == {"a": ActionState.FAILED}
    assert "No copy of “A Field Guide to Dragons” is left" in results(console)["a"]
    (event,) = console.trail.events(thread_id=THREAD, kind=EventKind.EXECUTION_FAILED)
    assert "No copy" in (event.data or {})["result"]
    book = opened.world.book("b-1")
    assert book is not None
    assert book.stock == 0
    assert len(opened.world.changes(THREAD)) == 0


def test_facts_that_cannot_be_read_hide_neither_call_nor_fault(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(opened.world, "borrowing", lambda *_: {"stock": object()})
        action = lend_last(opened.console)
        assert "Call borrow_book with" in action.summary
        assert "could not be composed" in action.summary
    since = since_shown(opened.console, action)
    assert (since.changed, since.fault, since.unread) == ((), "", "ArgumentsRefused")


# Ending a turn, and closing.


def test_a_rejection_can_end_the_turn_without_the_model(console: Console) -> None:
    turn = f"{mail('a')}\n{call('s', 'search_mail', text='rent')}\n/then\n/say noted"
    ask(console, turn, thread_id=THREAD)
    decide(console, THREAD, REJECT, end_turn=True)
    assert states(console) == {"a": ActionState.REJECTED, "s": ActionState.WITHDRAWN}
    assert last_words(console) == tool_messages.ended_answer(["no"])
    assert results(console) == {"a": tool_messages.rejected("no"), "s": tool_messages.FAILED_TURN}
    assert console.queries.view(THREAD).thread.status is Status.IDLE
    last = console.queries.view(THREAD).last_review
    assert last is not None
    assert last.outcome == "reject, and the turn ended"


def test_the_thread_goes_on_after_a_turn_that_was_ended(console: Console) -> None:
    ask(console, mail("a"), thread_id=THREAD)
    decide(console, THREAD, REJECT, end_turn=True)
    ask(console, "/say hello again", thread_id=THREAD)
    assert last_words(console) == "hello again"


def test_a_turn_in_which_something_is_approved_cannot_be_ended_so(console: Console) -> None:
    ask(console, f"{mail('a')}\n{mail('b')}", thread_id=THREAD)
    with pytest.raises(InvalidDecision, match="only where every action is rejected"):
        start_deciding(console, THREAD, [REJECT, APPROVE], by="ana", end_turn=True)
    assert set(states(console).values()) == {ActionState.PENDING}


def test_what_was_closed_is_asked_again_exactly_and_without_the_model(console: Console) -> None:
    ask(console, f"{mail('a')}\n/then\n/say noted", thread_id=THREAD)
    closed = waiting(console, THREAD).actions[0]
    assert console.wait(console.close(THREAD, by="ana"), 30)
    assert console.queries.may_ask_again(THREAD)

    assert console.wait(console.ask_again(THREAD, by="ben"), 30)
    (again,) = waiting(console, THREAD).actions
    assert (again.tool, again.args, again.summary) == (closed.tool, closed.args, closed.summary)
    assert again.key.tool_call_id != "a"
    assert [(m.type, m.content) for m in console.queries.history(THREAD)[-2:]] == [
        ("human", tool_messages.ASK_ME_AGAIN),
        ("ai", ""),
    ]
    decide(console, THREAD, APPROVE, by="ben")
    assert console.queries.actions(THREAD)[-1].state is ActionState.DONE


def test_what_was_asked_again_is_not_asked_once_more(console: Console) -> None:
    ask(console, mail("a"), thread_id=THREAD)
    assert console.wait(console.close(THREAD, by="ana"), 30)
    assert console.wait(console.ask_again(THREAD, by="ana"), 30)
    decide(console, THREAD, REJECT)
    assert not console.queries.may_ask_again(THREAD)
    with pytest.raises(NothingToAskAgain):
        console.ask_again(THREAD, by="ana")


def test_what_was_rejected_is_not_open_and_not_asked_again(console: Console) -> None:
    ask(console, mail("a"), thread_id=THREAD)
    decide(console, THREAD, REJECT)
    with pytest.raises(NothingToAskAgain):
        console.ask_again(THREAD, by="ana")
    assert len(console.queries.actions(THREAD)) == 1


# The same call again.


def again_and_again(times: int, *more: str) -> str:
    """A model that proposes the same e-mail whatever it is told, each time written a little differently."""
    args = [
        '{"to": "a@x.org", "subject": "s", "body": "b"}',
        '{ "body": "b", "subject": "s", "to": "a@x.org" }',
    ]
    return "\n/then\n".join([*(f"/call#c{n} send_email {args[n % 2]}" for n in range(times)), *more])


def test_a_call_that_comes_back_after_a_rejection_is_marked(console: Console) -> None:
    ask(console, again_and_again(3), thread_id=THREAD)
    found = []
    for _ in range(3):
        (action,) = waiting(console, THREAD).actions
        found.append(action.notes.get("rejected_before"))
        decide(console, THREAD, REJECT)
    assert found == [None, 1, 2]


def test_after_three_rejections_the_turn_ends_and_says_why(console: Console) -> None:
    ask(console, again_and_again(MOST_REJECTIONS + 1, "/say never said"), thread_id=THREAD)
    for _ in range(MOST_REJECTIONS):
        decide(console, THREAD, REJECT)
    assert console.queries.view(THREAD).thread.status is Status.IDLE
    assert list(states(console).values()) == [ActionState.REJECTED] * 3 + [ActionState.REFUSED]
    assert results(console)["c3"] == tool_messages.repeated("send_email", 3)
    assert last_words(console) == tool_messages.REPEATED_ANSWER.format(times=3)


def test_a_new_message_may_ask_for_what_was_rejected(console: Console) -> None:
    ask(console, again_and_again(MOST_REJECTIONS + 1), thread_id=THREAD)
    for _ in range(MOST_REJECTIONS):
        decide(console, THREAD, REJECT)
    ask(console, mail("later"), thread_id=THREAD)
    (action,) = waiting(console, THREAD).actions
    assert "rejected_before" not in action.notes


def test_other_calls_of_the_tool_are_not_taken_for_the_same(console: Console) -> None:
    turn = "\n/then\n".join(mail(f"c{n}", to=f"a{n}@x.org") for n in range(MOST_REJECTIONS + 2))
    ask(console, turn, thread_id=THREAD)
    for _ in range(MOST_REJECTIONS + 2):
        decide(console, THREAD, REJECT)
    assert set(states(console).values()) == {ActionState.REJECTED}


# A tool's own clocks.


def test_a_review_closes_by_its_tools_own_clock_with_no_page_open(console: Console, clock: SetClock) -> None:
    lend_last(console)
    clock.move(seconds=(TO_APPROVE - timedelta(seconds=1)).total_seconds())
    console.expire()
    assert states(console) == {"a": ActionState.PENDING}
    clock.move(seconds=1)
    until(lambda: console.queries.view(THREAD).thread.status is Status.IDLE)
    assert states(console) == {"a": ActionState.EXPIRED}
    assert results(console) == {"a": tool_messages.EXPIRED}


def test_an_approval_lapses_by_its_tools_own_clock(
    opened: Opened, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = opened.console
    lend_last(console)
    with monkeypatch.context() as late:
        late.setattr(
            opened.supervisor,
            "start",
            lambda run, after=None: clock.move(seconds=TO_LEND.total_seconds() + 1),
        )
        run = start_deciding(console, THREAD, [APPROVE], by="ana")
    opened.supervisor.start(run)
    assert console.wait(run, 30)
    assert states(console) == {"a": ActionState.LAPSED}
    assert results(console) == {"a": tool_messages.LAPSED}
    assert opened.world.changes() == ()


# The policy on record.


def test_the_policy_is_on_record_before_the_first_run_under_it_and_only_then(console: Console) -> None:
    ask(console, mail("a"), thread_id=THREAD)
    decide(console, THREAD, APPROVE)
    (event,) = console.trail.events(kind=EventKind.POLICY_CHANGED)
    (proposal,) = console.trail.events(kind=EventKind.ACTION_PROPOSED)
    assert event.seq < proposal.seq
    assert event.agent == "mail"
    data = event.data or {}
    assert (data["version"], data["before"]) == (console.queries.actions(THREAD)[0].policy_version, None)
    assert data["policy"]["send_email"]["tier"] == "ask"


def test_a_policy_that_changed_is_on_record_with_the_one_before_it(
    settings: Settings, clock: SetClock
) -> None:
    for span in (timedelta(hours=24), timedelta(hours=1), timedelta(hours=1)):
        opened = open_console(settings.model_copy(update={"review_approve_by": span}), clock=clock)
        ask(opened.console, "/say hi", agent="library")
        found = opened.console.trail.events(kind=EventKind.POLICY_CHANGED)
        opened.close()
    first, second = (event.data or {} for event in found)
    assert second["before"] == first["version"] != second["version"]
