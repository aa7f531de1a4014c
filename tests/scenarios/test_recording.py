"""A thread saved as a scenario: it passes at once, and on any other machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.bootstrap import Opened
from agent.demos import mail
from agent.review.errors import NotReplayable
from agent.review.policy import Case, Policy, Tier, ToolPolicy
from agent.scenarios import shelf
from agent.scenarios.files import read_text, write_text
from agent.scenarios.forbidden import exactly
from agent.scenarios.format import Decision, Never, Scenario
from agent.scenarios.recording import record
from agent.scenarios.running import run
from tests.conftest import SetClock, ask, decide, until
from tests.forked import ROOT

AGENTS = ROOT / "langgraph.json"
SEVERAL = "Tell Bob and Eve the meeting moved to 11, and archive the old invitation"


def passes(opened: Opened, thread_id: str, **more: Any) -> str:
    """Save the thread, read the file again and run it; gives the file's text."""
    text = write_text(record(opened, thread_id, name="saved", **more))
    report = run(read_text(text, "saved"), AGENTS)
    assert report.faults == ()
    return text


def test_a_thread_of_several_fates_passes_at_once(opened: Opened) -> None:
    thread_id = ask(opened.console, SEVERAL)
    (review,) = opened.console.queries.view(thread_id).reviews
    edited = {"name": "send_email", "args": {**(review.actions[1].args or {}), "body": "At noon.\n\n- no"}}
    decide(
        opened.console,
        thread_id,
        {"type": "reject", "message": "Bob knows."},
        {"type": "edit", "edited_action": edited},
    )
    ask(opened.console, "/say Anything else?", thread_id=thread_id)
    text = passes(opened, thread_id)
    assert "Bob knows." in text
    assert "At noon." in text
    assert "model: recorded" in text


def test_a_thread_that_still_waits_is_saved_with_what_waits(opened: Opened) -> None:
    text = passes(opened, ask(opened.console, SEVERAL))
    assert "status: waiting" in text
    assert "review:" in text


def test_closed_and_expired_reviews_replay(opened: Opened, clock: SetClock) -> None:
    console = opened.console
    thread_id = ask(console, SEVERAL)
    assert console.wait(console.close(thread_id, by="ana", reason="busy"), 30)
    ask(console, SEVERAL, thread_id=thread_id)
    clock.move(hours=25)
    console.expire()
    until(lambda: console.queries.current_run(thread_id) is None)
    text = passes(opened, thread_id)
    assert "close: busy" in text
    assert "wait: 24h" in text


def test_an_answer_in_the_tools_place_replays(opened: Opened) -> None:
    thread_id = ask(opened.console, '/call ask_user {"question": "Which?"}', agent="operations")
    decide(opened.console, thread_id, {"type": "respond", "message": "The second."})
    assert "message: The second." in passes(opened, thread_id)


def test_what_a_tool_gives_anew_each_time_is_expected_to_be_anything(opened: Opened) -> None:
    thread_id = ask(opened.console, '/call rotate_keys {"service": "billing"}', agent="operations")
    decide(opened.console, thread_id, {"type": "approve"})
    assert "any: true" in passes(opened, thread_id)


def test_a_world_that_others_have_changed_does_not_make_it_red(opened: Opened) -> None:
    other = ask(opened.console, '/call send_email {"to": "a@b.example", "subject": "s", "body": "b"}')
    decide(opened.console, other, {"type": "approve"})
    thread_id = ask(opened.console, '/call send_email {"to": "c@d.example", "subject": "s", "body": "b"}')
    decide(opened.console, thread_id, {"type": "approve"})
    assert "mail_sent outbox/1" in passes(opened, thread_id)


def test_hostile_calls_replay_as_they_came(opened: Opened) -> None:
    text = (
        '/call send_email {"to": "al\u202eice@example.com\u200b", "subject": "no", "body": "1e3\\r\\n\\u0007~"}\n'
        '/call search_mail {"text": \n/call wipe_mailbox {}\n/then\n/call search_mail {"text": "a", "x": 1e400}'
    )
    passes(opened, ask(opened.console, text))


def test_naming_what_must_not_run_makes_it_red_at_once(opened: Opened) -> None:
    thread_id = ask(opened.console, '/call archive_mail {"message_id": "m-1"}')
    saved = record(opened, thread_id, name="It archived unasked", never=[Never(tool="archive_mail")])
    (fault,) = run(saved, AGENTS).faults
    assert fault.about == "must not run"


def to_both(opened: Opened) -> str:
    """A thread on which Bob and Eve were written to, and an old message was archived unasked."""
    thread_id = ask(opened.console, SEVERAL)
    decide(opened.console, thread_id, {"type": "approve"}, {"type": "approve"})
    return thread_id


def not_to(opened: Opened, thread_id: str, tool: str, telling: str) -> Scenario:
    """The thread, saved as one on which this call must not run; read again from its file."""
    (call,) = (
        one
        for one in opened.console.queries.actions(thread_id)
        if one.tool == tool and telling in (one.args or {}).values()
    )
    made = record(opened, thread_id, name="x", never=[exactly(tool, call.args or {})])
    return read_text(write_text(made), "x")


def under(monkeypatch: pytest.MonkeyPatch, tool: str, changed: ToolPolicy) -> None:
    """From now on the mail agent has another policy for this tool."""
    given = mail.policy
    monkeypatch.setattr(mail, "policy", lambda world: Policy({**given(world).tools, tool: changed}))


