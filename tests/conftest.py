"""What the tests share: a console on a folder of its own, a clock that can be set, the real server as a process."""

from __future__ import annotations

import gc
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import pytest
from xdist.scheduler import LoadFileScheduling

import agent  # noqa: F401  sets LangGraph's strict checkpoint reading before LangGraph is imported
from agent import bootstrap
from agent.bootstrap import Opened, open_console
from agent.console import Console
from agent.engine import asynchronous, reach
from agent.engine.loading import needs, schemas
from agent.engine.reach import Graph, Thing, reached
from agent.review.actions import Review
from agent.review.threads import Run
from agent.settings import Settings
from tests.forked import ROOT, processes, serve
from tests.own_settings import OwnSettings

CHROMIUM = "/usr/bin/chromium"
BROWSERS = "tests/browser/"
STRICT = "REVIEW_TESTS_STRICT"
"""Set, it turns "browser or database missing" from a skip into a failure."""

# No test asserts how long something takes: on a busy machine any step may be slow.
hypothesis.settings.register_profile("console", deadline=None)
hypothesis.settings.load_profile("console")


class OneBrowser(LoadFileScheduling):  # type: ignore[misc]  # pytest-xdist is untyped
    """A file stays on one worker, and all files with a browser on the same one: two browsers slow each other down."""

    def _split_scope(self, nodeid: str) -> str:
        return "browser" if nodeid.startswith(BROWSERS) else str(super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneBrowser:
    return OneBrowser(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browsers come first, then what starts servers, so that no worker is left alone with them at the end."""
    slow = {item.path for item in items if item.get_closest_marker("process")}
    items.sort(key=lambda item: (not item.nodeid.startswith(BROWSERS), item.path not in slow))


def pytest_collection_finish() -> None:
    """What was imported stays: no collection goes through it again, and those of what tests make are rarer."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are cores: tests of processes, and the one with the browsers, wait more than they compute."""
    return (os.cpu_count() or 1) + 2


def pytest_runtest_setup(item: pytest.Item) -> None:
    """The worker with the browsers takes longest: where several share the machine, the others give way to it."""
    if "PYTEST_XDIST_WORKER" in os.environ and not item.nodeid.startswith(BROWSERS) and os.nice(0) == 0:
        os.nice(5)


def until(condition: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Wait for a condition and give what it gave; the time only bounds a wait that would never end."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"never came true within {seconds} s: {condition}")
        time.sleep(0.02)
    return found


def missing(what: str) -> None:
    """Skip a test for want of something outside Python, or fail where it has to be there."""
    if os.environ.get(STRICT):
        pytest.fail(f"{what} is missing, and {STRICT} is set")
    pytest.skip(f"{what} is missing")


WRONG_POLICY = """
from dataclasses import replace

from agent.demos import library as demo
from agent.review.policy import Policy, Tier, ToolPolicy
from agent.registry import WorldAgent

policy = lambda world: Policy({"lend_book": ToolPolicy(Tier.ASK)})
library = WorldAgent(lambda world: replace(demo.define(world), policy=policy(world)), policy)
"""
"""An agent with a policy for a tool that it does not have."""


def wrong_agents(folder: Path) -> Path:
    """A configuration that names this agent."""
    (folder / "wrong.py").write_text(WRONG_POLICY)
    found = folder / "wrong.json"
    found.write_text('{"graphs": {"library": "./wrong.py:library"}}')
    return found


class SetClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """A page drawn in this process takes the main module's place, and would be run anew in each process made later."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return OwnSettings(
        review_data=tmp_path / "data",
        review_agents=ROOT / "langgraph.json",
        review_anchor=tmp_path / "anchors.jsonl",
        review_key=tmp_path / "anchors.jsonl.key",
        review_demo_delay=0,
        review_reviewer="ana",
    )


@pytest.fixture(scope="module")
def looked_through_once() -> Iterator[None]:
    """Look through each graph once, not at each opening of a console, which copies it: its nodes stay the same."""
    found: dict[tuple[int, ...], tuple[Thing, ...]] = {}

    def once(graph: Graph) -> tuple[Thing, ...]:
        nodes = tuple(map(id, graph.nodes.values()))
        if nodes not in found:
            found[nodes] = reached(graph)  # it keeps the nodes, so that no others get their ids
        return Thing(graph, "", ""), *found[nodes][1:]

    with pytest.MonkeyPatch.context() as patched:
        for module in (asynchronous, needs, reach, schemas):
            patched.setattr(module, "reached", once)
        yield


@pytest.fixture
def opened(settings: Settings, clock: SetClock) -> Iterator[Opened]:
    """A console with everything real but the clock."""
    found = open_console(settings, clock=clock)
    yield found
    found.close()


@pytest.fixture
def console(opened: Opened) -> Console:
    return opened.console


@pytest.fixture
def own_settings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """The settings under which this process would open its own console, which is closed in the end."""
    monkeypatch.setenv("REVIEW_DATA", str(settings.review_data))
    monkeypatch.setenv("REVIEW_AGENTS", str(settings.review_agents))
    monkeypatch.setenv("REVIEW_ANCHOR", str(settings.review_anchor))
    monkeypatch.setenv("REVIEW_DEMO_DELAY", "0")
    monkeypatch.setenv("REVIEW_REVIEWER", "ana")
    yield settings
    bootstrap.close()


@pytest.fixture
def page_console(own_settings: Settings) -> Opened:
    """The process's own console, as pages find it, on a folder of its own."""
    return bootstrap.opened()


def ask(console: Console, text: str, **more: Any) -> str:
    """Send a message, wait until the run pauses or ends, and give the thread's id."""
    run = console.send(text, by="ana", **more)
    assert console.wait(run, 30)
    return run.thread_id


def waiting(console: Console, thread_id: str) -> Review:
    """The one review that waits on the thread."""
    (found,) = console.queries.view(thread_id).reviews
    return found


def start_deciding(console: Console, thread_id: str, decisions: Any, *, by: str, **more: Any) -> Run:
    """Decide what waits now: the one review of the thread, by its id. Gives the run that was started."""
    reviews = console.queries.view(thread_id).reviews
    named = {"review_id": reviews[0].review_id} if len(reviews) == 1 else {}
    return console.decide(thread_id, decisions, by=by, **{**named, **more})


def decide(console: Console, thread_id: str, *decisions: Any, by: str = "ana", **more: Any) -> None:
    """Decide the waiting review and wait until the run pauses or ends."""
    assert console.wait(start_deciding(console, thread_id, list(decisions), by=by, **more), 30)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """The real server as a process of its own, on a data folder that outlives it."""

    def __init__(self, data: Path, **environment: str) -> None:
        self.data, self.port = data, free_port()
        self._environment = environment
        self._process: Any = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return int(self._process.pid)

    @property
    def _log(self) -> Path:
        return self.data.parent / "server.log"

    def start(self) -> Server:
        environment = {
            "REVIEW_DATA": str(self.data),
            "REVIEW_ANCHOR": str(self.data.parent / "anchors.jsonl"),
            "REVIEW_DEMO_DELAY": "0",
            "REVIEW_REVIEWER": "ana",
            **self._environment,
        }
        self._process = processes().Process(
            target=serve, args=(self.port, environment, self._log), daemon=True
        )
        self._process.start()
        until(self._answers, 60)
        return self

    def _answers(self) -> bool:
        assert self._process.is_alive(), self._log.read_text()[-3_000:]
        try:
            return httpx.get(f"{self.url}/hitl/health", verify=False).status_code == 200
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        """As a power cut would: nothing of it gets to clean up."""
        self._process.kill()
        self._process.join()

    def end(self) -> None:
        """Ask it to end, and see that it does so by itself."""
        self._process.terminate()
        self._process.join(30)
        assert not self._process.is_alive(), "it did not end"

    def stop(self) -> None:
        if self._process is not None and self._process.is_alive():
            self._process.terminate()
            self._process.join(30)
            if self._process.is_alive():
                self.kill()

    def post(self, path: str, **body: Any) -> httpx.Response:
        return httpx.post(f"{self.url}/hitl/{path}", json=body, timeout=60, verify=False)

    def get(self, path: str, **query: Any) -> Any:
        return httpx.get(f"{self.url}/hitl/{path}", params=query, timeout=60, verify=False).json()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    found = Server(tmp_path / "data").start()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser for one module: while it is open, no other event loop can run in this thread."""
    if not shutil.which(CHROMIUM):
        missing("Chromium (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()
