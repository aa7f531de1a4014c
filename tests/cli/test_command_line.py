"""The command line does what the pages do, on a folder that a server may have open."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from agent.bootstrap import Opened, open_console
from agent.cli import output
from agent.cli.main import app
from agent.review import exports
from agent.review.events import Event, EventKind
from agent.settings import Settings, key_path
from tests.conftest import Server, ask, free_port, until, wrong_agents
from tests.forked import ROOT

MAIL = '/call#c1 send_email {"to": "alice@example.com", "subject": "Meeting", "body": "At 10."}'
TWO = MAIL + '\n/call#c2 send_email {"to": "bob@example.com", "subject": "Meeting", "body": "At 11."}'

Run = Callable[..., Result]


@pytest.fixture
def run(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Give a command in this process, on the test's own folder."""
    names = ("review_data", "review_agents", "review_anchor", "review_reviewer")
    for name in names:
        monkeypatch.setenv(name.upper(), str(getattr(settings, name)))
    monkeypatch.setenv("REVIEW_DEMO_DELAY", "0")
    monkeypatch.setenv("COLUMNS", "200")

    def command(*words: str, given: str | None = None) -> Result:
        return CliRunner().invoke(app, list(words), input=given)

    return command


def outbox(settings: Settings) -> list[str]:
    opened = open_console(settings, at_work=False)
    try:
        return [mail.recipient for mail in opened.world.outbox()]
    finally:
        opened.close()


def trail(settings: Settings) -> list[Event]:
    opened = open_console(settings, at_work=False)
    try:
        return opened.console.trail.events()
    finally:
        opened.close()


@pytest.mark.parametrize(
    "words",
    [(), ("chat",), ("reviews",), ("decide",), ("serve-api",), ("doctor",), ("audit",), ("audit", "export")],
)
def test_every_command_explains_itself(run: Run, words: tuple[str, ...]) -> None:
    found = run(*words, "--help")
    assert found.exit_code == 0
    assert "Usage:" in found.output
    assert "--help" in found.output


def test_a_message_is_answered(run: Run) -> None:
    found = run("chat", "/say Good morning.", "--thread", "t-1")
    assert found.exit_code == 0
    assert found.stdout == "Thread t-1: idle\nGood morning.\n"


def test_a_message_can_be_read_from_the_input(run: Run) -> None:
    assert "From a file." in run("chat", "-", given="/say From a file.").stdout


def test_a_review_is_printed_with_all_that_is_decided_on(run: Run, settings: Settings) -> None:
    found = run("chat", MAIL, "--thread", "t-1")
    assert found.exit_code == 0
    for part in ("send_email", "alice@example.com", '"At 10."', "approve, edit, reject", "decide t-1"):
        assert part in found.stdout
    listed = run("reviews").stdout
    assert "alice@example.com" in listed
    assert outbox(settings) == []


def test_a_decision_runs_the_action_and_prints_the_answer(run: Run, settings: Settings) -> None:
    run("chat", MAIL, "--thread", "t-1")
    run("reviews", "--by", "bea")
    found = run("decide", "t-1", "approve", "--by", "bea")
    assert found.exit_code == 0
    assert found.stdout.startswith("Thread t-1: idle\n")
    assert outbox(settings) == ["alice@example.com"]
    assert run("reviews").stdout == "Nothing waits for a decision.\n"


def test_an_edit_runs_what_was_given(run: Run, settings: Settings) -> None:
    run("chat", MAIL, "--thread", "t-1")
    args = json.dumps({"to": "eve@example.com", "subject": "Meeting", "body": "At 12."})
    assert run("decide", "t-1", "edit", "--args", args).exit_code == 0
    assert outbox(settings) == ["eve@example.com"]


def test_several_actions_are_decided_from_a_list(run: Run, settings: Settings) -> None:
    run("chat", TWO, "--thread", "t-1")
    given = json.dumps([{"type": "reject", "message": "No."}, {"type": "approve"}])
    assert run("decide", "t-1", "--decisions", "-", given=given).exit_code == 0
    assert outbox(settings) == ["bob@example.com"]


