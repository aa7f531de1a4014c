"""When nobody decides in time: the model is told and called once more, and an unattended turn comes to rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agent.bootstrap import Opened, open_console
from agent.console import Console
from agent.review import tool_messages
from agent.review.actions import Action, ActionState
from agent.review.events import EventKind
from agent.review.repeats import EXPIRED_BEFORE
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import SetClock, ask, decide, waiting
from tests.console import expiring_agents

THREAD = "t-1"
APPROVE = {"type": "approve"}
REJECT = {"type": "reject", "message": "no"}
THEN = "\n/then\n"


def call(name: str, tool: str, **args: Any) -> str:
    return f"/call#{name} {tool} {json.dumps(args)}"


def mail(name: str, to: str = "a@x.org") -> str:
    return call(name, "send_email", to=to, subject="s", body="b")


def states(console: Console) -> dict[str, ActionState]:
    return {action.key.tool_call_id: action.state for action in console.queries.actions(THREAD)}


def last_words(console: Console) -> str:
    return console.queries.history(THREAD)[-1].content


def replies(console: Console) -> int:
    return sum(message.type == "ai" for message in console.queries.history(THREAD))


def pass_a_day(console: Console, clock: SetClock) -> None:
    """Let every review's time pass, and the run come to its end that this starts."""
    clock.move(hours=25)
    console.expire()
    run = console.queries.current_run(THREAD)
    assert run is None or console.wait(run, 30)


def action_of(console: Console, call_id: str) -> Action:
    found = console.queries.action(THREAD, call_id)
    assert found is not None
    return found


def test_the_model_is_told_and_called_once_more(console: Console, clock: SetClock) -> None:
    ask(console, f"{mail('a')}{THEN}/say noted", thread_id=THREAD)
    pass_a_day(console, clock)
    assert states(console) == {"a": ActionState.EXPIRED}
    result, answer = console.queries.history(THREAD)[-2:]
    assert (result.status, result.content) == ("error", tool_messages.EXPIRED)
    assert answer.content == "noted"
    assert console.queries.view(THREAD).thread.status is Status.IDLE


def test_the_free_calls_of_the_turn_run(opened: Opened, clock: SetClock) -> None:
    free = f"{call('s', 'search_mail', text='rent')}\n{call('l', 'archive_mail', message_id='m-1')}"
    ask(opened.console, f"{free}\n{mail('a')}", thread_id=THREAD)
    pass_a_day(opened.console, clock)
    assert states(opened.console) == {
        "s": ActionState.DONE,
        "l": ActionState.DONE,
        "a": ActionState.EXPIRED,
    }
    assert [one.kind for one in opened.world.changes(THREAD)] == ["mail_archived"]


def test_every_undecided_action_of_the_review_expires(console: Console, clock: SetClock) -> None:
    ask(console, f"{mail('a')}\n{mail('b', 'b@x.org')}", thread_id=THREAD)
    pass_a_day(console, clock)
    assert states(console) == {"a": ActionState.EXPIRED, "b": ActionState.EXPIRED}


def test_a_second_expiry_in_a_row_ends_the_turn_without_the_model(console: Console, clock: SetClock) -> None:
    ask(console, f"{mail('a')}{THEN}{mail('b')}{THEN}/say not reached", thread_id=THREAD)
    pass_a_day(console, clock)
    assert states(console) == {"a": ActionState.EXPIRED, "b": ActionState.PENDING}
    pass_a_day(console, clock)
    assert states(console) == {"a": ActionState.EXPIRED, "b": ActionState.EXPIRED}
    assert last_words(console) == tool_messages.EXPIRED_ANSWER
    assert replies(console) == 3  # two proposals, and the console's own closing answer
    ask(console, "/say still here", thread_id=THREAD)
    assert last_words(console) == "still here"


def test_a_decision_between_two_expiries_lets_the_model_be_called_again(
    console: Console, clock: SetClock
) -> None:
    turn = THEN.join([mail("a"), mail("b", "b@x.org"), mail("c"), "/say the end"])
    ask(console, turn, thread_id=THREAD)
    pass_a_day(console, clock)
    decide(console, THREAD, REJECT)
    pass_a_day(console, clock)
    assert states(console)["c"] is ActionState.EXPIRED
    assert last_words(console) == "the end"


