"""Many at once: sessions that watch live while API clients decide, and the memory of many turns."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx

from tests.bench import apps
from tests.bench.figures import Amount, Figure, most
from tests.bench.scale import Scale
from tests.bench.timing import p95
from tests.bench.turns import message
from tests.bench.watcher import Watcher
from tests.conftest import until

TURNS_OF_A_THREAD = 50


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    app = apps.console(folder / "load")
    with apps.running(app):
        _turns(app.url, "warm-up", scale.turns_of_each)
        alone = _turns(app.url, "alone", scale.turns_of_each)
        unseen = _many(app.url, scale.clients, scale.turns_of_each, "unseen")
        with ExitStack() as stack:
            watchers = [stack.enter_context(Watcher(app.port)) for _ in range(scale.sessions)]
            until(lambda: all(watcher.drawn for watcher in watchers), 120)
            drawn = sum(watcher.drawn for watcher in watchers)
            took = _many(app.url, scale.clients, scale.turns_of_each)
            until(lambda: sum(watcher.drawn for watcher in watchers) > drawn, 120)
        crowd = f"{scale.sessions} sessions watch, {scale.clients} clients decide"
        lost = scale.clients * scale.turns_of_each - _executed(app.url, "crowd-")
        yield Figure(f"{crowd}: decisions lost", Amount(lost, ""), most(0))
        yield Figure(f"{crowd}: p95 of a decision", _ms(p95(took)), most(5), "one client", _ms(p95(alone)))
        name = f"{scale.clients} clients decide, nobody watches: p95 of a decision"
        yield Figure(name, _ms(p95(unseen)), None, "one client", _ms(p95(alone)))
        yield _memory(app, scale)


def _turns(url: str, name: str, count: int) -> list[float]:
    """Turns of one client on one thread; the seconds from each decision to the agent's answer."""
    took = []
    with httpx.Client(base_url=f"{url}/hitl", timeout=120) as client:
        for number in range(count):
            thread_id = f"{name}-{number // TURNS_OF_A_THREAD}"
            asked = client.post(
                "/chat", json={"thread_id": thread_id, "message": message(number), "agent": "mail"}
            )
            assert asked.json()["status"] == "waiting", asked.text
            started = time.perf_counter()
            answered = client.post(
                "/review", json={"thread_id": thread_id, "decisions": [{"type": "approve"}]}
            )
            took.append(time.perf_counter() - started)
            assert answered.json()["status"] == "idle", answered.text
    return took


def _many(url: str, clients: int, turns: int, name: str = "crowd") -> list[float]:
    with ThreadPoolExecutor(clients) as pool:
        found = pool.map(lambda number: _turns(url, f"{name}-{number}", turns), range(clients))
        return [one for each in found for one in each]


def _executed(url: str, prefix: str) -> int:
    """How many actions of these threads stand in the record as decided, then run to their end."""
    found = 0
    cursor: int | None = 0
    while cursor is not None:
        query: dict[str, str | int] = {"kind": "ExecutionFinished", "limit": 1_000, "cursor": cursor}
        page = httpx.get(f"{url}/hitl/audit", params=query, timeout=60).json()
        found += sum(str(event["thread_id"]).startswith(prefix) for event in page["events"])
        cursor = page["next_cursor"]
    return found


def _memory(app: apps.App, scale: Scale) -> Figure:
    """The server's memory after a tenth of the turns, by when every cache is full, and after all of them."""
    first = max(1, scale.soak // 10 // scale.clients)
    rest = max(1, scale.soak * 9 // 10 // scale.clients)
    _many(app.url, scale.clients, first, "early")
    early = app.memory()
    _many(app.url, scale.clients, rest, "late")
    name = f"memory after {scale.soak:,} turns"
    return Figure(name, _mb(app.memory()), most(1.1), f"{scale.soak // 10:,} turns", _mb(early))


def _ms(duration: float) -> Amount:
    return Amount(duration * 1000, "ms")


def _mb(size: int) -> Amount:
    return Amount(size / 1e6, "MB")
