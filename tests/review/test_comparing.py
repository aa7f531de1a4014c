"""What was expected beside what came: every difference is found, and named with both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.review.comparing import Came, Ran, Told, Waits, end_faults, waiting_faults
from agent.review.scenarios import Awaited, Outcome

SENT = Ran("send_email", {"to": "bob"}, "done", "Sent.")
CAME = Came(
    status="idle",
    answer="Done.",
    executions=(SENT,),
    results=(Told("send_email", "success", "Sent."),),
    world=("mail_sent outbox/1",),
)
AS_IT_CAME: dict[str, Any] = {
    "answer": "Done.",
    "executions": [{"tool": "send_email", "args": {"to": "bob"}, "ended": "done", "result": "Sent."}],
    "results": [{"tool": "send_email", "status": "success", "text": "Sent."}],
    "world": ["mail_sent outbox/1"],
    "never": [{"tool": "wipe_mailbox"}, {"tool": "send_email", "args": {"to": "alice"}}],
}


def test_what_came_as_expected_has_no_fault() -> None:
    assert end_faults(Outcome.model_validate(AS_IT_CAME), CAME) == []


@pytest.mark.parametrize(
    ("changed", "about"),
    [
        ({"status": "waiting"}, "status"),
        ({"answer": "Not done."}, "answer"),
        ({"executions": []}, "ran (1)"),
        ({"executions": [{"tool": "archive_mail"}]}, "ran (1)"),
        ({"executions": [{"tool": "send_email", "args": {"to": "alice"}}]}, "ran (1)"),
        ({"executions": [{"tool": "send_email", "ended": "failed"}]}, "ran (1)"),
        ({"executions": [{"tool": "send_email", "result": {"pattern": "^Not"}}]}, "ran (1)"),
        ({"executions": [{"tool": "send_email"}, {"tool": "send_email"}]}, "ran (2)"),
        ({"results": []}, "told to the model (1)"),
        ({"results": [{"tool": "send_email", "status": "error"}]}, "told to the model (1)"),
        ({"world": []}, "changed in the world (1)"),
        ({"world": ["mail_sent outbox/2"]}, "changed in the world (1)"),
        ({"never": [{"tool": "send_email"}]}, "must not run"),
        ({"never": [{"args": {"to": {"pattern": "bob"}}}]}, "must not run"),
        ({"review": [{"tool": "send_email"}]}, "waits for a decision (1)"),
    ],
)
def test_every_difference_at_the_end_is_named(changed: dict[str, Any], about: str) -> None:
    (fault,) = end_faults(Outcome.model_validate({**AS_IT_CAME, **changed}), CAME)
    assert (fault.step, fault.about) == (None, about)
    assert fault.expected != fault.got


def test_a_record_that_contradicts_itself_is_a_fault_whatever_is_expected() -> None:
    (fault,) = end_faults(Outcome(), replace(CAME, contradictions=("It ran twice.",)))
    assert fault.got == "It ran twice."


def test_a_failed_run_says_why() -> None:
    (fault,) = end_faults(Outcome(), replace(CAME, status="failed", error="The model is gone."))
    assert fault.got == "failed: The model is gone."


@pytest.mark.parametrize(
    ("expected", "right"),
    [
        ({"tool": "send_email"}, True),
        ({"tool": "send_email", "args": {"to": "bob"}, "allowed": ["reject", "approve"]}, True),
        ({"tool": "remove_file"}, False),
        ({"tool": "send_email", "args": {}}, False),
        ({"tool": "send_email", "allowed": ["approve"]}, False),
    ],
)
def test_what_waits_is_compared_with_its_arguments_and_allowed_decisions(
    expected: dict[str, Any], right: bool
) -> None:
    waits = [Waits("send_email", {"to": "bob"}, ("approve", "reject"))]
    faults = waiting_faults(3, [Awaited.model_validate(expected)], waits)
    assert (faults == []) is right
    assert all(fault.step == 3 for fault in faults)
