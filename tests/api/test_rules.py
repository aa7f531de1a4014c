"""Remembered rules over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.bootstrap import open_console
from agent.settings import Settings
from tests import defaulted_agent
from tests.api.conftest import Served
from tests.conftest import SetClock

ARGS = {"path": "notes/today.txt", "content": "x"}
MAKE: dict[str, Any] = {
    "thread_id": "t-1",
    "tool_call_id": "c1",
    "free": ["content"],
    "scope": "agent",
    "lasting": "today",
}


def write(served: Served, thread_id: str, **args: str) -> dict[str, Any]:
    text = "/call#c1 write_file " + json.dumps({**ARGS, **args})
    return served.chat(text, thread_id=thread_id, agent="operations")


def listed(served: Served, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = served.get("/rules", **query).json()["rules"]
    return found


@pytest.fixture
def rule(served: Served) -> dict[str, Any]:
    write(served, "t-1")
    answer = served.post("/rules", headers={"X-Reviewer": "ana"}, **MAKE)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_rule_is_made_used_and_listed(served: Served, rule: dict[str, Any]) -> None:
    answer = write(served, "t-2", content="other")
    assert answer["status"] == "idle"
    (action,) = served.get("/threads/t-2").json()["actions"]
    assert (action["state"], action["rule_id"]) == ("done", rule["rule_id"])
    (found,) = listed(served)
    assert found == {**rule, "uses": 1, "last_used_at": found["last_used_at"]}
    expected = {
        "agent": "operations",
        "tool": "write_file",
        "bound": {"path": "notes/today.txt"},
        "free": ["content"],
        "scope": "agent",
        "thread_id": None,
        "made_by": "ana",
        "made_at": "2030-01-01T12:00:00.000000Z",
        "expires_at": "2030-01-02T00:00:00.000000Z",
        "ended": None,
        "disabled": None,
    }
    assert {name: found[name] for name in expected} == expected


def test_rules_are_listed_by_agent(served: Served, rule: dict[str, Any]) -> None:
    assert listed(served, agent="mail") == []
    assert len(listed(served, agent="operations")) == 1


def test_the_narrowest_rule_is_the_one_that_is_made_unasked(served: Served) -> None:
    write(served, "t-1")
    made = served.post("/rules", thread_id="t-1", tool_call_id="c1").json()
    assert (made["bound"], made["free"], made["scope"], made["thread_id"]) == (ARGS, [], "thread", "t-1")
    assert made["expires_at"] == "2030-01-01T12:15:00.000000Z"


def test_it_is_foreseen_what_a_rule_would_have_allowed_and_nothing_is_made(served: Served) -> None:
    write(served, "t-1")
    write(served, "t-2", path="Notes/today.txt")
    found = served.post("/preview-rule", **MAKE).json()
    assert found["looked_at"] == 2
    assert [one["thread_id"] for one in found["matches"]] == ["t-1"]
    (missed,) = found["near_misses"]
    assert missed["differences"] == [{"subject": "path", "why": "has another value"}]
    assert listed(served) == []


def test_a_revoked_rule_has_ended_and_cannot_be_revoked_again(served: Served, rule: dict[str, Any]) -> None:
    ended = served.client.delete(f"/rules/{rule['rule_id']}", headers={"X-Reviewer": "bob"})
    assert (ended.status_code, ended.json()["ended"], ended.json()["ended_by"]) == (200, "revoked", "bob")
    assert write(served, "t-2")["status"] == "waiting"
    again = served.client.delete(f"/rules/{rule['rule_id']}")
    assert (again.status_code, again.json()["code"]) == (409, "RuleOver")


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"thread_id": "t-9"}, 404, "UnknownThread"),
        ({"tool_call_id": "c9"}, 400, "RuleRefused"),
        ({"free": ["path", "content"]}, 400, "RuleRefused"),
        ({"shown_digest": "another"}, 409, "ReviewChanged"),
        ({"lasting": "for ever"}, 422, "InvalidRequest"),
        ({"scope": "everybody"}, 422, "InvalidRequest"),
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/rules", "/preview-rule"])
def test_what_is_no_rule_is_refused(
    served: Served, path: str, changes: dict[str, Any], status: int, code: str
) -> None:
    write(served, "t-1")
    answer = served.post(path, **{**MAKE, **changes})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert listed(served) == []


@pytest.fixture
def defaulted(agents_file: Path) -> None:
    defaulted_agent.serve(agents_file)


@pytest.mark.usefixtures("defaulted")  # before the console is opened
def test_a_default_nobody_gave_is_not_enough_to_bind_a_rule(settings: Settings, clock: SetClock) -> None:
    opened = open_console(settings, clock=clock)
    served = Served(opened).start()
    try:
        asked = served.chat('/call#c1 file_note {"text": "x"}', thread_id="t-1")
        (request,) = asked["pending_review"]["action_requests"]
        assert (request["args"], request["received"]) == ({"text": "x"}, {"text": "x", "folder": "inbox"})
        made: dict[str, Any] = {"thread_id": "t-1", "tool_call_id": "c1"}
        for path in ("/preview-rule", "/rules"):
            refused = served.post(path, **made, free=["text"])
            assert (refused.status_code, refused.json()["code"]) == (400, "RuleRefused")
            assert refused.json()["detail"].endswith("Leave at least one as it is: text.")
        assert served.post("/rules", **made, free=["folder"]).json()["bound"] == {"text": "x"}
    finally:
        served.stop()
        opened.close()


def test_a_rule_there_is_none_of_is_not_found(served: Served) -> None:
    assert served.client.delete("/rules/none").status_code == 404


def test_a_page_of_another_origin_cannot_revoke(served: Served, rule: dict[str, Any]) -> None:
    headers = {"Origin": "https://evil.example"}
    answer = served.client.delete(f"/rules/{rule['rule_id']}", headers=headers)
    assert (answer.status_code, listed(served)[0]["ended"]) == (403, None)


def test_a_delete_with_a_body_that_is_not_json_is_refused(served: Served, rule: dict[str, Any]) -> None:
    request = httpx.Request(
        "DELETE",
        f"{served.url}/rules/{rule['rule_id']}",
        content=b"x",
        headers={"Content-Type": "text/plain"},
    )
    assert served.client.send(request).status_code == 415
