"""A console in a folder of its own, for work that must not touch the real record or the real world."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.bootstrap import Opened, open_console
from agent.review.errors import NotIsolated
from agent.review.replies import RecordedReply
from agent.settings import Settings

WORKERS = 2
BEGINNING = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)


class HandClock:
    """A clock that only `move` advances."""

    def __init__(self) -> None:
        self.now = BEGINNING

    def __call__(self) -> datetime:
        return self.now

    def move(self, by: timedelta) -> None:
        self.now += by


class Scratch:
    """One agent with its own ledger, checkpoints, world and clock, all deleted on closing.

    Raises `NotIsolated` for an agent whose tools reach beyond this world, and the console's own errors for an agent
    that is unknown or could not be loaded.
    """

    def __init__(self, agents: Path | None, agent: str, replies: Sequence[RecordedReply] = ()) -> None:
        """Open the console. `agents` is the configuration file that names the agent; by default the demo agents'."""
        self._folder = tempfile.TemporaryDirectory(prefix="review-scratch-", ignore_cleanup_errors=True)
        self._agent, self._replies = agent, replies
        self.clock = HandClock()
        folder = Path(self._folder.name)
        self._settings = _settings(folder, agents or _demo_agents(folder))
        try:
            self.opened = self._open()
        except BaseException:
            self._folder.cleanup()
            raise
        try:
            if not self.opened.console.queries.agent(agent).isolated:
                raise NotIsolated(agent)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reopen(self) -> None:
        """Simulate a restart: close everything, then open it again from disk."""
        self.opened.close()
        self.opened = self._open()

    def _open(self) -> Opened:
        return open_console(
            self._settings, clock=self.clock, only=self._agent, replies=self._replies, workers=WORKERS
        )

    def close(self) -> None:
        self.opened.close()
        self._folder.cleanup()


def _demo_agents(folder: Path) -> Path:
    path = folder / "langgraph.json"
    graphs = {name: f"./agent/bootstrap.py:{name}" for name in ("mail", "operations", "library")}
    path.write_text(json.dumps({"graphs": graphs}), encoding="utf-8")
    return path


def _settings(folder: Path, agents: Path) -> Settings:
    """Return settings that are the same on every machine, whatever its environment says."""
    return Settings(
        review_data=folder,
        review_agents=agents,
        review_anchor=folder / "anchors.jsonl",
        review_key=folder / "anchors.jsonl.key",
        review_demo_delay=0,
        review_reviewer="reviewer",
        review_model="demo",
        review_approve_by=timedelta(hours=24),
        review_execute_by=timedelta(hours=1),
        openai_api_key=None,
        openai_base_url=None,
        _env_file=None,  # type: ignore[call-arg]  # of pydantic-settings, unknown to type checkers
    )