def test_one_call_is_forbidden_and_not_the_others_of_its_tool(opened: Opened) -> None:
    saved = not_to(opened, to_both(opened), "send_email", "eve@example.com")
    (never,) = saved.expect.never
    assert (never.tool, never.args["to"].value) == ("send_email", "eve@example.com")
    (fault,) = run(saved, AGENTS).faults
    assert 'never send_email with to: "eve@example.com"' in fault.expected
    assert "bob" not in fault.got


def test_it_is_green_once_the_policy_refuses_that_call(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = not_to(opened, to_both(opened), "send_email", "eve@example.com")
    assert not run(saved, AGENTS).passed
    not_eve = Case(Tier.DENY, when={"properties": {"to": {"const": "eve@example.com"}}})
    under(monkeypatch, "send_email", ToolPolicy(Tier.ASK, cases=(not_eve,)))
    assert run(saved, AGENTS).faults == ()


def test_it_is_green_once_the_call_is_asked_about_beside_others(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = not_to(opened, to_both(opened), "archive_mail", "m-2")
    assert not run(saved, AGENTS).passed
    under(monkeypatch, "archive_mail", ToolPolicy(Tier.ASK))
    assert run(saved, AGENTS).faults == ()


def test_it_is_green_once_it_is_rejected_in_the_file(opened: Opened) -> None:
    saved = not_to(opened, to_both(opened), "send_email", "eve@example.com")
    (step,) = saved.steps
    assert step.decisions
    rejected = step.model_copy(update={"decisions": [step.decisions[0], Decision(type="reject")]})
    assert run(saved.model_copy(update={"steps": [rejected]}), AGENTS).faults == ()


def test_a_call_with_a_secret_is_forbidden_in_its_masked_form(opened: Opened) -> None:
    secret = "sk-" + "a1" * 16
    call = {"to": "a@b.example", "subject": "s", "body": secret}
    thread_id = ask(opened.console, f"/call send_email {json.dumps(call)}")
    decide(opened.console, thread_id, {"type": "approve"})
    saved = record(opened, thread_id, name="x", never=[exactly("send_email", call)])
    assert secret not in write_text(saved)
    (fault,) = run(saved, AGENTS).faults
    assert fault.about == "must not run"


def test_secrets_are_masked(opened: Opened) -> None:
    secret = "sk-" + "a1" * 16
    thread_id = ask(
        opened.console, f'/call send_email {{"to": "a@b.example", "subject": "s", "body": "{secret}"}}'
    )
    decide(opened.console, thread_id, {"type": "approve"})
    assert secret not in passes(opened, thread_id)
    path = shelf.save_thread(opened, thread_id, name=f"It sent {secret}")
    assert secret not in path.name
    assert secret not in path.read_text()


@pytest.mark.parametrize(
    ("text", "reason"), [("/fail", "it is failed"), ("/fail once\n/say Well", "one of its runs failed")]
)
def test_what_no_replay_brings_about_is_refused_with_the_reason(
    opened: Opened, text: str, reason: str
) -> None:
    thread_id = ask(opened.console, text)
    if "once" in text:
        assert opened.console.wait(opened.console.retry(thread_id, by="ana"), 30)
    with pytest.raises(NotReplayable, match=reason):
        record(opened, thread_id, name="x")


def test_a_thread_that_only_went_so_on_a_changed_world_is_refused_with_the_difference(opened: Opened) -> None:
    console = opened.console
    ask(console, '/call archive_mail {"message_id": "m-1"}')
    thread_id = ask(console, '/call archive_mail {"message_id": "m-1"}')
    with pytest.raises(NotReplayable, match="Reset the demo world") as refused:
        record(opened, thread_id, name="x")
    assert 'In the thread archive_mail with message_id: "m-1" failed; in the replay archive_mail' in str(
        refused.value
    )


def test_the_file_replays_in_another_process_elsewhere(opened: Opened, tmp_path: Path) -> None:
    thread_id = ask(opened.console, SEVERAL)
    decide(opened.console, thread_id, {"type": "approve"}, {"type": "reject"})
    file = tmp_path / "saved.scenario.yaml"
    file.write_text(write_text(record(opened, thread_id, name="saved")))
    elsewhere = {
        **os.environ,
        "TZ": "Pacific/Auckland",
        "HOME": str(tmp_path),
        "REVIEW_DATA": str(tmp_path / "d"),
    }
    command = [sys.executable, "-m", "agent", "scenarios", "run", str(file)]
    found = subprocess.run(command, cwd=ROOT, env=elsewhere, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert not (tmp_path / "d").exists()


def test_what_a_remembered_rule_let_run_is_refused_as_no_rule_stands_elsewhere(opened: Opened) -> None:
    console = opened.console
    write = '/call write_file {"path": "notes/a.txt", "content": "a"}'
    first = ask(console, write, agent="operations")
    (review,) = console.queries.view(first).reviews
    (action,) = review.actions
    console.rules.make(
        first,
        action.key.tool_call_id,
        by="ana",
        shown_digest=action.shown_digest,
        free=(),
        scope="agent",
        lasting="15 minutes",
    )
    second = ask(console, write, agent="operations")
    with pytest.raises(NotReplayable, match="remembered rule"):
        record(opened, second, name="x")
