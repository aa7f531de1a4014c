"""A decision that names no review means what its reviewer was given last, there and through the same face."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from agent.bootstrap import Opened, open_console
from agent.console import Console
from agent.ledger.sqlite import SqliteLedger
from agent.review.errors import InvalidDecision, NoPendingReview, RecordDamaged, ReviewChanged, ReviewError
from agent.review.events import EventKind
from agent.review.given import Face
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import SetClock, ask, decide, waiting

THREAD = "t-1"
APPROVE = {"type": "approve"}
MAIL = '/call#a send_email {"to": "a@x.org", "subject": "s", "body": "b"}'
TWICE = f'{MAIL}\n/then\n/call#b send_email {{"to": "b@x.org", "subject": "s", "body": "b"}}'


def give(console: Console, to: str = "ana", face: Face = "http") -> None:
    console.given.give(console.queries.view(THREAD).reviews, to=to, face=face)


def sent(opened: Opened, decisions: Any = None, by: str = "ana", face: Face = "http") -> list[str]:
    """Decide without naming anything, and give who got an e-mail by then."""
    console = opened.console
    assert console.wait(console.decide(THREAD, decisions or [APPROVE], by=by, face=face), 30)
    return [mail.recipient for mail in opened.world.outbox()]


def refused(console: Console, by: str = "ana", face: Face = "http", decisions: Any = None) -> ReviewError:
    """The error of a decision that names nothing; after it the same review waits as before."""
    before = console.queries.view(THREAD)
    with pytest.raises(ReviewError) as found:
        console.decide(THREAD, decisions or [APPROVE], by=by, face=face)
    assert console.queries.view(THREAD) == before
    return found.value


def test_what_was_given_last_is_what_is_decided(opened: Opened) -> None:
    ask(opened.console, MAIL, thread_id=THREAD)
    give(opened.console)
    assert sent(opened) == ["a@x.org"]


def test_who_was_given_nothing_is_refused_and_gets_the_review(console: Console) -> None:
    ask(console, MAIL, thread_id=THREAD)
    error = refused(console)
    assert isinstance(error, ReviewChanged)
    assert error.review == waiting(console, THREAD)


@pytest.mark.parametrize(
    ("by", "face"), [("bob", "http"), ("ana", "page"), ("ana", "cli"), ("ana", "python")]
)
def test_what_somebody_else_was_given_or_through_another_face_does_not_count(
    console: Console, by: str, face: Face
) -> None:
    ask(console, MAIL, thread_id=THREAD)
    give(console)
    assert isinstance(refused(console, by=by, face=face), ReviewChanged)


def test_another_review_than_the_one_given_is_not_decided(opened: Opened) -> None:
    console = opened.console
    ask(console, TWICE, thread_id=THREAD)
    give(console)
    decide(console, THREAD, APPROVE, by="bob")  # now the second e-mail waits, which ana has not seen
    error = refused(console)
    assert isinstance(error, ReviewChanged)
    assert error.review == waiting(console, THREAD)
    assert [mail.recipient for mail in opened.world.outbox()] == ["a@x.org"]


@pytest.mark.parametrize("named", ["review_id", "shown_digest"])
def test_the_id_or_the_digests_of_the_refusal_decide(opened: Opened, named: str) -> None:
    ask(opened.console, MAIL, thread_id=THREAD)
    error = refused(opened.console)
    assert isinstance(error, ReviewChanged)
    decision = {**APPROVE, "shown_digest": error.review.actions[0].shown_digest}
    more = {"review_id": error.review.review_id} if named == "review_id" else {}
    run = opened.console.decide(THREAD, [APPROVE if more else decision], by="ana", face="http", **more)
    assert opened.console.wait(run, 30)
    assert [mail.recipient for mail in opened.world.outbox()] == ["a@x.org"]


def test_a_refusal_gives_nothing_so_that_trying_again_decides_nothing_either(console: Console) -> None:
    ask(console, MAIL, thread_id=THREAD)
    assert [type(refused(console)) for _ in range(3)] == [ReviewChanged] * 3


def test_a_digest_for_one_of_two_actions_names_no_review(console: Console) -> None:
    ask(console, MAIL + "\n" + MAIL.replace("#a", "#b"), thread_id=THREAD)
    first = waiting(console, THREAD).actions[0].shown_digest
    error = refused(console, decisions=[{**APPROVE, "shown_digest": first}, APPROVE])
    assert isinstance(error, ReviewChanged)


def test_a_decision_that_cannot_be_taken_is_refused_for_that_before_it_is_asked_what_was_given(
    console: Console,
) -> None:
    ask(console, MAIL, thread_id=THREAD)
    assert isinstance(refused(console, decisions=[APPROVE, APPROVE]), InvalidDecision)
    assert isinstance(refused(console, decisions=[{"type": "respond", "message": "x"}]), InvalidDecision)


def test_a_preview_gives_its_review(opened: Opened) -> None:
    ask(opened.console, MAIL, thread_id=THREAD)
    opened.console.preview(THREAD, [APPROVE], to="ana", face="http")
    assert sent(opened) == ["a@x.org"]


def test_the_queue_gives_each_review_on_its_thread(opened: Opened) -> None:
    console = opened.console
    ask(console, MAIL, thread_id=THREAD)
    ask(console, MAIL.replace("a@x.org", "other@x.org"), thread_id="other")
    console.given.give(console.queries.queue(), to="ana", face="http")
    assert sent(opened) == ["a@x.org"]


def test_a_card_gives_its_review_to_the_page(opened: Opened) -> None:
    ask(opened.console, MAIL, thread_id=THREAD)
    opened.console.given.shown(waiting(opened.console, THREAD).review_id, to="ana")
    assert sent(opened, face="page") == ["a@x.org"]


def test_what_was_given_survives_a_restart_and_counts_in_another_process(
    settings: Settings, clock: SetClock
) -> None:
    first = open_console(settings, clock=clock)
    ask(first.console, MAIL, thread_id=THREAD)
    give(first.console)
    first.close()
    second = open_console(settings, clock=clock)
    try:
        assert sent(second) == ["a@x.org"]
    finally:
        second.close()


@pytest.mark.parametrize("through", ["answer", "page"])
def test_giving_the_same_again_writes_nothing_and_is_never_an_event(
    opened: Opened, settings: Settings, through: str
) -> None:
    console = opened.console
    ask(console, MAIL, thread_id=THREAD)
    review_id = waiting(console, THREAD).review_id
    events = len(console.trail.events(limit=1_000)) + (through == "page")  # the first look is one
    with closing(sqlite3.connect(settings.review_data / "ledger.sqlite")) as conn:
        version = "PRAGMA data_version"
        seen = [conn.execute(version).fetchone()]
        for _ in range(3):
            give(console) if through == "answer" else console.given.shown(review_id, to="ana")
            seen.append(conn.execute(version).fetchone())
    assert seen[0] != seen[1] == seen[2] == seen[3]
    assert len(console.trail.events(limit=1_000)) == events


def test_an_answer_is_given_though_the_note_of_it_cannot_be_written(
    opened: Opened, settings: Settings
) -> None:
    console = opened.console
    ask(console, MAIL, thread_id=THREAD)
    ledger = console._ledger
    assert isinstance(ledger, SqliteLedger)
    ledger._busy_ms = 10
    with ledger._lent() as lent:
        lent.execute("PRAGMA busy_timeout = 10")
    with closing(sqlite3.connect(settings.review_data / "ledger.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        give(console)
        other.execute("ROLLBACK")
    assert isinstance(refused(console), ReviewChanged)


def test_a_changed_row_is_noticed_between_the_look_and_the_decision(
    opened: Opened, settings: Settings
) -> None:
    console = opened.console
    ask(console, MAIL, thread_id=THREAD)
    give(console)
    with closing(sqlite3.connect(settings.review_data / "ledger.sqlite")) as conn, conn:
        conn.execute("UPDATE actions SET args = ?", ('{"to": "eve@x.org", "subject": "s", "body": "b"}',))
    assert isinstance(refused(console), RecordDamaged)
    assert console.wait(console.close(THREAD, by="ana"), 30)
    assert console.queries.view(THREAD).thread.status is Status.IDLE
    assert not opened.world.outbox()


@pytest.mark.parametrize("named", [True, False])
def test_a_late_decision_is_on_record_with_or_without_a_review_id(console: Console, named: bool) -> None:
    ask(console, MAIL, thread_id=THREAD)
    give(console)
    review_id = waiting(console, THREAD).review_id
    decide(console, THREAD, APPROVE, by="bob")
    with pytest.raises(ReviewError) as late:
        console.decide(THREAD, [APPROVE], by="ana", face="http", review_id=review_id if named else None)
    (event,) = console.trail.events(thread_id=THREAD, kind=EventKind.DECISION_REFUSED)
    assert (event.by, event.review_id) == ("ana", review_id)
    assert event.data is not None
    assert event.data["code"] == late.value.code
    assert isinstance(late.value, NoPendingReview) is not named
