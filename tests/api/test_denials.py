"""What the policy has come to deny while it waited, over HTTP."""

from __future__ import annotations

import json
from pathlib import Path

from agent.bootstrap import open_console
from agent.settings import Settings
from tests import tightened_agents
from tests.api.conftest import Served
from tests.conftest import SetClock

WRITE = "/call#a write_file " + json.dumps({"path": "notes/a.txt", "content": "x"})
REASON = "The policy now denies this tool. The files are being moved."


def test_it_says_so_and_cannot_be_approved_but_rejected(
    settings: Settings, agents_file: Path, clock: SetClock
) -> None:
    tightened_agents.serve(agents_file, "as_it_was")
    before = open_console(settings, clock=clock)
    served = Served(before).start()
    asked = served.chat(WRITE, thread_id="t-1")["pending_review"]
    served.stop()
    before.close()
    assert "denied" not in asked["action_requests"][0]

    tightened_agents.serve(agents_file, "denied")
    after = open_console(settings, clock=clock)
    served = Served(after).start()
    try:
        (queued,) = served.get("/reviews").json()["reviews"]
        waiting = served.get("/threads/t-1").json()["pending_review"]
        assert queued["pending_review"] == waiting
        assert waiting["action_requests"] == [{**asked["action_requests"][0], "denied": REASON}]

        for path in ("/preview", "/review"):
            refused = served.post(path, thread_id="t-1", decisions=[{"type": "approve"}])
            assert (refused.status_code, refused.json()["code"]) == (400, "InvalidDecision")
            assert REASON in refused.json()["detail"]
        other = served.post("/review", thread_id="t-1", review_id="r", decisions=[{"type": "reject"}])
        assert other.json()["pending_review"] == waiting

        rejected = served.post("/review", thread_id="t-1", decisions=[{"type": "reject"}])
        assert (rejected.status_code, rejected.json()["status"]) == (200, "idle")
    finally:
        served.stop()
        after.close()
