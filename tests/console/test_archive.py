"""Archiving: the agent forgets a thread, the record forgets nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from agent.bootstrap import Opened
from agent.console import Console
from agent.review.errors import NothingToRetry, ReviewPending, ThreadArchived
from agent.review.events import EventKind
from agent.review.threads import Status
from tests.conftest import ask, decide, start_deciding, waiting

ASKS = '/call send_email {"to": "a@example.com", "subject": "s", "body": "b"}'


@pytest.fixture
def thread_id(console: Console) -> str:
    """A thread whose turn is over."""
    found = ask(console, ASKS, agent="mail")
    decide(console, found, {"type": "approve"})
    return found


def checkpoints(opened: Opened, thread_id: str) -> int:
    with closing(sqlite3.connect(opened.settings.review_data / "checkpoints.sqlite")) as conn:
        counted = "SELECT count(*) FROM {} WHERE thread_id = ?"
        return sum(
            conn.execute(counted.format(table), (thread_id,)).fetchone()[0]
            for table in ("checkpoints", "writes")
        )


def test_only_the_checkpoints_go(opened: Opened, console: Console, thread_id: str) -> None:
    other = ask(console, "/say Hello.", agent="mail")
    before = (
        console.queries.history(thread_id),
        console.queries.actions(thread_id),
        console.trail.events(thread_id=thread_id),
    )
    kept = checkpoints(opened, other)
    console.archive(thread_id, by="ana")
    assert (checkpoints(opened, thread_id), checkpoints(opened, other)) == (0, kept)
    *events, last = console.trail.events(thread_id=thread_id)
    assert (console.queries.history(thread_id), console.queries.actions(thread_id), events) == before
    assert (last.kind, last.by) == (EventKind.THREAD_ARCHIVED, "ana")
    assert console.queries.view(thread_id).thread.status is Status.ARCHIVED
    assert console.trail.verify().ok


def test_an_archived_thread_takes_nothing_more_and_says_what_to_do(console: Console, thread_id: str) -> None:
    console.archive(thread_id, by="ana")
    with pytest.raises(ThreadArchived, match="new thread"):
        console.send("Hello again", by="ana", thread_id=thread_id)
    with pytest.raises(ThreadArchived):
        start_deciding(console, thread_id, [{"type": "approve"}], by="ana")
    with pytest.raises(NothingToRetry):
        console.retry(thread_id, by="ana")


def test_a_thread_that_waits_is_not_archived(opened: Opened, console: Console) -> None:
    thread_id = ask(console, ASKS, agent="mail")
    with pytest.raises(ReviewPending):
        console.archive(thread_id, by="ana")
    assert checkpoints(opened, thread_id)
    assert waiting(console, thread_id)


def test_archiving_again_only_deletes_what_was_not_deleted_yet(
    opened: Opened, console: Console, thread_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as cut_off:
        cut_off.setattr(type(console._engine), "forget", lambda *_: None)
        console.archive(thread_id, by="ana")
    assert checkpoints(opened, thread_id)
    console.archive(thread_id, by="ana")
    assert checkpoints(opened, thread_id) == 0
    assert len(console.trail.events(kind=EventKind.THREAD_ARCHIVED)) == 1


def test_a_failed_thread_can_be_archived(console: Console) -> None:
    thread_id = ask(console, "/fail", agent="mail")
    assert console.queries.view(thread_id).thread.status is Status.FAILED
    console.archive(thread_id, by="ana")
    assert console.queries.view(thread_id).thread.status is Status.ARCHIVED


def test_other_threads_go_on(console: Console, thread_id: str) -> None:
    console.archive(thread_id, by="ana")
    again = ask(console, ASKS, agent="mail")
    assert console.queries.view(again).thread.status is Status.WAITING
