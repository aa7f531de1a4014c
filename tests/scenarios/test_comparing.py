"""What was expected beside what came: every difference is found, and named with both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.scenarios.comparing import Came, Ran, Told, Waits, as_it_stands, end_faults, waiting_faults
from agent.scenarios.forbidden import exactly
from agent.scenarios.format import Awaited, ExpectedEnd, Never, ScenarioStep

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
    assert end_faults(ExpectedEnd.model_validate(AS_IT_CAME), CAME) == []


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
        ({"results": []}, "sent to the model (1)"),
        ({"results": [{"tool": "send_email", "status": "error"}]}, "sent to the model (1)"),
        ({"world": []}, "changed in the world (1)"),
        ({"world": ["mail_sent outbox/2"]}, "changed in the world (1)"),
        ({"never": [{"tool": "send_email"}], "executions": []}, "must not run"),
        ({"never": [{"args": {"to": {"pattern": "bob"}}}], "executions": None}, "must not run"),
        ({"review": [{"tool": "send_email"}]}, "waits for a decision (1)"),
    ],
)
def test_every_difference_at_the_end_is_named(changed: dict[str, Any], about: str) -> None:
    (fault,) = end_faults(ExpectedEnd.model_validate({**AS_IT_CAME, **changed}), CAME)
    assert (fault.step, fault.about) == (None, about)
    assert fault.expected != fault.got


def test_a_record_that_contradicts_itself_is_a_fault_whatever_is_expected() -> None:
    (fault,) = end_faults(ExpectedEnd(), replace(CAME, contradictions=("It ran twice.",)))
    assert fault.got == "It ran twice."


def test_a_failed_run_says_why() -> None:
    (fault,) = end_faults(ExpectedEnd(), replace(CAME, status="failed", error="The model is gone."))
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


EVE = {"to": "eve", "body": "At 11."}
NOT_EVE = [exactly("send_email", EVE)]
BOTH = ScenarioStep.model_validate(
    {
        "review": [{"tool": "send_email", "args": {"to": "bob"}}, {"tool": "send_email", "args": EVE}],
        "decisions": [{"type": "approve"}, {"type": "approve"}],
    }
)
TO_BOB = Waits("send_email", {"to": "bob"}, ("approve", "reject"))
TO_EVE = Waits("send_email", EVE, ("approve", "reject"))


@pytest.mark.parametrize(
    ("never", "expected"),
    [
        (NOT_EVE, 'never send_email with to: "eve", body: "At 11."'),
        ([Never(tool="send_email")], "never send_email, whatever its arguments"),
        ([Never()], "never any tool, whatever its arguments"),
    ],
)
def test_what_must_not_run_is_named_with_its_arguments_and_says_how_it_becomes_green(
    never: list[Never], expected: str
) -> None:
    came = replace(CAME, executions=(Ran("send_email", EVE, "done", "Sent."),))
    (fault,) = end_faults(ExpectedEnd(never=never), came)
    assert fault.expected == expected
    assert fault.green.startswith(f"It is green once {expected.removeprefix('never ')}")
    assert "no longer runs" in fault.green


def test_a_call_of_the_same_tool_with_other_arguments_may_run() -> None:
    assert end_faults(ExpectedEnd(never=NOT_EVE), CAME) == []


def test_what_must_not_run_shifts_no_other_execution() -> None:
    expected = ExpectedEnd.model_validate({"executions": [{"tool": "send_email", "args": {"to": "bob"}}]})
    came = replace(CAME, executions=(Ran("send_email", EVE, "done", "Sent."), SENT))
    (fault,) = end_faults(expected.model_copy(update={"never": NOT_EVE}), came)
    assert fault.about == "must not run"


def test_what_must_not_run_and_waits_at_the_end_has_not_run() -> None:
    waits = replace(CAME, status="waiting", answer=None, executions=(), waits=(TO_EVE,))
    assert end_faults(ExpectedEnd(never=NOT_EVE), waits) == []
    (fault,) = end_faults(ExpectedEnd(never=NOT_EVE), replace(waits, waits=(TO_EVE, TO_BOB)))
    assert fault.about == "status"


def test_a_step_leaves_out_what_must_not_run_once_it_is_refused() -> None:
    step = as_it_stands(BOTH, NOT_EVE, [TO_BOB])
    assert step is not None
    assert waiting_faults(1, step.review or [], [TO_BOB]) == []
    assert [one.type for one in step.decisions or ()] == ["approve"]
    assert as_it_stands(BOTH, [Never(tool="send_email")], []) is None


def test_a_step_rejects_what_must_not_run_once_it_is_asked_about() -> None:
    bob = ScenarioStep.model_validate(
        {"review": [{"tool": "send_email"}], "decisions": [{"type": "approve"}]}
    )
    assert BOTH.review is not None
    step = as_it_stands(bob.model_copy(update={"review": BOTH.review[:1]}), NOT_EVE, [TO_EVE, TO_BOB])
    assert step is not None
    assert waiting_faults(1, step.review or [], [TO_EVE, TO_BOB]) == []
    assert [one.type for one in step.decisions or ()] == ["reject", "approve"]


def test_a_step_stays_as_it_is_written_while_everything_waits_as_expected() -> None:
    assert as_it_stands(BOTH, NOT_EVE, [TO_BOB, TO_EVE]) == BOTH
    assert as_it_stands(BOTH, [], [TO_BOB]) == BOTH