def test_json_has_the_shapes_of_the_http_api(run: Run) -> None:
    answer = json.loads(run("chat", MAIL, "--thread", "t-1", "--json").stdout)
    assert answer["status"] == "waiting"
    review = answer["pending_review"]
    assert review["action_requests"][0]["args"]["to"] == "alice@example.com"
    (queued,) = json.loads(run("reviews", "--json").stdout)["reviews"]
    assert (queued["review_id"], queued["pending_review"]) == (review["review_id"], review)


def test_another_digest_than_what_waits_is_refused(run: Run, settings: Settings) -> None:
    run("chat", MAIL, "--thread", "t-1")
    found = run("decide", "t-1", "approve", "--digest", "0" * 64)
    assert found.exit_code == 1
    assert "not what was on your screen" in found.stderr
    assert outbox(settings) == []


def test_who_was_printed_nothing_is_refused_with_the_review_and_the_command_that_decides_it(
    run: Run, settings: Settings
) -> None:
    run("chat", MAIL, "--thread", "t-1")
    found = run("decide", "t-1", "approve", "--by", "bea")
    assert found.exit_code == 1
    (command,) = re.findall(r"python -m agent (decide t-1 )\S+( --digest [0-9a-f]{64})", found.stderr)
    assert outbox(settings) == []
    words = f"{command[0]}approve{command[1]} --by bea".split()
    assert run(*words).exit_code == 0
    assert outbox(settings) == ["alice@example.com"]


def test_a_refusal_in_json_has_the_review(run: Run) -> None:
    asked = json.loads(run("chat", MAIL, "--thread", "t-1", "--json").stdout)["pending_review"]
    refused = json.loads(run("decide", "t-1", "approve", "--by", "bea", "--json").stderr)
    assert (refused["code"], refused["pending_review"]) == ("ReviewChanged", asked)


def test_a_changed_record_is_printed_nowhere_and_named_by_the_doctor(run: Run, settings: Settings) -> None:
    asked = json.loads(run("chat", MAIL, "--thread", "t-1", "--json").stdout)["pending_review"]
    with closing(sqlite3.connect(settings.review_data / "ledger.sqlite")) as conn, conn:
        conn.execute("UPDATE actions SET args = ?", ('{"to": "eve@x.org", "subject": "", "body": ""}',))
    assert "eve" not in run("reviews").stdout
    found = run("doctor")
    assert found.exit_code == 1
    assert asked["review_id"] in found.stdout
    assert run("decide", "t-1", "approve", "--review", asked["review_id"]).exit_code == 1
    assert outbox(settings) == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("decide", "nobody", "approve"), 1, "There is no such thread"),
        (("chat", "/fail"), 1, ""),
        (("chat", ""), 1, "The message is empty"),
        (("chat", "hi", "--agent", "nobody"), 1, "There is no agent"),
        (("decide", "t-1"), 2, "--decisions"),
        (("decide", "t-1", "postpone"), 2, "postpone"),
        (("decide", "t-1", "--decisions", "/nowhere/list.json"), 2, "cannot be read"),
        (("nonsense",), 2, "nonsense"),
        (("chat",), 2, "message"),
    ],
)
def test_what_goes_wrong_has_its_exit_code_and_a_sentence(
    run: Run, words: tuple[str, ...], code: int, said: str
) -> None:
    found = run(*words)
    assert found.exit_code == code, found.output
    assert said.lower() in found.output.lower()
    assert "Traceback" not in found.output


def test_a_refusal_can_be_json_too(run: Run) -> None:
    found = run("decide", "nobody", "approve", "--json")
    assert json.loads(found.stderr)["code"] == "NoPendingReview"


@pytest.mark.parametrize("name", ["", "Nobody", "the\u200b agent", "a\nb", "b" * 81])
def test_a_name_that_no_person_may_act_under_is_refused(run: Run, settings: Settings, name: str) -> None:
    for words in (("chat", "/say Hello."), ("decide", "t-1", "approve")):
        found = run(*words, "--by", name)
        assert found.exit_code == 1
        assert "name" in found.stderr
    assert trail(settings) == []


