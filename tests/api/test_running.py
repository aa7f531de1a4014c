"""Waiting for a run, leaving it alone, following it: none of these changes what the run does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx
import pytest

from tests.api.conftest import Served
from tests.conftest import until

MAIL = '/call#c1 send_email {"to": "alice@example.com", "subject": "Meeting", "body": "At 10."}'
NOW = "2030-01-01T12:00:00.000000Z"
STREAM = {"Accept": "text/event-stream"}
LATER = {"Prefer": "respond-async"}
Told = list[tuple[str, dict[str, Any]]]


def events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of a stream, as a client reads them."""
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def followed(served: Served, path: str, **body: Any) -> Told:
    with served.client.stream("POST", path, json=body, headers=STREAM) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        return list(events(answer.iter_lines()))


def names(told: Told) -> list[str]:
    """The events' names, repeated ones once."""
    found: list[str] = []
    for name, _ in told:
        if not found or found[-1] != name:
            found.append(name)
    return found


def words(told: Told) -> str:
    return "".join(data["text"] for name, data in told if name == "token")


# 202


def test_a_caller_who_does_not_wait_gets_the_threads_address(served: Served) -> None:
    answer = served.post("/chat", headers=LATER, message="/say Hello.", thread_id="t-1")
    assert answer.status_code == 202
    assert answer.headers["location"] == answer.json()["url"] == "/hitl/threads/t-1"
    assert answer.headers["preference-applied"] == "respond-async"
    assert answer.json()["status"] == "running"
    at = f"http://{served.host}{answer.headers['location']}"
    until(lambda: served.client.get(at).json()["status"] == "idle")
    assert served.client.get(at).json()["answer"] == "Hello."


