"""Servers as processes on one folder, driven over HTTP, and the world as it really is."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import httpx

from agent.bootstrap import open_console
from agent.settings import Settings
from tests.conftest import free_port, until
from tests.faults.orders import Order, Orders
from tests.faults.own_clock import UnderOwnClock
from tests.faults.server import Start, serve
from tests.forked import ROOT, processes
from tests.own_settings import OwnSettings

PATIENCE = 120.0
"""Seconds. Bounds only what would never end; the machine may be busy with other things."""


class Fault(AssertionError):
    """A promise that was not kept."""


class LostDecision(Fault):
    """Something was decided, and it is not on record or was not carried out."""


class DoubleEffect(Fault):
    """Something took effect twice, or without having been approved."""


class FalseNotExecuted(Fault):
    """It is told that something did not happen which did, or the reverse."""


@dataclass(frozen=True)
class Reply:
    status: int
    body: Any

    @property
    def taken(self) -> bool:
        """Whether the server promised to do it."""
        return self.status in (200, 202)


class Server:
    """One server process on the bench's folder; it can be started again after its end."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name, self._folder = name, folder
        self.orders = Orders(folder / f"{name}.orders")
        self.log = folder / f"{name}.log"
        self.port = free_port()
        self._given = 0
        self._process: Any = None
        self._client: httpx.Client | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hitl"

    @property
    def pid(self) -> int:
        return int(self._process.pid)

    def order(self, **what: Any) -> Order:
        """Give an order in the place of the one that stood."""
        self._given += 1
        order = Order(number=self._given, **what)
        self.orders.give(order)
        return order

    def reached(self) -> bool:
        """Whether it came to the moment of the order that stands."""
        return self.orders.reached(self._given)

    def launch(self, clock: int = 0) -> Server:
        """Start the process, with its own clock ahead by so many seconds, and do not wait for it."""
        environment = {
            "REVIEW_DATA": str(self._folder / "data"),
            "REVIEW_ANCHOR": str(self._folder / "anchors.jsonl"),
            "REVIEW_AGENTS": str(ROOT / "langgraph.json"),
            "REVIEW_DEMO_DELAY": "0",
            "REVIEW_REVIEWER": "ana",
            "REVIEW_APPROVE_BY": "24h",
            "OPENAI_API_KEY": "",
        }
        self._release()
        self.port = free_port()
        start = Start(self.port, environment, self._folder / f"{self.name}.orders", self.log)
        if clock:
            self._process = UnderOwnClock(start, clock)
        else:
            self._process = processes().Process(target=serve, args=(start,), daemon=True)
            self._process.start()
        self._client = httpx.Client(base_url=self.url, timeout=PATIENCE, trust_env=False, verify=False)
        return self

    def start(self, clock: int = 0) -> Server:
        self.launch(clock)
        until(self._answers, PATIENCE)
        return self

    def _answers(self) -> bool:
        assert self.alive, self.log.read_text()[-3_000:]
        found = self.get("health")
        return found is not None and found.status == 200

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.is_alive()

    @property
    def frozen(self) -> bool:
        stat = Path(f"/proc/{self.pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] == "T"

    def signal(self, number: int) -> None:
        """To this very process, which the harness started."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """As a power cut would: nothing of it gets to clean up."""
        self._process.kill()
        self.await_end()

    def await_end(self) -> int:
        """Wait until the process is gone; its exit code, negative for a signal."""
        self._process.join(PATIENCE)
        code = self._process.exitcode
        if code is None:
            self._process.kill()
            self._process.join()
            raise Fault(f"the server {self.name} did not end")
        return int(code)

    def stop(self) -> None:
        """End it as an orderly stop does."""
        if self.alive:
            self._process.terminate()
            self.await_end()
        self._release()

    def _release(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._process is not None and not self._process.is_alive():
            self._process.close()
            self._process = None

    def post(self, path: str, *, by: str = "ana", later: bool = False, **body: Any) -> Reply | None:
        """What the server replies, or None if it is gone before it does; `later`: it need not wait for the run."""
        headers = {"X-Reviewer": by, **({"Prefer": "respond-async"} if later else {})}
        return self._ask(lambda client: client.post(path, json=body, headers=headers))

    def get(self, path: str, **query: Any) -> Reply | None:
        return self._ask(lambda client: client.get(path, params=query))

    def _ask(self, ask: Callable[[httpx.Client], httpx.Response]) -> Reply | None:
        if self._client is None:
            return None
        try:
            answer = ask(self._client)
        except httpx.TransportError:
            return None
        return Reply(answer.status_code, answer.json())


class Bench:
    """A folder, the servers on it, and chance."""

    def __init__(self, folder: Path, chance: Random) -> None:
        folder.mkdir(parents=True)
        self.folder, self.chance = folder, chance
        self._servers: dict[str, Server] = {}
        self._threads = self._asides = 0

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def server(self, name: str = "a") -> Server:
        """The server of that name, running and under no order."""
        found = self._servers.setdefault(name, Server(self.folder, name))
        found.order()
        return found if found.alive else found.start()

    def new_thread(self) -> str:
        self._threads += 1
        return f"t-{self._threads}"

    def effects(self, thread_id: str) -> Counter[tuple[str, str]]:
        """Who got an e-mail from which call of the thread, and how many: the world itself, not what is told of it."""
        with closing(sqlite3.connect(self.data / "world.sqlite", timeout=30)) as world:
            rows = world.execute(
                "SELECT tool_call_id, recipient FROM outbox WHERE thread_id = ?", (thread_id,)
            )
            return Counter((call_id, recipient) for call_id, recipient in rows)

    def settings(self) -> Settings:
        return OwnSettings(
            review_data=self.data,
            review_agents=ROOT / "langgraph.json",
            review_anchor=self.folder / "anchors.jsonl",
        )

    @contextmanager
    def aside(self) -> Iterator[Bench]:
        """Another folder with servers of its own, for what leaves damage behind."""
        self._asides += 1
        found = Bench(self.folder / f"aside-{self._asides}", self.chance)
        try:
            yield found
        finally:
            found.abandon()

    def stop(self) -> None:
        for server in self._servers.values():
            server.stop()

    def close(self) -> None:
        """End every server, and check the chain of the folder they leave with its anchors."""
        self.stop()
        opened = open_console(self.settings())
        try:
            found = opened.console.trail.verify()
        finally:
            opened.close()
        if not found.ok:
            raise Fault(f"the chain of the folder that was left: {found.first_fault}")

    def abandon(self) -> None:
        """End every server, whatever state it is in."""
        for server in self._servers.values():
            if server.alive:
                server.kill()
            server.stop()