def test_a_message_after_an_expiry_lets_the_model_be_called_again(console: Console, clock: SetClock) -> None:
    ask(console, mail("a"), thread_id=THREAD)
    pass_a_day(console, clock)
    ask(console, f"{mail('b')}{THEN}/say noted", thread_id=THREAD)
    pass_a_day(console, clock)
    assert last_words(console) == "noted"


@pytest.fixture(params=["for_every_tool", "for_one_tool"])
def ending(request: pytest.FixtureRequest, settings: Settings, clock: SetClock) -> Iterator[Opened]:
    """The console over a mail agent whose policy ends the turn."""
    agents = settings.review_data.parent / "langgraph.json"
    expiring_agents.serve(agents, request.param)
    opened = open_console(settings.model_copy(update={"review_agents": agents}), clock=clock)
    yield opened
    opened.close()


def test_a_policy_may_end_the_turn_at_once(ending: Opened, clock: SetClock) -> None:
    console = ending.console
    free = call("s", "search_mail", text="rent")
    ask(console, f"{free}\n{mail('a')}{THEN}/say not reached", thread_id=THREAD)
    pass_a_day(console, clock)
    assert states(console) == {"s": ActionState.WITHDRAWN, "a": ActionState.EXPIRED}
    assert last_words(console) == tool_messages.EXPIRED_ANSWER


def test_what_a_policy_ended_can_be_asked_again(ending: Opened, clock: SetClock) -> None:
    console = ending.console
    ask(console, mail("a"), thread_id=THREAD)
    pass_a_day(console, clock)
    assert console.queries.may_ask_again(THREAD)
    assert console.wait(console.ask_again(THREAD, by="ben"), 30)
    (again,) = waiting(console, THREAD).actions
    assert again.args == action_of(console, "a").args
    said = [message.content for message in console.queries.history(THREAD) if message.type == "human"]
    assert said[-1] == tool_messages.ASK_ME_AGAIN_LATE
    decide(console, THREAD, APPROVE, by="ben")
    assert [one.recipient for one in ending.world.outbox()] == ["a@x.org"]


def test_what_expired_can_be_asked_again_after_the_models_answer(opened: Opened, clock: SetClock) -> None:
    console = opened.console
    ask(console, f"{mail('a')}{THEN}/say noted", thread_id=THREAD)
    pass_a_day(console, clock)
    assert console.wait(console.ask_again(THREAD, by="ben"), 30)
    decide(console, THREAD, APPROVE, by="ben")
    assert [one.recipient for one in opened.world.outbox()] == ["a@x.org"]
    assert not console.queries.may_ask_again(THREAD)


def test_the_next_proposal_of_the_same_call_names_the_one_that_expired(
    console: Console, clock: SetClock
) -> None:
    ask(console, f"{mail('a')}{THEN}{mail('other', 'b@x.org')}\n{mail('again')}", thread_id=THREAD)
    pass_a_day(console, clock)
    expired = action_of(console, "a")
    linked = {
        "message_id": expired.key.message_id,
        "tool_call_id": "a",
        "attempt": 1,
        "expired_at": expired.ended_at,
    }
    assert action_of(console, "again").notes[EXPIRED_BEFORE] == linked
    assert EXPIRED_BEFORE not in action_of(console, "other").notes
    (*_, proposed) = console.trail.events(thread_id=THREAD, kind=EventKind.ACTION_PROPOSED)
    assert (proposed.data or {})["notes"][EXPIRED_BEFORE] == linked


def test_a_call_that_was_decided_since_it_expired_names_it_no_more(console: Console, clock: SetClock) -> None:
    ask(console, THEN.join([mail("a"), mail("b"), mail("c")]), thread_id=THREAD)
    pass_a_day(console, clock)
    decide(console, THREAD, REJECT)
    assert EXPIRED_BEFORE in action_of(console, "b").notes
    assert EXPIRED_BEFORE not in action_of(console, "c").notes


def test_nothing_is_expired_while_everything_is_stopped(console: Console, clock: SetClock) -> None:
    ask(console, f"{mail('a')}{THEN}/say noted", thread_id=THREAD)
    console.stop_all(by="ana")
    pass_a_day(console, clock)
    assert states(console) == {"a": ActionState.PENDING}
    console.release(by="ana")
    pass_a_day(console, clock)
    assert last_words(console) == "noted"
