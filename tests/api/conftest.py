"""What the API's tests share: the application over a test's own console, in this process and behind a real socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette

from agent.api import PREFIX, server
from agent.bootstrap import Opened, open_console
from agent.hosting.hosts import guarded
from agent.hosting.mount import mounted
from agent.settings import Settings
from tests.api import case_agent
from tests.conftest import SetClock, free_port, until
from tests.forked import ROOT


@pytest.fixture
def agents_file(tmp_path: Path) -> Path:
    """The demo agents and the agent of the shared cases. Its paths are relative to the repository."""
    graphs = json.loads((ROOT / "langgraph.json").read_text())["graphs"]
    graphs["cases"] = "./tests/api/case_agent.py:cases"
    path = tmp_path / "langgraph.json"
    path.write_text(json.dumps({"graphs": graphs}))
    return path


@pytest.fixture
def settings(settings: Settings, agents_file: Path) -> Settings:
    return settings.model_copy(update={"review_agents": agents_file})


@pytest.fixture
def opened(settings: Settings, clock: SetClock) -> Iterator[Opened]:
    found = open_console(settings, clock=clock)
    yield found
    found.close()


@pytest.fixture
def held() -> Iterator[threading.Event]:
    """Every tool of the case agent stays in its execution until this is set."""
    case_agent.FREE.clear()
    yield case_agent.FREE
    case_agent.FREE.set()


built = cache(server.build)
"""Built once for all tests, one of which at a time has its console answer: to build it takes longer than most of them."""


class Served:
    """The API over one console, behind a real socket of this machine."""

    def __init__(
        self, opened: Opened, origins: tuple[str, ...] = (), embedders: tuple[str, ...] = ()
    ) -> None:
        self.opened, self.console = opened, opened.console
        port = free_port()
        built().state.console = lambda: opened.console
        app = Starlette(
            routes=[mounted(PREFIX, built())],
            middleware=guarded(origins=lambda: origins, embedders=lambda: embedders),
        )
        config = uvicorn.Config(
            app, host="127.0.0.1", port=port, log_level="error", ws="none", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, name="api", daemon=True)
        self.host = f"127.0.0.1:{port}"
        self.url = f"http://{self.host}{PREFIX}"
        self.client = httpx.Client(
            base_url=self.url, timeout=60, verify=False
        )  # there are no certificates to load

    def start(self) -> Served:
        self._thread.start()
        until(lambda: self._server.started)
        return self

    def stop(self) -> None:
        self.client.close()
        self._server.should_exit = True
        self._thread.join(30)

    def post(self, path: str, headers: dict[str, Any] | None = None, **body: Any) -> httpx.Response:
        return self.client.post(path, json=body, headers=headers)

    def get(self, path: str, **query: Any) -> httpx.Response:
        return self.client.get(path, params=query)

    def look(self, thread_id: str, by: str) -> dict[str, Any]:
        """The thread, as this reviewer is given it."""
        return dict(self.client.get(f"/threads/{thread_id}", headers={"X-Reviewer": by}).json())

    def chat(self, message: str, **body: Any) -> dict[str, Any]:
        answer = self.post("/chat", message=message, **body)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


@pytest.fixture
def served(opened: Opened) -> Iterator[Served]:
    found = Served(opened).start()
    yield found
    found.stop()
