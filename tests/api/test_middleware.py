"""What never gets in: what is not JSON, what is too large or too deep. Nothing is stored."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from tests.api.conftest import Served

MESSAGE = {"message": "/say Hello.", "thread_id": "t-1"}
EVERY_POST = (
    *("chat", "review", "preview", "close", "settle", "stop", "retry", "ask-again"),
    *("rules", "preview-rule"),
)
EVERY_GET = (
    *("reviews", "threads/t-1", "audit", "audit/verify", "audit/anchor", "health", "rules"),
    *("openapi.json", "docs"),
)


def nothing_stored(served: Served) -> bool:
    return served.console.queries.threads() == [] and served.console.trail.events() == []


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_a_post_that_a_form_could_send_is_refused(served: Served, kind: str) -> None:
    body = b'{"message": "/say Hello.", "thread_id": "t-1"}'
    answer = served.client.post("/chat", content=body, headers={"Content-Type": kind} if kind else {})
    assert (answer.status_code, answer.json()["code"]) == (415, "NotJson")
    assert nothing_stored(served)


def test_json_with_a_charset_is_json(served: Served) -> None:
    body = b'{"message": "/say Hello.", "thread_id": "t-1"}'
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert served.client.post("/chat", content=body, headers=headers).status_code == 200


def test_no_get_changes_anything(served: Served) -> None:
    served.client.post("/chat", json=MESSAGE)
    before = (
        served.console.trail.events(),
        served.console.queries.threads(),
        served.console.queries.history("t-1"),
    )
    for path in EVERY_GET:
        assert served.client.get(f"/{path}").status_code == 200
    for path in set(EVERY_POST) - set(EVERY_GET):
        assert served.client.get(f"/{path}").status_code == 405
    assert (
        served.console.trail.events(),
        served.console.queries.threads(),
        served.console.queries.history("t-1"),
    ) == before


def test_a_body_over_the_limit_is_refused_whether_or_not_it_declares_its_length(served: Served) -> None:
    large = b'{"message": "' + b"a" * 4_000_000 + b'"}'
    kind = {"Content-Type": "application/json"}

    def pieces() -> Any:
        yield from (large[at : at + 65_536] for at in range(0, len(large), 65_536))

    for content in (large, pieces()):
        try:
            answer = served.client.post("/chat", content=content, headers=kind)
        except httpx.WriteError:  # it hung up before all of it was sent, which is its right
            continue
        assert (answer.status_code, answer.json()["code"]) == (413, "BodyTooLarge")
    assert nothing_stored(served)


LONG = "a" * 100_001


@pytest.mark.parametrize(
    "body",
    [
        {"message": LONG},
        {"message": ""},
        {"message": "hi", "thread_id": "a" * 129},
        {"message": "hi", "thread_id": "../../etc/passwd"},
        {"message": "hi", "thread_id": "a b"},
        {"message": "hi", "thread_id": "ü"},
        {"message": "hi", "thread_id": "a\n"},
        {"message": "hi", "thread_id": "."},
        {"message": "hi", "thread_id": ".."},
        {"message": "hi", "thread_id": "." * 128},
        {"message": "hi", "agent": "a" * 129},
        {"message": "hi", "model": ""},
        {"message": 1},
        {"message": None},
    ],
)
def test_what_is_too_long_or_no_id_is_refused(served: Served, body: Any) -> None:
    assert served.client.post("/chat", json=body).status_code == 422
    assert nothing_stored(served)


@pytest.mark.parametrize(
    "content",
    [
        b'{"message": ' + b"[" * 100_000,
        b'{"message": ' + b"[" * 121 + b"]" * 121 + b"}",
        b'{"message": "\\ud800", "thread_id": "t-1"}',
        b'{"message": "hi", "agent": "\\udfff"}',
        b'{"message": "hi", "message": "ho"}',
        b'{"message": "hi", "n": NaN}',
        b'{"message": "hi", "n": -Infinity}',
        b'{"message": "hi", "n": ' + b"9" * 5_000 + b"}",
        b'{"message": "hi"',
        b'{"message": "hi\xff"}',
        b"\xef\xbb\xbf{}",
        b"nonsense",
        b"",
    ],
)
def test_a_body_that_is_not_exact_json_is_refused(served: Served, content: bytes) -> None:
    answer = served.client.post("/chat", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"][0]["msg"]
    assert nothing_stored(served)


@pytest.mark.parametrize(
    "body",
    [
        '{"thread_id": "t-1", "decisions": [{"type": "approve"}], "review_id": "\\ud800"}',
        '{"thread_id": "t-1", "decisions": [{"type": "\\ud800"}]}',
        '{"thread_id": "t-1", "decisions": [{"type": "approve", "shown_digest": "\\ud800"}]}',
        '{"thread_id": "t-1", "decisions": [{"type": "edit", "edited_action": {"name": "\\ud800", "args": {}}}]}',
        '{"thread_id": "t-1", "decisions": [{"type": "edit", "edited_action": '
        '{"name": "send_email", "args": {"\\ud800": "\\ud800"}}}]}',
        '{"thread_id": "t-1", "decisions": [{"type": "reject", "message": "\\ud800"}]}',
        '{"thread_id": "t-1", "decisions": [{"type": "approve"}], "review_id": "' + "a" * 129 + '"}',
        '{"thread_id": "t-1", "decisions": [{"type": "edit", "edited_action": '
        '{"name": "send_email", "args": {"to": ' + "[" * 101 + "]" * 101 + "}}}]}",
    ],
)
def test_odd_text_and_depth_in_a_decision_are_refused_and_the_review_still_waits(
    served: Served, body: str
) -> None:
    served.chat('/call send_email {"to": "a@x.org", "subject": "s", "body": "b"}', thread_id="t-1")
    answer = served.client.post("/review", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422), answer.text
    assert answer.json()["detail"]
    assert served.get("/threads/t-1").json()["status"] == "waiting"


@pytest.mark.parametrize(
    "thread_id", ["..%2F..%2Fetc", "%2E%2E", "...", "a%00b", "a%20b", "%F0%9F%98%80", "a" * 129]
)
def test_a_thread_id_in_the_address_is_data(served: Served, thread_id: str) -> None:
    assert served.client.get(f"/threads/{thread_id}").status_code in (404, 422)


@pytest.mark.parametrize(
    "query", ["cursor=x", "cursor=%F0%9F", "limit=0", "limit=201", "thread_id=a%20b", "agent=" + "a" * 129]
)
def test_a_queue_query_of_another_shape_is_refused(served: Served, query: str) -> None:
    assert served.client.get(f"/reviews?{query}").status_code == 422


@pytest.mark.parametrize(
    "query",
    [
        "since=yesterday",
        "since=2030-01-01T00:00:00",
        "since=0001-01-01T00:00:00%2B14:00",
        "kind=Nothing",
        "cursor=-1",
    ],
)
def test_a_trail_query_of_another_shape_is_refused(served: Served, query: str) -> None:
    assert served.client.get(f"/audit?{query}").status_code == 422


NO_NAMES = (
    *("nobody", "NoBody", "no\u200bbody", "no body", "The Agent", "theagent", "ａｐｉ", "api"),
    *("", "\u200b", "\u3164", "an\u202ea", "a\x85b", "b" * 81, "李" * 81),
)


def test_a_name_that_no_person_may_act_under_is_refused_and_said_why(served: Served) -> None:
    for name in NO_NAMES:
        answer = served.client.post("/chat", json=MESSAGE, headers={b"X-Reviewer": name.encode()})
        assert answer.status_code == 422, name
        (fault,) = answer.json()["detail"]
        assert fault["loc"] == ["header", "X-Reviewer"]
        assert fault["msg"].endswith("."), name
    assert nothing_stored(served)


def test_a_name_may_have_any_letters_and_is_sent_as_utf_8(served: Served) -> None:
    for name in ("李" * 80, "Łucja", "O'Brien-Smith"):
        answer = served.client.post(
            "/chat", json={"message": "/say Hello."}, headers={b"X-Reviewer": name.encode()}
        )
        assert answer.status_code == 200
        assert served.console.trail.events(thread_id=answer.json()["thread_id"])[0].by == name


@pytest.mark.parametrize("path", ["/rules/a%0Ab", "/rules/%0A", "/a%0A"])
def test_an_address_with_a_line_break_is_the_apis_too(served: Served, path: str) -> None:
    answer = served.client.delete(path)
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/json")


def test_an_address_that_is_none_says_where_to_look(served: Served) -> None:
    answer = served.client.get("/nothing")
    assert (answer.status_code, answer.json()["code"]) == (404, "Http404")
    assert "/hitl/docs" in answer.json()["detail"]


def test_a_million_misfits_are_refused_shortly(served: Served) -> None:
    body = b'{"thread_id": "t-1", "decisions": [' + b"{}," * 1_000_000 + b"{}]}"
    answer = served.client.post("/review", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert len(answer.content) < 100_000


@pytest.mark.parametrize("body", [b'"\\' * 1_900_000, b'{"a": "' + b'\\"' * 1_900_000, b"[" * 3_900_000])
def test_no_body_takes_long_to_refuse(served: Served, body: bytes) -> None:
    started = time.process_time()
    answer = served.client.post("/chat", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert time.process_time() - started < 3
