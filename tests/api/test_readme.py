"""The tour in the API's README can be pasted as it is, against the real server."""

from __future__ import annotations

import os
import subprocess

import pytest

from agent.bootstrap import open_console
from tests.conftest import Server
from tests.documents import blocks, section
from tests.forked import ROOT
from tests.own_settings import OwnSettings

TOUR = ROOT / "agent" / "api" / "README.md"


def session() -> str:
    """The commands of the tour."""
    return "\n".join(blocks(section(TOUR, "The tour"), "sh"))


@pytest.mark.process
def test_the_session_runs_as_written(server: Server) -> None:
    environment = {**os.environ, "HITL": f"{server.url}/hitl"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", session()], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for part in ('"status":"waiting"', '"would_run"', '"DecisionMade"', '"by":"ana"', '"ok":true'):
        assert part in done.stdout, part
    for part in ("event: tool_started", "event: done", '"url":"/hitl/threads/tour-'):
        assert part in done.stdout, part
    server.stop()
    kept = OwnSettings(review_data=server.data, review_anchor=server.data.parent / "anchors.jsonl")
    opened = open_console(kept, at_work=False)
    try:
        assert [(mail.recipient, mail.body) for mail in opened.world.outbox()] == [
            ("alice@example.com", "The meeting moved to 11.")
        ]
    finally:
        opened.close()
