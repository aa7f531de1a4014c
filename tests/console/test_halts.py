"""Stopping everything: nothing new starts, what runs stops at its next step, and it outlives the process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.bootstrap import Opened, open_console
from agent.console import Console
from agent.review.errors import Halted
from agent.review.events import EventKind
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import SetClock, ask, decide, start_deciding, until, waiting

MAIL = '/call send_email {"to": "a@x.org", "subject": "s", "body": "b"}'


def test_nothing_new_starts_while_everything_is_stopped(opened: Opened) -> None:
    console = opened.console
    thread_id = ask(console, MAIL)
    review = waiting(console, thread_id)
    console.stop_all(by="ana")
    starts: list[Callable[[], Any]] = [
        lambda: console.send("hello", by="ben"),
        lambda: start_deciding(console, thread_id, [{"type": "approve"}], by="ben"),
        lambda: console.close(thread_id, by="ben"),
    ]
    for start in starts:
        with pytest.raises(Halted, match="ana"):
            start()
    assert waiting(console, thread_id) == review
    assert not opened.world.outbox()


def test_after_the_release_a_review_is_decided_as_it_was(opened: Opened) -> None:
    console = opened.console
    thread_id = ask(console, MAIL)
    console.stop_all(by="ana")
    console.release(by="ben")
    decide(console, thread_id, {"type": "approve"})
    assert len(opened.world.outbox()) == 1


def test_a_run_stops_at_its_next_step_and_can_be_gone_on_with(console: Console) -> None:
    run = console.send("/slow 600\n/say done", by="ana")
    until(lambda: console.queries.view(run.thread_id).progress)
    console.stop_all(by="ana")
    assert console.wait(run, 30)
    assert console.queries.view(run.thread_id).thread.status is Status.STOPPED


def test_a_tool_does_not_start_while_everything_is_stopped(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stop comes after the decision was recorded, and before the guard lets the tool in."""
    console, supervisor = opened.console, opened.supervisor
    thread_id = ask(console, MAIL)
    start = supervisor.start

    def stopped_first(run: Any, after: Any) -> None:
        console.stop_all(by="ana")
        start(run, after)

    monkeypatch.setattr(supervisor, "start", stopped_first)
    decide(console, thread_id, {"type": "approve"})
    assert console.queries.view(thread_id).thread.status is Status.STOPPED
    assert not opened.world.outbox()
    monkeypatch.undo()
    console.release(by="ana")
    assert console.wait(console.retry(thread_id, by="ana"), 30)
    assert len(opened.world.outbox()) == 1


def test_the_stop_outlives_the_process(opened: Opened, settings: Settings, clock: SetClock) -> None:
    opened.console.stop_all(by="ana")
    opened.close()
    again = open_console(settings, clock=clock)
    try:
        halt = again.console.queries.halt()
        assert halt is not None
        assert halt.by == "ana"
        with pytest.raises(Halted):
            again.console.send("hello", by="ben")
    finally:
        again.close()


def test_both_are_on_record_once(console: Console) -> None:
    for _ in range(2):
        console.stop_all(by="ana")
    for _ in range(2):
        console.release(by="ben")
    kinds = [(event.kind, event.by) for event in console.trail.events()]
    assert kinds == [(EventKind.ALL_STOPPED, "ana"), (EventKind.ALL_RELEASED, "ben")]
