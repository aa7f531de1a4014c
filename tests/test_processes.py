"""The real server, killed and started again, and two of them on one folder: nothing lost, nothing twice."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.demos.world import World
from tests.conftest import Server, until

pytestmark = pytest.mark.process

THREAD = "t-1"
APPROVE = {"type": "approve"}


def mail(name: str, to: str = "a@x.org") -> str:
    return f"/call#{name} send_email " + json.dumps({"to": to, "subject": "s", "body": "b"})


def sent(server: Server) -> list[str]:
    world = World(server.data / "world.sqlite")
    try:
        return [one.recipient for one in world.outbox()]
    finally:
        world.close()


def state(server: Server, thread_id: str = THREAD) -> dict[str, str]:
    return {a["tool_call_id"]: a["state"] for a in server.get(f"threads/{thread_id}")["actions"]}


def status(server: Server, thread_id: str = THREAD) -> str:
    return str(server.get(f"threads/{thread_id}")["status"])


def ask(server: Server, text: str, thread_id: str = THREAD) -> Any:
    answer = server.post("chat", message=text, thread_id=thread_id)
    assert answer.status_code == 200, answer.text
    return answer.json()


@contextmanager
def world_held(server: Server) -> Iterator[None]:
    """Keep every tool with an effect waiting in its first write, for as long as its patience lasts."""
    with closing(sqlite3.connect(server.data / "world.sqlite", isolation_level=None)) as conn:
        conn.execute("BEGIN IMMEDIATE")
        yield
        conn.execute("ROLLBACK")


def in_the_background(work: Callable[[], Any]) -> threading.Thread:
    """A request whose answer nobody waits for, because its server may die under it."""

    def ask_and_forget() -> None:
        with suppress(httpx.TransportError):
            work()

    thread = threading.Thread(target=ask_and_forget)
    thread.start()
    return thread


def executing(server: Server) -> bool:
    """Read past the server, which is about to be killed."""
    with closing(sqlite3.connect(server.data / "ledger.sqlite")) as conn:
        return bool(conn.execute("SELECT 1 FROM actions WHERE state = 'executing'").fetchall())


def kill_inside_the_tool(server: Server) -> None:
    with world_held(server):
        deciding = in_the_background(lambda: server.post("review", thread_id=THREAD, decisions=[APPROVE]))
        until(lambda: executing(server))
        server.kill()
    deciding.join(30)


def test_a_review_survives_the_death_of_its_server_and_is_decided_once(server: Server) -> None:
    review = ask(server, mail("a"))["pending_review"]
    server.kill()
    server.start()
    assert server.get(f"threads/{THREAD}")["pending_review"] == review
    answers = [server.post("review", thread_id=THREAD, decisions=[APPROVE]) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 400]
    assert sent(server) == ["a@x.org"]


def test_a_tool_cut_off_by_a_death_is_unknown_until_a_person_settles_it(server: Server) -> None:
    ask(server, mail("a"))
    kill_inside_the_tool(server)
    server.start()
    assert (state(server), status(server)) == ({"a": "unknown"}, "unknown_outcome")
    refused = server.post("chat", message="/say hi", thread_id=THREAD)
    assert (refused.status_code, refused.json()["code"]) == (409, "OutcomeUnknown")
    assert sent(server) == []
    assert server.get("audit", kind="OutcomeUnknown")["events"][0]["tool_call_id"] == "a"


def test_a_decision_is_carried_out_once_whenever_the_server_dies_behind_it(server: Server) -> None:
    ask(server, mail("a"))
    with world_held(server):
        # The lock keeps the run from coming further than its decision, or its tool's first line.
        deciding = in_the_background(lambda: server.post("review", thread_id=THREAD, decisions=[APPROVE]))
        until(lambda: decided(server))
        server.kill()
    deciding.join(30)
    server.start()
    until(lambda: status(server) != "running")
    expected = {("idle", "done"): ["a@x.org"], ("unknown_outcome", "unknown"): []}
    assert sent(server) == expected[status(server), state(server)["a"]]


def decided(server: Server) -> bool:
    with closing(sqlite3.connect(server.data / "ledger.sqlite")) as conn:
        return bool(conn.execute("SELECT 1 FROM reviews WHERE state = 'decided'").fetchall())


def open_runs(data: Path) -> list[Any]:
    with closing(sqlite3.connect(data / "ledger.sqlite")) as conn:
        conn.row_factory = sqlite3.Row
        return conn.execute("SELECT * FROM runs WHERE state = 'open'").fetchall()


def test_two_servers_share_one_folder_and_one_outlives_the_other(server: Server) -> None:
    other = Server(server.data).start()
    try:
        both_decide(server, other)
        one_asks_and_the_other_decides(server, other)
        one_dies_and_the_other_goes_on(server, other)
    finally:
        other.stop()


def both_decide(server: Server, other: Server) -> None:
    for number in range(5):
        thread_id = f"t-{number}"
        review_id = ask(server, mail("a", f"{number}@x.org"), thread_id)["pending_review"]["review_id"]
        body = {"thread_id": thread_id, "decisions": [APPROVE], "review_id": review_id}
        with ThreadPoolExecutor() as pool:
            posts = [pool.submit(one.post, "review", **body) for one in (server, other)]
        assert sorted(post.result().status_code for post in posts) == [200, 409]
        assert status(other, thread_id) == "idle"
    assert sent(server) == [f"{number}@x.org" for number in range(5)]


def one_asks_and_the_other_decides(server: Server, other: Server) -> None:
    ask(server, mail("a"), "shared")
    answer = other.post("review", thread_id="shared", decisions=[APPROVE]).json()
    assert answer["status"] == "idle"


def one_dies_and_the_other_goes_on(server: Server, other: Server) -> None:
    asking = in_the_background(lambda: ask(server, "/slow 600", "slow"))
    (before,) = until(lambda: open_runs(server.data))
    server.kill()
    asking.join(30)
    until(lambda: open_runs(server.data)[0]["owner"] != before["owner"])
    assert other.post("chat", message="/say hi", thread_id="slow").json()["code"] == "ThreadBusy"


def test_a_server_asked_to_end_in_the_middle_of_a_run_leaves_it_to_the_next(server: Server) -> None:
    waiting = in_the_background(lambda: ask(server, "/slow 2\n/say slowly"))
    until(lambda: open_runs(server.data))
    server.end()
    waiting.join(30)
    assert len(open_runs(server.data)) == 1
    server.start()
    until(lambda: status(server) == "idle")
    assert server.get(f"threads/{THREAD}")["messages"][-1]["content"] == "slowly"