def test_a_decision_need_not_be_waited_for(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    answer = served.post("/review", headers=LATER, thread_id="t-1", decisions=[{"type": "approve"}])
    assert answer.status_code == 202
    until(lambda: served.get("/threads/t-1").json()["status"] == "idle")
    assert len(served.opened.world.outbox()) == 1


def test_what_is_refused_is_refused_at_once_whatever_was_preferred(served: Served) -> None:
    for headers in (LATER, STREAM):
        answer = served.post("/review", headers=headers, thread_id="nobody", decisions=[{"type": "approve"}])
        assert (answer.status_code, answer.json()["code"]) == (400, "NoPendingReview")


# Streams


def test_an_answer_is_streamed_word_by_word_and_ends_with_the_json_answer(served: Served) -> None:
    told = followed(served, "/chat", message="/say Good morning to you.", thread_id="t-1")
    assert names(told) == ["token", "answer", "done"]
    assert words(told) == "Good morning to you."
    assert told[-2][1] == {"answer": "Good morning to you."}
    done = told[-1][1]
    assert done == {key: served.get("/threads/t-1").json()[key] for key in done}


def test_tools_are_told_in_the_order_they_ran_between_the_words_around_them(served: Served) -> None:
    message = (
        '/say Looking.\n/call#s1 search_mail {"text": "rent"}\n/call#s2 search_mail {"text": "tea"}\n'
        "/then\n/say Found it."
    )
    told = followed(served, "/chat", message=message)
    assert names(told) == [
        *("token", "tool_started", "tool_finished", "tool_started", "tool_finished"),
        *("token", "answer", "done"),
    ]
    assert words(told) == "Looking.Found it."
    moved = [(name, data["tool_call_id"]) for name, data in told if name.startswith("tool_")]
    assert moved == [(f"tool_{what}", call) for call in ("s1", "s2") for what in ("started", "finished")]
    assert all(data["status"] == "success" for name, data in told if name == "tool_finished")


def test_a_stream_ends_at_the_review_and_goes_on_with_the_decision(served: Served) -> None:
    told = followed(
        served, "/chat", message=f"/say I will write.\n{MAIL}\n/then\n/say Sent.", thread_id="t-1"
    )
    assert names(told) == ["token", "review", "done"]
    assert told[-2][1] == told[-1][1]["pending_review"]
    after = followed(served, "/review", thread_id="t-1", decisions=[{"type": "approve"}])
    assert names(after) == ["tool_started", "tool_finished", "token", "answer", "done"]
    assert words(after) == "Sent."


def test_a_failure_is_an_event_with_its_reason(served: Served) -> None:
    told = followed(served, "/chat", message="/fail")
    assert names(told) == ["error", "done"]
    assert told[0][1]["code"] == "RunFailed"
    assert "told to fail" in told[0][1]["detail"]
    assert told[-1][1]["status"] == "failed"


def test_the_same_words_twice_are_told_twice(served: Served) -> None:
    message = '/say Same.\n/call search_mail {"text": "rent"}\n/then\n/say Same.'
    assert words(followed(served, "/chat", message=message)) == "Same.Same."


def test_only_this_runs_words_are_told(served: Served) -> None:
    served.chat("/say Before.", thread_id="t-1")
    assert words(followed(served, "/chat", message="/say After.", thread_id="t-1")) == "After."


@pytest.mark.parametrize("path", ["close", "retry"])
def test_every_post_that_starts_a_run_can_be_followed(served: Served, path: str) -> None:
    served.chat(MAIL if path == "close" else "/fail once\n/say Well.", thread_id="t-1")
    told = followed(served, f"/{path}", thread_id="t-1")
    assert told[-1][0] == "done"
    assert told[-1][1]["status"] == "idle"


# Clients that go away, and many that wait


HELD = '/call#h1 archive_mail {"message_id": "m-1"}\n/then\n/say All done.'


def test_a_client_that_hangs_up_stops_nothing(served: Served, held: threading.Event) -> None:
    body = {"message": HELD, "agent": "cases"}
    with served.client.stream("POST", "/chat", json={**body, "thread_id": "a"}, headers=STREAM) as answer:
        assert next(events(answer.iter_lines()))[0] == "tool_started"
    with pytest.raises(httpx.ReadTimeout):
        served.client.post("/chat", json={**body, "thread_id": "b"}, timeout=0.5)
    held.set()
    for thread_id in ("a", "b"):
        until(partial(is_done, served, thread_id))


def is_done(served: Served, thread_id: str) -> bool:
    return bool(served.get(f"/threads/{thread_id}").json()["answer"] == "All done.")


def test_many_waiting_posts_hold_up_no_other_request(served: Served, held: threading.Event) -> None:
    many = 60  # the pool that other requests use has 40 threads
    with ThreadPoolExecutor(many) as pool:
        posts = [pool.submit(served.chat, HELD, thread_id=f"t-{n}", agent="cases") for n in range(many)]
        until(lambda: served.get("/health").json()["runs"] == many)
        assert served.get("/threads/t-0").json()["status"] == "running"
        assert not any(post.done() for post in posts)
        held.set()
        assert {post.result(60)["answer"] for post in posts} == {"All done."}


def test_one_of_two_decisions_at_the_same_instant_wins_and_the_other_is_told_by_whom(served: Served) -> None:
    waiting_review = served.chat(MAIL, thread_id="t-1")["pending_review"]["review_id"]
    body = {"thread_id": "t-1", "review_id": waiting_review, "decisions": [{"type": "approve"}]}

    def decide(name: str) -> httpx.Response:
        return httpx.post(f"{served.url}/review", json=body, headers={"X-Reviewer": name}, timeout=60)

    people = [f"reviewer-{n}" for n in range(8)]
    with ThreadPoolExecutor(len(people)) as pool:
        answers = dict(zip(people, pool.map(decide, people), strict=True))
    (winner,) = [name for name, answer in answers.items() if answer.status_code == 200]
    lost = [answer.json() for name, answer in answers.items() if name != winner]
    assert {answer["code"] for answer in lost} <= {"AlreadyDecided", "ThreadBusy"}
    assert {(answer["by"], answer["what"], answer["at"]) for answer in lost} == {(winner, "approve", NOW)}
    assert len(served.opened.world.outbox()) == 1


def test_whoever_is_late_while_the_winners_run_goes_on_is_told_by_whom(
    served: Served, held: threading.Event
) -> None:
    call = '/call#c1 send_email {"to": "a@x.org", "subject": "s", "body": "b"}'
    served.chat(call, thread_id="t-1", agent="cases")
    served.look("t-1", by="bea")
    body: dict[str, Any] = {"thread_id": "t-1", "decisions": [{"type": "approve"}]}
    served.post("/review", headers={**LATER, "X-Reviewer": "bea"}, **body)
    late = served.post("/review", **body)
    assert (late.status_code, late.json()["code"]) == (409, "ThreadBusy")
    assert (late.json()["by"], late.json()["what"], late.json()["at"]) == ("bea", "approve", NOW)
    assert "bea" in late.json()["detail"]