def test_a_thread_id_of_dots_alone_is_refused(run: Run) -> None:
    found = run("chat", "/say Hello.", "--thread", "..")
    assert (found.exit_code, "not all of them dots" in found.stderr) == (1, True)


def test_wrong_settings_are_all_named_and_end_with_exit_code_2(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVIEW_APPROVE_BY", "soon")
    monkeypatch.setenv("REVIEW_MODEL", "nothing")
    found = run("reviews")
    assert found.exit_code == 2
    assert "REVIEW_APPROVE_BY" in found.stderr
    assert "REVIEW_MODEL" in found.stderr


def test_nobodys_text_reaches_the_terminal_as_an_order(run: Run) -> None:
    body = "safe\\u001b[2K\\u001b[1Ahidden\\u202etxt"
    found = run("chat", f'/call send_email {{"to": "a@x.org", "subject": "s", "body": "{body}"}}')
    assert "\x1b" not in found.stdout
    assert "\u202e" not in found.stdout
    assert "\\u{001b}" in output.literal("\x1b")


# The trail


def test_the_exported_lines_lose_nothing_and_the_chain_can_be_verified_from_them(
    run: Run, tmp_path: Path, settings: Settings
) -> None:
    run("chat", MAIL, "--thread", "t-1")
    path = tmp_path / "trail.jsonl"
    assert run("audit", "export", "--output", str(path)).exit_code == 0
    events = [Event(**{"data": None, **json.loads(line)}) for line in path.read_text().splitlines()]
    opened = open_console(settings, at_work=False)
    try:
        assert events == list(opened.console.trail.whole())
        assert opened.console.trail.verify(events).ok
    finally:
        opened.close()


def test_the_table_has_a_heading_and_one_row_an_event(run: Run) -> None:
    run("chat", "/say Ünïcode.", "--thread", "t-1")
    content = run("audit", "export", "--format", "csv").stdout_bytes
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert [row["kind"] for row in rows][:2] == ["ThreadStarted", "MessageSent"]
    assert json.loads(rows[1]["data"]) == {"text": "/say Ünïcode."}


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_is_a_formula(start: str) -> None:
    event = Event(
        seq=1,
        at="2030",
        kind=EventKind.MESSAGE_SENT,
        by=f"{start}cmd|'/c calc'!A1",
        data={},
        salt="",
        commitment="",
        hash="",
    )
    _, row = exports.as_csv([event])
    (cells,) = csv.reader(io.StringIO(row, newline=""))
    assert cells[exports.COLUMNS.index("by")] == f"'{start}cmd|'/c calc'!A1"


def test_a_line_kept_elsewhere_is_checked_when_it_comes_back(run: Run) -> None:
    assert run("audit", "anchor").stdout == "Nothing has been recorded yet.\n"
    run("chat", "/say Hello.")
    kept = run("audit", "anchor").stdout
    assert run("audit", "verify", "--anchor", kept).exit_code == 0
    count, head, at = kept.strip().split(":", 2)
    found = run("audit", "verify", "--anchor", f"{count}:{head[::-1]}:{at}")
    assert found.exit_code == 1
    assert "written again" in found.stdout
    assert run("audit", "verify", "--anchor", "half of it").exit_code == 2


def test_a_broken_chain_is_found_with_exit_code_1(run: Run, settings: Settings) -> None:
    run("chat", "/say Hello.")
    assert run("audit", "verify").exit_code == 0
    connection = sqlite3.connect(settings.review_data / "ledger.sqlite")
    with connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute("UPDATE events SET by = 'eve' WHERE seq = 2")
    connection.close()
    found = run("audit", "verify")
    assert found.exit_code == 1
    assert "Event 2" in found.stdout
    examined = run("doctor")
    assert examined.exit_code == 1
    assert "FIX ledger" in examined.stdout


def test_data_is_erased_from_the_command_line_and_the_record_says_so(run: Run) -> None:
    run("chat", "/say Hello.", "--thread", "t-1")
    assert run("audit", "erase", "2", "--why", " ").exit_code == 1
    found = run("audit", "erase", "2", "--why", "asked for", "--by", "bea")
    assert (found.exit_code, found.stdout) == (0, "Erased the data of 1 event.\n")
    assert "The data of 1 is masked or erased." in run("audit", "verify").stdout
    exported = [json.loads(line) for line in run("audit", "export").stdout.splitlines()]
    assert "data" not in exported[1]
    assert (exported[-1]["by"], exported[-1]["data"]) == ("bea", {"seqs": [2], "why": "asked for"})


# An exported trail, anywhere


@pytest.fixture
def exported(run: Run, tmp_path: Path) -> Path:
    run(
        "chat",
        "/say my password is hunter2hunter2, token sk-proj-abcdefghijklmnop1234567890",
        "--thread",
        "t-1",
    )
    path = tmp_path / "trail.jsonl"
    assert run("audit", "export", "--output", str(path)).exit_code == 0
    return path


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From here on the command line is that of another console."""
    for name in ("data", "anchor", "key"):
        monkeypatch.setenv(f"REVIEW_{name.upper()}", str(tmp_path / "elsewhere" / name))


def edited(path: Path, number: int, **changes: Any) -> None:
    lines = path.read_text().splitlines()
    lines[number - 1] = json.dumps({**json.loads(lines[number - 1]), **changes})
    path.write_text("\n".join(lines) + "\n")


def test_an_exported_trail_is_verified_with_its_key_on_any_machine(
    run: Run, exported: Path, settings: Settings, elsewhere: None
) -> None:
    found = run("audit", "verify", str(exported), "--key", str(key_path(settings)))
    assert found.exit_code == 0
    assert "The chain holds." in found.stdout
    edited(exported, 2, by="mallory")
    found = run("audit", "verify", str(exported), "--key", str(key_path(settings)))
    assert (found.exit_code, "Event 2 was edited" in found.stdout) == (1, True)


def test_an_exported_trail_without_its_key_is_said_to_be_unchecked_and_is_no_success(
    run: Run, exported: Path, elsewhere: None
) -> None:
    run("chat", "/say Something of its own.")
    found = run("audit", "verify", str(exported))
    assert found.exit_code == 1
    assert "could not be checked without the key" in found.stdout
    assert "holds" not in found.stdout
    edited(exported, 1, data={"model": "another"})
    assert "Event 1 was edited" in run("audit", "verify", str(exported)).stdout


def test_masked_data_that_was_forged_in_an_exported_trail_is_found(run: Run, exported: Path) -> None:
    assert run("audit", "verify", str(exported)).exit_code == 0
    masked = [json.loads(line) for line in exported.read_text().splitlines() if "masked_data" in line]
    assert masked
    edited(exported, masked[0]["seq"], masked_data={"text": "I approve everything."})
    found = run("audit", "verify", str(exported))
    assert found.exit_code == 1
    assert "its masked data is not what its console exported" in found.stdout


def test_a_key_that_is_none_is_refused(run: Run, exported: Path, tmp_path: Path) -> None:
    (tmp_path / "no.key").write_bytes(b"short")
    assert run("audit", "verify", str(exported), "--key", str(tmp_path / "no.key")).exit_code == 2
    assert run("audit", "verify", str(tmp_path / "none.jsonl")).exit_code == 2


# The doctor


def test_a_key_that_others_can_read_is_found(run: Run, settings: Settings) -> None:
    run("chat", "/say Hello.")
    key_path(settings).chmod(0o644)
    assert "FIX key: PermissionError: others can read" in run("doctor").stdout


def test_anchors_that_cannot_be_read_are_found(run: Run, settings: Settings) -> None:
    run("chat", "/say Hello.")
    Path(str(settings.review_anchor)).write_bytes(b"\x00\x01\x02")
    found = run("doctor")
    assert "FIX anchors: " in found.stdout
    assert "FIX ledger: " in found.stdout


def test_a_whole_console_is_well(run: Run) -> None:
    run("chat", "/say Hello.")
    found = run("doctor", "--json")
    examined = json.loads(found.stdout)
    assert found.exit_code == 0, examined
    about = [one["about"] for one in examined["findings"]]
    before = ["python", "packages", "settings", "key", "anchors", "disk"]
    assert about == [*before, "ledger", "reviews", "world", "checkpoints", "agents", "model"]


def test_a_damaged_checkpoint_file_is_found_while_the_record_is_well(run: Run, settings: Settings) -> None:
    run("chat", "/say Hello.")
    path = settings.review_data / "checkpoints.sqlite"
    for extra in ("-wal", "-shm"):
        path.with_name(path.name + extra).unlink(missing_ok=True)
    path.write_bytes(b"nothing of a database" * 1_000)
    found = run("doctor")
    assert found.exit_code == 1
    assert "Traceback" not in found.output
    assert "FIX" in found.stdout


def test_a_policy_that_does_not_fit_is_found(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REVIEW_AGENTS", str(wrong_agents(tmp_path)))
    found = run("doctor")
    assert found.exit_code == 1
    assert "FIX agents: The policy does not fit the agent" in found.stdout


def test_a_model_that_cannot_be_reached_is_found(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"http://127.0.0.1:{free_port()}/v1"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    found = run("doctor")
    assert found.exit_code == 1
    assert f"FIX model: There is no connection to {address}" in found.stdout
    assert "sk-test" not in found.output


def test_wrong_settings_are_found(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEW_EXECUTE_BY", "soon")
    found = run("doctor")
    assert found.exit_code == 1
    assert "REVIEW_EXECUTE_BY" in found.stdout


# Beside a server, and as one


@pytest.mark.process
def test_a_second_process_decides_what_the_server_asked(server: Server) -> None:
    asked = server.post("chat", message=MAIL, thread_id="t-1").json()["pending_review"]["action_requests"]
    environment = {
        **os.environ,
        "REVIEW_DATA": str(server.data),
        "REVIEW_ANCHOR": str(server.data.parent / "anchors.jsonl"),
        "REVIEW_DEMO_DELAY": "0",
    }
    command = [sys.executable, "-m", "agent", "decide", "t-1", "approve", "--by", "bea", "--json"]
    command += ["--digest", asked[0]["shown_digest"]]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "idle"
    thread = server.get("threads/t-1")
    assert [(one["state"], one["decided_by"]) for one in thread["actions"]] == [("done", "bea")]
    assert server.get("audit/verify")["ok"]


@pytest.mark.process
def test_the_api_is_served_alone_and_only_to_this_machine(settings: Settings) -> None:
    port = free_port()
    environment = {
        **os.environ,
        "REVIEW_DATA": str(settings.review_data),
        "REVIEW_ANCHOR": str(settings.review_anchor),
        "REVIEW_DEMO_DELAY": "0",
    }
    command = [sys.executable, "-m", "agent", "serve-api", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE)
    try:
        url = f"http://127.0.0.1:{port}/hitl"
        until(lambda: process.poll() is not None or _answers(url))
        said: Any = httpx.post(f"{url}/chat", json={"message": MAIL, "thread_id": "t-1"}).json()
        assert said["status"] == "waiting"
        assert httpx.get(f"{url}/health", headers={"Host": "evil.example"}).status_code == 400
        slow = {"message": "/slow 600", "thread_id": "t-2"}
        assert httpx.post(f"{url}/chat", json=slow, headers={"Prefer": "respond-async"}).status_code == 202
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) is not None
    finally:
        process.kill()
        _, log = process.communicate()
    assert b"Traceback" not in log
    opened = open_console(settings, at_work=False)
    assert opened.console.queries.queue_length() == 1
    opened.close()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health").status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.process
def test_a_server_with_wrong_settings_says_so_and_ends_with_exit_code_2(settings: Settings) -> None:
    environment = {**os.environ, "REVIEW_DATA": str(settings.review_data), "REVIEW_APPROVE_BY": "soon"}
    command = [sys.executable, "-m", "agent", "serve-api", "--port", str(free_port())]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert "REVIEW_APPROVE_BY" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_console_that_only_looks_takes_nothing_over(opened: Opened, settings: Settings) -> None:
    thread_id = ask(opened.console, MAIL)
    before = opened.console.trail.whole()
    looking = open_console(settings, at_work=False)
    try:
        assert looking.console.queries.view(thread_id).thread.status == "waiting"
    finally:
        looking.close()
    assert list(opened.console.trail.whole()) == list(before)
