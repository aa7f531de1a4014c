"""Over HTTP, decisions that name nothing mean what the last answer to the same reviewer showed of the thread."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import httpx
import pytest

from agent.settings import Settings
from tests.api.conftest import Served

MAIL = '/call#c1 send_email {"to": "alice@example.com", "subject": "Meeting", "body": "At 10."}'
BEA = {"X-Reviewer": "bea"}
APPROVE = [{"type": "approve"}]
STREAM = {"Accept": "text/event-stream"}


def chat(served: Served, **headers: str) -> httpx.Response:
    return served.post("/chat", headers={**BEA, **headers}, message=MAIL, thread_id="t-1")


def through_chat(served: Served) -> None:
    chat(served)


def through_the_stream(served: Served) -> None:
    assert "event: review" in chat(served, **STREAM).text


def through_the_thread(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    served.look("t-1", by="bea")


def through_the_queue(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    assert served.client.get("/reviews", headers=BEA).json()["reviews"]


def through_a_preview(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    assert served.post("/preview", headers=BEA, thread_id="t-1", decisions=APPROVE).status_code == 200


def through_ask_again(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    served.post("/close", thread_id="t-1")
    assert served.post("/ask-again", headers=BEA, thread_id="t-1").json()["pending_review"]


@pytest.mark.parametrize(
    "look",
    [
        through_chat,
        through_the_stream,
        through_the_thread,
        through_the_queue,
        through_a_preview,
        through_ask_again,
    ],
)
def test_every_answer_with_a_review_gives_it(served: Served, look: Any) -> None:
    look(served)
    refused = served.post("/review", thread_id="t-1", decisions=APPROVE, headers={"X-Reviewer": "cleo"})
    assert (refused.status_code, refused.json()["code"]) == (409, "ReviewChanged")
    decided = served.post("/review", thread_id="t-1", decisions=APPROVE, headers=BEA)
    assert decided.status_code == 200, decided.text
    assert [mail.recipient for mail in served.opened.world.outbox()] == ["alice@example.com"]


def test_an_answer_without_a_review_gives_nothing(served: Served) -> None:
    chat(served, Prefer="respond-async")
    started = served.console.queries.current_run("t-1")
    assert started is None or served.console.wait(started, 30)
    assert served.post("/review", headers=BEA, thread_id="t-1", decisions=APPROVE).status_code == 409
    assert not served.opened.world.outbox()


def test_the_refusal_has_the_whole_review_and_what_it_has_decides(served: Served) -> None:
    asked = served.chat(MAIL, thread_id="t-1")["pending_review"]
    refused = served.post("/review", headers=BEA, thread_id="t-1", decisions=APPROVE).json()
    assert refused["pending_review"] == asked
    shown = refused["pending_review"]["action_requests"][0]["shown_digest"]
    decisions = [{"type": "approve", "shown_digest": shown}]
    assert served.post("/review", headers=BEA, thread_id="t-1", decisions=decisions).status_code == 200


def test_a_stale_digest_is_answered_with_the_review_as_it_is(served: Served) -> None:
    asked = served.chat(MAIL, thread_id="t-1")["pending_review"]
    stale = [{"type": "approve", "shown_digest": "0" * 64}]
    assert served.post("/review", thread_id="t-1", decisions=stale).json()["pending_review"] == asked


def test_who_names_nobody_is_one_reviewer(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    assert served.post("/review", thread_id="t-1", decisions=APPROVE).status_code == 200


def test_a_changed_record_is_shown_nowhere_and_only_closed(served: Served, settings: Settings) -> None:
    shown = served.chat(MAIL, thread_id="t-1")["pending_review"]["action_requests"][0]["shown_digest"]
    with closing(sqlite3.connect(settings.review_data / "ledger.sqlite")) as conn, conn:
        conn.execute(
            "UPDATE actions SET args = ?", (json.dumps({"to": "eve@x.org", "subject": "", "body": ""}),)
        )
    answers = [served.get("/threads/t-1"), served.get("/reviews")]
    decisions = [{"type": "approve", "shown_digest": shown}]
    answers += [served.post(path, thread_id="t-1", decisions=decisions) for path in ("/preview", "/review")]
    assert [one.status_code for one in answers] == [200, 200, 409, 409]
    assert {one.json()["code"] for one in answers[2:]} == {"RecordDamaged"}
    waiting = answers[0].json()["pending_review"]
    assert waiting["review_configs"] == [{"action_name": "send_email", "allowed_decisions": []}]
    assert waiting["action_requests"][0]["args"] is None
    assert answers[1].json()["reviews"][0]["pending_review"] == waiting == answers[3].json()["pending_review"]
    assert answers[0].json()["actions"][0]["args"] is None
    assert served.post("/close", thread_id="t-1").json()["status"] == "idle"
    assert not served.opened.world.outbox()
