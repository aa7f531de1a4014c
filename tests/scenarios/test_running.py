"""Scenarios run: red where what came is not what was expected, and never on the real record or world."""

from __future__ import annotations

import threading
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.bootstrap import Opened
from agent.cli.main import app
from agent.scenarios import batch
from agent.scenarios.batch import Batch
from agent.scenarios.files import ENDING, write_text
from agent.scenarios.format import Scenario
from agent.scenarios.running import Report, run
from tests.forked import ROOT

AGENTS = ROOT / "langgraph.json"
CALL = '/call send_email {"to": "a@b.example", "subject": "Hi", "body": "At 10."}'
WAITS: dict[str, Any] = {"review": [{"tool": "send_email"}], "decisions": [{"type": "approve"}]}


def made(**more: Any) -> Scenario:
    given = {"scenario": "s", "agent": "mail", "message": CALL, "steps": [WAITS], **more}
    return Scenario.model_validate(given)


def ran(**more: Any) -> Report:
    return run(made(**more), AGENTS)


def test_the_failing_step_is_named_beside_what_was_expected() -> None:
    awaited = {"tool": "send_email", "args": {"to": "c@d.example", "subject": "Hi", "body": {"any": True}}}
    report = ran(steps=[{"wait": "1m"}, {**WAITS, "review": [awaited]}])
    (fault,) = report.faults
    assert fault.step == 2
    assert "c@d.example" in fault.expected
    assert "a@b.example" in fault.got


def test_a_review_that_does_not_come_is_a_fault() -> None:
    (fault,) = ran(message="/say Hello").faults
    assert (fault.step, fault.about) == (1, "a review")
    assert "Hello" in fault.got


def test_a_refusal_that_was_not_expected_is_a_fault_and_so_is_one_that_did_not_come() -> None:
    (fault,) = ran(steps=[{"decisions": []}]).faults
    assert fault.got.startswith("InvalidDecision")
    (fault,) = ran(steps=[{**WAITS, "refused": "InvalidDecision"}]).faults
    assert fault.got == "it was accepted"


def test_what_must_not_run_is_red_when_it_ran() -> None:
    (fault,) = ran(expect={"never": [{"tool": "send_email"}]}).faults
    assert fault.about == "must not run"


def test_a_review_left_open_is_a_fault_unless_it_is_expected() -> None:
    assert [fault.about for fault in ran(steps=[]).faults] == ["status"]
    assert ran(steps=[], expect={"status": "waiting", "review": [{"tool": "send_email"}]}).passed


def test_a_review_can_be_closed_and_the_conversation_gone_on_with() -> None:
    steps = [{"close": "not now"}, {"message": "/say Later, then."}]
    assert ran(steps=steps, expect={"answer": "Later, then.", "executions": []}).passed


def test_replies_that_run_out_are_a_fault_that_says_so() -> None:
    replies = [{"calls": [{"id": "a", "tool": "search_mail", "args": {"text": "rent"}}]}]
    (fault,) = ran(model="recorded", replies=replies, steps=[]).faults
    assert "asks for one more" in fault.got


def test_an_unknown_agent_is_a_fault_with_the_remedy() -> None:
    (fault,) = ran(agent="nobody").faults
    assert "There is no agent 'nobody'. Look at" in fault.got


def test_an_agent_of_another_make_is_not_run_at_all(tmp_path: Path) -> None:
    config = tmp_path / "langgraph.json"
    config.write_text('{"graphs": {"mine": "tests/engine/external_agents.py:batched"}}')
    (fault,) = run(made(agent="mine"), config).faults
    assert "cannot be kept apart from the real world" in fault.got


def test_the_real_record_and_world_are_not_touched(opened: Opened) -> None:
    before = (opened.console.trail.verify().head, opened.world.outbox())
    assert ran(expect={"world": ["mail_sent outbox/1"]}).passed
    assert (opened.console.trail.verify().head, opened.world.outbox()) == before
    assert opened.console.queries.threads() == []


def test_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEW_APPROVE_BY", "1s")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nonsense")
    monkeypatch.setenv("OPENAI_BASE_URL", "nonsense")
    monkeypatch.setenv("REVIEW_MODEL", "gpt-5.4-mini")
    assert ran(steps=[{"wait": "1h"}, WAITS], expect={"world": ["mail_sent outbox/1"]}).passed


def put(folder: Path, name: str, **more: Any) -> Path:
    path = folder / f"{name}{ENDING}"
    path.write_text(write_text(made(**more)))
    return path


def test_a_batch_goes_on_past_a_red_one_and_past_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    broken = tmp_path / f"broken{ENDING}"
    broken.write_text("scenario: [")
    found = Batch([broken, put(tmp_path, "red", steps=[]), put(tmp_path, "green")], AGENTS)
    assert found.wait(60)
    assert [report.passed for report in found.reports] == [False, False, True]


def test_a_batch_is_stopped_in_the_middle_of_a_run(tmp_path: Path) -> None:
    slow = put(tmp_path, "slow", message="/slow 500\n/say At last", steps=[])
    found = batch.start([slow, put(tmp_path, "next")], AGENTS)
    assert batch.start([], AGENTS) is found
    found.stop()
    assert found.wait(60)
    assert [report.passed for report in found.reports] in ([], [False])
    assert not any(report.faults for report in found.reports)
    batch.forget()
    assert batch.latest() is None


def test_the_command_line_says_what_failed_and_writes_junit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVIEW_AGENTS", str(AGENTS))
    put(tmp_path, "green")
    put(tmp_path, "red", scenario="red \x1b[31m", expect={"answer": "\x00"})
    report = tmp_path / "junit.xml"
    result = CliRunner().invoke(app, ["scenarios", "run", str(tmp_path), "--junit", str(report)])
    assert result.exit_code == 1
    assert "1 passed, 1 failed." in result.output
    assert "\x1b" not in result.output
    suite = ET.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.find("failure") is not None for case in suite] == [False, True]


def test_the_command_line_is_green_when_all_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEW_AGENTS", str(AGENTS))
    assert CliRunner().invoke(app, ["scenarios", "run", str(put(tmp_path, "green"))]).exit_code == 0
    assert CliRunner().invoke(app, ["scenarios", "run", str(tmp_path / "nowhere")]).exit_code == 1


def test_two_runs_at_once_do_not_meet() -> None:
    reports: list[Report] = []
    threads = [
        threading.Thread(target=lambda: reports.append(ran(expect={"world": ["mail_sent outbox/1"]})))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [report.passed for report in reports] == [True, True]
