"""A run that broke off between its agent and the record is told whole by the next try."""

from __future__ import annotations

from typing import Any

import pytest

from agent.bootstrap import Opened
from agent.engine.recorder import End, Recorder
from agent.review.actions import ActionState
from agent.review.errors import LedgerUnavailable
from agent.review.threads import Run, RunState, Status
from tests.conftest import ask, decide, waiting

MAIL = '/call send_email {"to": "a@x.org", "subject": "s", "body": "b"}'
ARCHIVE = '/call archive_mail {"message_id": "m-1"}'


def test_calls_that_could_not_be_recorded_do_not_run_before_the_next_try(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = opened.console

    def locked(*_: Any) -> None:
        raise LedgerUnavailable("database is locked")

    with monkeypatch.context() as broken:
        broken.setattr(Recorder, "record", locked)
        thread_id = ask(console, ARCHIVE)
    assert console.queries.view(thread_id).thread.status is Status.FAILED
    assert [action.state for action in console.queries.actions(thread_id)] == [ActionState.APPROVED]
    assert not opened.world.changes(thread_id)
    assert console.wait(console.retry(thread_id, by="ana"), 30)
    assert [action.state for action in console.queries.actions(thread_id)] == [ActionState.DONE]
    assert [change.kind for change in opened.world.changes(thread_id)] == ["mail_archived"]


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
