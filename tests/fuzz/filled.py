"""A data folder that real runs have filled, with a thread or more in every state, and copies of it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import patch

from agent.bootstrap import Opened, open_console
from agent.console import Console
from agent.engine.guard import Stop
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import ask, decide, start_deciding, until, waiting
from tests.console.test_other_clients import Client
from tests.engine import external_agents
from tests.engine.test_external import THREAD as STUCK
from tests.engine.test_external import call
from tests.own_settings import OwnSettings

LETTER = {"to": "alice@example.com", "subject": "Meeting", "body": "At 10."}
MAIL = f"/say It is about Monday.\n/call send_email {json.dumps(LETTER)}"
WRITE = '/call write_file {"path": "a.txt", "content": "x"}'
APPROVE = {"type": "approve"}
NAMES = ("mail", "operations", "library")


def settings_in(folder: Path) -> Settings:
    """The settings of a console that keeps everything in this folder."""
    return OwnSettings(
        review_data=folder / "data",
        review_agents=folder / "langgraph.json",
        review_anchor=folder / "anchors.jsonl",
        review_key=folder / "anchors.jsonl.key",
        review_demo_delay=0,
        review_reviewer="ana",
    )


def fill(folder: Path) -> None:
    """Let a console work in the folder until it holds a thread in every state."""
    own = {name: f"./agent/bootstrap.py:{name}" for name in NAMES}
    graphs = {**own, "batched": "./tests/engine/external_agents.py:batched"}
    (folder / "langgraph.json").write_text(json.dumps({"graphs": graphs}))
    external_agents.EFFECTS.append(folder / "effects")
    opened = open_console(settings_in(folder))
    try:
        _decided(opened.console)
        _remembered(opened.console)
        _unknown(opened)
        _stuck(opened)
        _over(opened.console)
        _waiting(opened.console)
    finally:
        opened.close()
        external_agents.EFFECTS.pop()
    for name in ("ledger", "checkpoints", "world"):  # so that a copy is one file each
        with closing(sqlite3.connect(folder / "data" / f"{name}.sqlite")) as conn:
            conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _decided(console: Console) -> None:
    edited = {"name": "send_email", "args": {**LETTER, "to": "bob@example.com"}}
    for name, one in {
        "approved": APPROVE,
        "edited": {"type": "edit", "edited_action": edited},
        "rejected": {"type": "reject", "message": "not him"},
    }.items():
        decide(console, ask(console, MAIL, thread_id=name), one)
    question = '/call ask_user {"question": "Which?"}'
    decide(
        console,
        ask(console, question, agent="operations", thread_id="answered"),
        {"type": "respond", "message": "This."},
    )


def _remembered(console: Console) -> None:
    thread_id = ask(console, WRITE, agent="operations", thread_id="remembered")
    (action,) = waiting(console, thread_id).actions
    console.rules.make(
        thread_id, action.key.tool_call_id, free=["content"], scope="agent", lasting="15 minutes", by="ana"
    )
    decide(console, thread_id, APPROVE)
    ask(console, WRITE, agent="operations", thread_id="by-rule")


def _unknown(opened: Opened) -> None:
    def cut_off(*_: object) -> None:
        raise Stop("the line went dead")

    thread_id = ask(opened.console, MAIL, thread_id="unknown")
    with patch.object(opened.world, "send", cut_off):
        assert opened.console.wait(start_deciding(opened.console, thread_id, [APPROVE], by="ana"), 30)


def _stuck(opened: Opened) -> None:
    ask(opened.console, call("a", "send", to="a"), agent="batched", thread_id=STUCK)
    client = Client(opened.settings, external_agents.batched)
    client.answer({"decisions": []})
    client.close()
    until(lambda: opened.console.queries.view(STUCK).thread.status is Status.STUCK)


def _over(console: Console) -> None:
    ask(console, "/fail", thread_id="failed")
    ask(console, '/call no_such_tool {"a": 1}\n/call send_email {"to": 7}', thread_id="refused")
    ask(console, '/call read_file {"path": "nowhere.txt"}', agent="operations", thread_id="tool-failed")
    ask(console, '/call archive_mail {"message_id": "m-2"}', thread_id="logged")
    closed = ask(console, MAIL, thread_id="closed")
    assert console.wait(console.close(closed, by="ana"), 30)
    archived = ask(console, "/say Hello.", thread_id="archived")
    console.notes.add(archived, by="ben", verdict="fail", text="Wrong.", link="https://tracker.example/1")
    console.notes.add("approved", by="ben", verdict="pass")
    console.archive(archived, by="ana")


def _waiting(console: Console) -> None:
    for number in range(3):
        review = waiting(console, ask(console, MAIL, thread_id=f"waits-{number}"))
        console.given.shown(review.review_id, to="ana")
        console.keep_draft(review.review_id, "ana", json.dumps({"choices": {}, "at": 0}))
    both = f'{MAIL}\n/call archive_mail {{"message_id": "m-1"}}'
    console.given.give([waiting(console, ask(console, both, thread_id="waits-both"))], to="ana", face="http")


@contextmanager
def copied(filled: Path, folder: Path) -> Iterator[Path]:
    """A copy of the filled folder, taken away in the end."""
    shutil.copytree(filled, folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
