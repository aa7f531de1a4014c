"""A run that broke off between its agent and the record is told whole by the next try."""

from __future__ import annotations

from typing import Any

import pytest

from agent.bootstrap import Opened
from agent.engine.recorder import End, Recorder
from agent.review.errors import LedgerUnavailable
from agent.review.threads import Run, RunState, Status
from tests.conftest import ask, decide, waiting

MAIL = '/call send_email {"to": "a@x.org", "subject": "s", "body": "b"}'


def test_calls_that_could_not_be_recorded_are_recorded_by_the_next_try(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = opened.console

    def locked(*_: Any) -> None:
        raise LedgerUnavailable("database is locked")

    with monkeypatch.context() as broken:
        broken.setattr(Recorder, "record", locked)
        thread_id = ask(console, MAIL)
    assert console.view(thread_id).thread.status is Status.FAILED
    assert not console.actions(thread_id)
    assert console.wait(console.retry(thread_id, by="ana"), 30)
    assert [action.tool for action in waiting(console, thread_id).actions] == ["send_email"]
    decide(console, thread_id, {"type": "approve"})
    assert [mail.recipient for mail in opened.world.outbox()] == ["a@x.org"]


def test_a_pause_that_was_not_recorded_is_a_whole_review_after_the_next_try(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a frozen process goes on to its pause after its run was taken over, and the takeover failed."""
    console, end = opened.console, Recorder.end

    def failed(self: Recorder, run: Run, *_: Any) -> None:
        end(self, run, [], End(RunState.FAILED, error="database is locked"))

    with monkeypatch.context() as broken:
        broken.setattr(Recorder, "record", lambda *_: None)
        broken.setattr(Recorder, "end", failed)
        thread_id = ask(console, MAIL)
    assert console.wait(console.retry(thread_id, by="ana"), 30)
    assert [action.tool for action in waiting(console, thread_id).actions] == ["send_email"]
    decide(console, thread_id, {"type": "approve"})
    assert [mail.recipient for mail in opened.world.outbox()] == ["a@x.org"]
