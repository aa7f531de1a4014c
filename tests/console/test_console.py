"""The use cases: what each refuses, in which order, what it leaves as it was, and who wins a race."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from agent.bootstrap import Opened
from agent.console import Console
from agent.ledger.sqlite import SqliteLedger
from agent.review import tool_messages
from agent.review.actions import ActionState
from agent.review.errors import (
    AlreadyDecided,
    InvalidDecision,
    InvalidMessage,
    NoPendingReview,
    NothingToRetry,
    NothingToSettle,
    NothingToStop,
    OtherThread,
    OutcomeUnknown,
    ReviewChanged,
    ReviewError,
    ReviewExpired,
    ReviewPending,
    ThreadBusy,
    ThreadStuck,
    UnknownAgent,
    UnknownModel,
    UnknownThread,
)
from agent.review.events import EventKind
from agent.review.threads import Status
from tests.conftest import SetClock, ask, decide, start_deciding, until, waiting

THREAD = "t-1"
APPROVE = {"type": "approve"}
REJECT = {"type": "reject", "message": "no"}
RACERS = 16
ROUNDS = 30


def call(name: str, tool: str, **args: Any) -> str:
    return f"/call#{name} {tool} {json.dumps(args)}"


def mail(name: str = "a", to: str = "a@x.org") -> str:
    return call(name, "send_email", to=to, subject="s", body="b")


def status(console: Console) -> Status:
    return console.queries.view(THREAD).thread.status


def states(console: Console) -> dict[str, ActionState]:
    return {action.key.tool_call_id: action.state for action in console.queries.actions(THREAD)}


def results(console: Console) -> dict[str | None, str]:
    return {m.tool_call_id: m.content for m in console.queries.history(THREAD) if m.type == "tool"}


def kinds(console: Console) -> list[EventKind]:
    return [event.kind for event in console.trail.events(thread_id=THREAD, limit=1_000)]


def picture(console: Console) -> Any:
    """All of a thread that a refused attempt must leave as it is: everything but the note of the refusal."""
    told = [
        e
        for e in console.trail.events(thread_id=THREAD, limit=1_000)
        if e.kind is not EventKind.DECISION_REFUSED
    ]
    view = console.queries.view(THREAD)
    return view.thread, view.reviews, console.queries.history(THREAD), console.queries.actions(THREAD), told


def refused(console: Console, error: type[ReviewError], attempt: Callable[[], Any]) -> ReviewError:
    """The error an attempt is refused with, after which everything stands as before."""
    before = picture(console)
    with pytest.raises(error) as found:
        attempt()
    assert picture(console) == before
    return found.value


def make_unknown(opened: Opened, monkeypatch: pytest.MonkeyPatch, *calls: str) -> None:
    """A turn whose first approved mail is cut off in the middle, as a death would."""

    def cut(tool: str) -> None:
        with opened.console._ledger.write() as tx:
            (action,) = tx.actions(THREAD, states=[ActionState.EXECUTING])
            tx.move(action.key, ActionState.EXECUTING, ActionState.UNKNOWN)

    with monkeypatch.context() as cutting:
        moved = opened.supervisor.tool_moved

        def tool_moved(run_id: str, tool: str, what: str) -> None:
            moved(run_id, tool, what)
            if what == "started" and tool == "send_email":
                cut(tool)

        cutting.setattr(opened.supervisor, "tool_moved", tool_moved)
        ask(opened.console, "\n".join(calls or [mail()]), thread_id=THREAD)
        count = len(waiting(opened.console, THREAD).actions)
        decide(opened.console, THREAD, *[APPROVE] * count)
    assert status(opened.console) is Status.UNKNOWN_OUTCOME


class Busy:
    """A thread whose model takes its time, until the test is over."""

    def __init__(self, console: Console) -> None:
        self.run = console.send("/slow 600", by="ana", thread_id=THREAD)
        until(lambda: console.queries.view(THREAD).progress)


# Sending.


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "x" * 100_001, "\ud800", None, 3],
    ids=["empty", "blank", "long", "half", "none", "number"],
)
def test_what_is_no_message_is_refused_and_starts_no_thread(console: Console, text: Any) -> None:
    with pytest.raises(InvalidMessage):
        console.send(text, by="ana")
    assert console.queries.threads() == []


@pytest.mark.parametrize("thread_id", ["a b", "ä", "x" * 129, "a/b", "a\n"])
def test_what_is_no_thread_id_is_refused(console: Console, thread_id: str) -> None:
    with pytest.raises(InvalidMessage):
        console.send("/say hi", by="ana", thread_id=thread_id)


def test_an_unknown_agent_starts_no_thread(console: Console) -> None:
    with pytest.raises(UnknownAgent, match="mail"):
        console.send("/say hi", by="ana", thread_id=THREAD, agent="nobody")
    with pytest.raises(UnknownThread):
        console.queries.view(THREAD)


def test_an_unknown_model_starts_no_thread(console: Console) -> None:
    with pytest.raises(UnknownModel, match="demo"):
        console.send("/say hi", by="ana", thread_id=THREAD, model="huge")
    with pytest.raises(UnknownThread):
        console.queries.view(THREAD)


def test_a_message_during_a_review_is_refused(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    refused(console, ReviewPending, lambda: console.send("/say hi", by="bob", thread_id=THREAD))


def test_a_message_during_a_run_is_refused(console: Console) -> None:
    Busy(console)
    refused(console, ThreadBusy, lambda: console.send("/say hi", by="bob", thread_id=THREAD))


def test_a_message_over_an_unknown_outcome_is_refused(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_unknown(opened, monkeypatch)
    refused(opened.console, OutcomeUnknown, lambda: opened.console.send("/say", by="b", thread_id=THREAD))


# Deciding: each fault, in the documented order.


def test_a_decision_on_no_thread_is_refused_and_starts_none(console: Console) -> None:
    with pytest.raises(NoPendingReview, match="There is no such thread"):
        console.decide(THREAD, [APPROVE], by="ana")
    with pytest.raises(NoPendingReview, match="There is no such thread"):
        console.preview(THREAD, [APPROVE])
    assert console.queries.threads() == []
    assert kinds(console) == []


def test_a_decision_during_a_run_is_refused(console: Console) -> None:
    Busy(console)
    refused(console, ThreadBusy, lambda: console.decide(THREAD, "nonsense", by="ana", review_id="none"))


def test_a_decision_over_an_unknown_outcome_is_refused(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_unknown(opened, monkeypatch)
    attempt = lambda: opened.console.decide(THREAD, "nonsense", by="ana", review_id="none")  # noqa: E731
    refused(opened.console, OutcomeUnknown, attempt)


def test_a_decision_on_a_stuck_thread_is_refused(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    with console._ledger.write() as tx:
        tx.set_thread(THREAD, Status.STUCK, "2030-01-01T12:00:00.000000Z")
    refused(console, ThreadStuck, lambda: start_deciding(console, THREAD, [APPROVE], by="ana"))


def test_a_decision_on_a_review_of_another_thread_is_refused(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    ask(console, mail(), thread_id="other")
    other = waiting(console, "other").review_id
    error = refused(
        console, ReviewChanged, lambda: console.decide(THREAD, "nonsense", by="ana", review_id=other)
    )
    assert isinstance(error, ReviewChanged)
    assert error.review == waiting(console, THREAD)


def test_a_view_is_of_one_instant_whatever_is_decided_while_it_is_read(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(console, mail(), thread_id=THREAD)
    read, closed = SqliteLedger.open_reviews, iter([True])

    def meanwhile(ledger: SqliteLedger, thread_id: str) -> Any:
        if next(closed, False):
            assert console.wait(console.close(THREAD, by="ana"), 30)
        return read(ledger, thread_id)

    monkeypatch.setattr(SqliteLedger, "open_reviews", meanwhile)
    view = console.queries.view(THREAD)
    assert (view.thread.status, view.reviews) == (Status.IDLE, ())


def test_a_second_decision_is_told_who_decided_what_and_when(console: Console, clock: SetClock) -> None:
    ask(console, mail(), thread_id=THREAD)
    review_id = waiting(console, THREAD).review_id
    decide(console, THREAD, REJECT, by="bob")
    clock.move(minutes=5)
    error = refused(
        console, AlreadyDecided, lambda: console.decide(THREAD, "nonsense", by="ana", review_id=review_id)
    )
    assert isinstance(error, AlreadyDecided)
    assert (error.by, error.what, error.at) == ("bob", "reject", "2030-01-01T12:00:00.000000Z")


def test_a_decision_on_a_closed_review_is_told_who_closed_it(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    review_id = waiting(console, THREAD).review_id
    assert console.wait(console.close(THREAD, by="bob"), 30)
    error = refused(
        console, AlreadyDecided, lambda: console.decide(THREAD, [APPROVE], by="ana", review_id=review_id)
    )
    assert "bob" in str(error)


def test_a_decision_on_an_expired_review_is_refused(console: Console, clock: SetClock) -> None:
    ask(console, mail(), thread_id=THREAD)
    review_id = waiting(console, THREAD).review_id
    clock.move(hours=25)
    until(lambda: status(console) is Status.IDLE)
    refused(console, ReviewExpired, lambda: console.decide(THREAD, [APPROVE], by="ana", review_id=review_id))


def test_a_decision_after_the_time_is_refused_before_anybody_has_swept(
    opened: Opened, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened.supervisor, "_sweeps", [])
    ask(opened.console, mail(), thread_id=THREAD)
    clock.move(hours=25)
    refused(
        opened.console, ReviewExpired, lambda: start_deciding(opened.console, THREAD, [APPROVE], by="ana")
    )


def test_a_decision_where_nothing_waits_is_told_what_became_of_the_last(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    decide(console, THREAD, REJECT, by="bob")
    error = refused(console, NoPendingReview, lambda: start_deciding(console, THREAD, "nonsense", by="ana"))
    assert "bob" in str(error)


def test_a_decision_that_cannot_be_taken_leaves_the_review_waiting(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    refused(
        console, InvalidDecision, lambda: start_deciding(console, THREAD, [{"type": "respond"}], by="ana")
    )
    decide(console, THREAD, APPROVE)
    assert states(console) == {"a": ActionState.DONE}


def test_one_bad_decision_among_good_ones_takes_none_of_them(console: Console) -> None:
    ask(console, f"{mail('a')}\n{mail('b')}", thread_id=THREAD)
    refused(
        console, InvalidDecision, lambda: start_deciding(console, THREAD, [APPROVE, {"type": "no"}], by="ana")
    )


def test_a_stale_digest_among_good_ones_takes_none_of_them(console: Console) -> None:
    ask(console, f"{mail('a')}\n{mail('b')}", thread_id=THREAD)
    stale = {**APPROVE, "shown_digest": "stale"}
    refused(console, ReviewChanged, lambda: start_deciding(console, THREAD, [APPROVE, stale], by="ana"))


@pytest.mark.parametrize("review_id", ["gone", None])
def test_an_attempt_that_came_too_late_is_on_record(console: Console, review_id: str | None) -> None:
    ask(console, mail(), thread_id=THREAD)
    stale = [{**APPROVE, "shown_digest": "stale"}]
    with pytest.raises(ReviewChanged):
        console.decide(THREAD, stale, by="eve", review_id=review_id)
    (event,) = console.trail.events(thread_id=THREAD, kind=EventKind.DECISION_REFUSED)
    assert (event.by, event.data["code"]) == ("eve", "ReviewChanged")  # type: ignore[index]


def test_a_preview_changes_nothing(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    before = picture(console)
    console.preview(THREAD, [APPROVE])
    assert picture(console) == before


def test_a_preview_refuses_what_the_decision_would(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    refused(console, InvalidDecision, lambda: console.preview(THREAD, [APPROVE, APPROVE]))


def test_an_edit_previewed_and_confirmed_runs_as_confirmed(opened: Opened) -> None:
    ask(opened.console, mail(), thread_id=THREAD)
    args = {"to": "z@x.org", "subject": "s", "body": "b"}
    edit = {"type": "edit", "edited_action": {"name": "send_email", "args": args}}
    (preview,) = opened.console.preview(THREAD, [edit])
    decide(opened.console, THREAD, {**edit, "edited_digest": preview.after.shown_digest})
    assert [sent.recipient for sent in opened.world.outbox()] == ["z@x.org"]


def test_the_time_to_decide_is_counted_from_the_first_look(console: Console, clock: SetClock) -> None:
    ask(console, mail(), thread_id=THREAD)
    review_id = waiting(console, THREAD).review_id
    console.given.shown(review_id, to="ana")
    clock.move(seconds=40)
    console.given.shown(review_id, to="ana")
    clock.move(seconds=2)
    decide(console, THREAD, REJECT)
    (event,) = console.trail.events(thread_id=THREAD, kind=EventKind.DECISION_MADE)
    assert event.data["seconds_to_decide"] == 42.0  # type: ignore[index]


def test_without_a_look_there_is_no_time_to_decide(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    console.given.shown(waiting(console, THREAD).review_id, to="bob")
    decide(console, THREAD, REJECT, by="ana")
    (event,) = console.trail.events(thread_id=THREAD, kind=EventKind.DECISION_MADE)
    assert event.data["seconds_to_decide"] is None  # type: ignore[index]


def test_an_approval_lapses_when_it_is_not_carried_out_in_time(
    opened: Opened, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(opened.console, mail(), thread_id=THREAD)
    with monkeypatch.context() as late:
        late.setattr(opened.supervisor, "start", lambda run, after: clock.move(hours=2))
        run = start_deciding(opened.console, THREAD, [APPROVE], by="ana")
    opened.supervisor.start(run)
    assert opened.console.wait(run, 30)
    assert states(opened.console) == {"a": ActionState.LAPSED}
    assert opened.world.outbox() == ()


# Closing and expiry.


def test_closing_where_nothing_waits_is_refused(console: Console) -> None:
    ask(console, "/say hi", thread_id=THREAD)
    refused(console, NoPendingReview, lambda: console.close(THREAD, by="ana"))


def test_closing_during_a_run_is_refused(console: Console) -> None:
    Busy(console)
    refused(console, ThreadBusy, lambda: console.close(THREAD, by="ana"))


def test_a_closed_review_is_no_rejection(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    assert console.wait(console.close(THREAD, by="ana", reason="not now"), 30)
    assert states(console) == {"a": ActionState.CANCELLED}
    assert results(console) == {"a": tool_messages.CANCELLED}


def test_the_free_calls_of_a_closed_turn_still_run(console: Console) -> None:
    ask(console, f"{mail()}\n{call('s', 'search_mail', text='rent')}", thread_id=THREAD)
    assert console.wait(console.close(THREAD, by="ana"), 30)
    assert states(console) == {"a": ActionState.CANCELLED, "s": ActionState.DONE}


def test_the_model_goes_on_after_a_close(console: Console) -> None:
    ask(console, f"{mail()}\n/then\n/say noted", thread_id=THREAD)
    assert console.wait(console.close(THREAD, by="ana"), 30)
    assert console.queries.history(THREAD)[-1].content == "noted"


def test_a_clock_set_back_revives_nothing(console: Console, clock: SetClock) -> None:
    ask(console, mail(), thread_id=THREAD)
    clock.move(hours=25)
    until(lambda: status(console) is Status.IDLE)
    clock.move(hours=-25)
    refused(console, NoPendingReview, lambda: start_deciding(console, THREAD, [APPROVE], by="ana"))


# Settling.


def test_settling_what_is_known_is_refused(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    refused(console, NothingToSettle, lambda: console.settle(THREAD, "a", "happened", by="ana"))


def test_settling_an_action_that_is_not_there_is_refused(console: Console) -> None:
    ask(console, "/say hi", thread_id=THREAD)
    refused(console, NothingToSettle, lambda: console.settle(THREAD, "nope", "failed", by="ana"))


def test_settling_with_words_that_are_no_text_is_refused(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_unknown(opened, monkeypatch)
    attempt = lambda: opened.console.settle(THREAD, "a", "happened", by="a", result="\ud800")  # noqa: E731
    refused(opened.console, InvalidMessage, attempt)


@pytest.mark.parametrize(
    ("outcome", "state", "words"),
    [("happened", ActionState.DONE, "it arrived"), ("failed", ActionState.FAILED, "no such address")],
)
def test_a_settled_action_gives_the_model_the_persons_words(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, outcome: Any, state: ActionState, words: str
) -> None:
    make_unknown(opened, monkeypatch)
    run = opened.console.settle(THREAD, "a", outcome, by="ana", result=words)
    assert run
    assert opened.console.wait(run, 30)
    assert states(opened.console) == {"a": state}
    assert words in results(opened.console)["a"]


def test_the_siblings_of_an_unknown_action_run_once_it_is_settled(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_unknown(opened, monkeypatch, mail("a"), mail("b", "b@x.org"))
    assert states(opened.console) == {"a": ActionState.UNKNOWN, "b": ActionState.APPROVED}
    run = opened.console.settle(THREAD, "a", "happened", by="ana")
    assert run
    assert opened.console.wait(run, 30)
    assert states(opened.console) == {"a": ActionState.DONE, "b": ActionState.DONE}


def test_an_action_asked_about_again_is_the_next_attempt(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_unknown(opened, monkeypatch, mail("a"), mail("b", "b@x.org"))
    run = opened.console.settle(THREAD, "a", "ask_again", by="ana")
    assert run
    assert opened.console.wait(run, 30)
    assert [(a.key.tool_call_id, a.key.attempt) for a in waiting(opened.console, THREAD).actions] == [
        ("a", 2)
    ]


def test_an_action_asked_about_again_runs_with_its_siblings_once_approved(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_unknown(opened, monkeypatch, mail("a"), mail("b", "b@x.org"))
    before = len(opened.world.outbox())
    run = opened.console.settle(THREAD, "a", "ask_again", by="ana")
    assert run
    assert opened.console.wait(run, 30)
    decide(opened.console, THREAD, APPROVE)
    assert [sent.recipient for sent in opened.world.outbox()[before:]] == ["a@x.org", "b@x.org"]


def test_only_what_is_asked_again_is_asked_after_a_close(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = opened.supervisor.tool_moved

    def cut(run_id: str, tool: str, what: str) -> None:
        moved(run_id, tool, what)
        if (tool, what) == ("archive_mail", "started"):
            with opened.console._ledger.write() as tx:
                (action,) = tx.actions(THREAD, states=[ActionState.EXECUTING])
                tx.move(action.key, ActionState.EXECUTING, ActionState.UNKNOWN)

    ask(opened.console, f"{mail()}\n{call('l', 'archive_mail', message_id='m-1')}", thread_id=THREAD)
    with monkeypatch.context() as cutting:
        cutting.setattr(opened.supervisor, "tool_moved", cut)
        assert opened.console.wait(opened.console.close(THREAD, by="ana"), 30)
    run = opened.console.settle(THREAD, "l", "ask_again", by="ana")
    assert run
    assert opened.console.wait(run, 30)
    decide(opened.console, THREAD, APPROVE)
    (*_, last) = opened.console.queries.actions(THREAD)
    assert (last.key.tool_call_id, last.key.attempt, last.state) == (
        "l",
        2,
        ActionState.FAILED,
    )  # archived already


# Stopping and trying again.


def test_stopping_and_retrying_an_unknown_thread_is_refused(console: Console) -> None:
    with pytest.raises(UnknownThread):
        console.stop(THREAD, by="ana")
    with pytest.raises(UnknownThread):
        console.retry(THREAD, by="ana")


def test_stopping_a_waiting_thread_is_refused(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    refused(console, NothingToStop, lambda: console.stop(THREAD, by="ana"))


def test_retrying_a_waiting_thread_is_refused(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    refused(console, NothingToRetry, lambda: console.retry(THREAD, by="ana"))


# Races.


def is_idle(console: Console, thread_id: str) -> bool:
    return console.queries.view(thread_id).thread.status is Status.IDLE


def race(*attempts: Callable[[], Any]) -> list[Any]:
    """What each attempt gave or raised, all begun at the same moment."""
    barrier = threading.Barrier(len(attempts))
    found: list[Any] = [None] * len(attempts)

    def run(place: int) -> None:
        barrier.wait()
        try:
            found[place] = attempts[place]()
        except ReviewError as error:
            found[place] = error

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(attempts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


def settled(console: Console, found: list[Any]) -> list[Any]:
    """What won, waited for."""
    won = [one for one in found if not isinstance(one, ReviewError)]
    for run in won:
        assert run is None or console.wait(run, 30)
    return won


def test_of_many_who_decide_at_once_one_wins_and_the_action_runs_once(opened: Opened) -> None:
    console = opened.console
    losers: Counter[str] = Counter()
    for number in range(ROUNDS):
        thread_id = f"race-{number}"
        ask(console, mail(to=f"{number}@x.org"), thread_id=thread_id)
        review_id = waiting(console, thread_id).review_id

        def attempt(by: str, thread_id: str = thread_id, review_id: str = review_id) -> Any:
            return console.decide(thread_id, [APPROVE], by=by, review_id=review_id)

        found = race(*(lambda by=f"r{n}", attempt=attempt: attempt(by) for n in range(RACERS)))
        assert len(settled(console, found)) == 1
        losers.update(one.code for one in found if isinstance(one, ReviewError))
        assert len(console.trail.events(thread_id=thread_id, kind=EventKind.DECISION_MADE)) == 1
    assert sorted(sent.recipient for sent in opened.world.outbox()) == sorted(
        f"{n}@x.org" for n in range(ROUNDS)
    )
    assert set(losers) <= {"AlreadyDecided", "ThreadBusy"}
    assert sum(losers.values()) == ROUNDS * (RACERS - 1)
    assert console.trail.verify().ok


def test_whoever_comes_after_the_race_is_told_who_won_it(console: Console) -> None:
    ask(console, mail(), thread_id=THREAD)
    review_id = waiting(console, THREAD).review_id
    attempts = [
        lambda by=f"r{n}": console.decide(THREAD, [REJECT], by=by, review_id=review_id) for n in range(8)
    ]
    (run,) = settled(console, race(*attempts))
    with pytest.raises(AlreadyDecided) as late:
        console.decide(THREAD, [APPROVE], by="late", review_id=review_id)
    assert late.value.by == run.started_by


def test_of_many_messages_at_once_one_is_taken(console: Console) -> None:
    found = race(*(lambda: console.send("/say hi", by="ana", thread_id=THREAD) for _ in range(RACERS)))
    won = settled(console, found)
    humans = [message for message in console.queries.history(THREAD, limit=200) if message.type == "human"]
    assert len(humans) == len(won)
    assert {one.code for one in found if isinstance(one, ReviewError)} <= {"ThreadBusy"}


def test_a_review_is_decided_closed_or_expired_but_only_one_of_them(opened: Opened, clock: SetClock) -> None:
    console = opened.console
    for number in range(ROUNDS):
        thread_id = f"race-{number}"
        ask(console, mail(), thread_id=thread_id)
        review_id = waiting(console, thread_id).review_id

        def expire() -> None:
            clock.move(hours=25)
            console.expire()

        attempts: list[Callable[[], object]] = [
            partial(console.decide, thread_id, [APPROVE], by="ana", review_id=review_id),
            partial(console.close, thread_id, by="bob", review_id=review_id),
            expire,
        ]
        settled(console, race(*attempts))
        until(partial(is_idle, console, thread_id))
        found = [event.kind for event in console.trail.events(thread_id=thread_id, limit=1_000)]
        ends = {EventKind.DECISION_MADE, EventKind.REVIEW_CLOSED, EventKind.REVIEW_EXPIRED}
        assert len([kind for kind in found if kind in ends]) == 1
        assert found.count(EventKind.EXECUTION_STARTED) <= found.count(EventKind.DECISION_MADE)


def test_of_two_who_settle_at_once_one_is_taken(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    make_unknown(opened, monkeypatch)
    found = race(
        lambda: opened.console.settle(THREAD, "a", "happened", by="ana"),
        lambda: opened.console.settle(THREAD, "a", "failed", by="bob"),
    )
    assert len(settled(opened.console, found)) == 1
    assert len(opened.console.trail.events(thread_id=THREAD, kind=EventKind.OUTCOME_SETTLED)) == 1


@pytest.mark.parametrize("other", [{"agent": "operations"}, {"model": "another"}])
def test_a_message_meant_for_another_agent_or_model_is_refused_and_not_stored(
    console: Console, other: dict[str, Any]
) -> None:
    thread_id = ask(console, "/say hello", agent="mail")
    before = console.queries.history_length(thread_id)
    with pytest.raises(OtherThread):
        console.send("go on", by="ana", thread_id=thread_id, **other)
    assert console.queries.history_length(thread_id) == before


def test_an_outcome_that_is_none_of_the_three_is_refused(console: Console) -> None:
    thread_id = ask(console, "/say hello")
    with pytest.raises(InvalidDecision, match="ask_again"):
        console.settle(thread_id, "c", "maybe", by="ana")  # type: ignore[arg-type]
