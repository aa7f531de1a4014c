"""The agent's words, heard while its model writes them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.console import Console
from agent.demos.model import DemoModel
from agent.settings import Settings
from tests.conftest import ask

THREAD = "t-1"
WRITTEN = ["one ", "one two ", "one two three", "one two three"]


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    file = tmp_path / "langgraph.json"
    graphs = {"mail": "./agent/bootstrap.py:mail", "foreign": "./tests/engine/external_agents.py:batched"}
    file.write_text(json.dumps({"graphs": graphs}))
    return settings.model_copy(update={"review_agents": file})


@pytest.fixture
def at_each_piece(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Have the model call something whenever a piece of its reply has been taken."""
    stream = DemoModel._stream

    def each(look: Callable[[], None]) -> None:
        def watched(*args: Any, **more: Any) -> Iterator[Any]:
            for piece in stream(*args, **more):
                yield piece
                look()

        monkeypatch.setattr(DemoModel, "_stream", watched)

    return each


@pytest.mark.parametrize("agent", ["mail", "foreign"])
def test_each_word_is_known_as_soon_as_it_is_written(
    console: Console, at_each_piece: Callable[[Callable[[], None]], None], agent: str
) -> None:
    texts: list[str] = []

    def look() -> None:
        progress = console.queries.view(THREAD).progress
        assert progress is not None
        texts.append(progress.text)

    at_each_piece(look)
    ask(console, "/say one two three", agent=agent, thread_id=THREAD)
    assert texts == WRITTEN


def test_an_agent_of_ours_works_in_the_thread_that_drives_it_and_waits_for_no_other(
    console: Console, at_each_piece: Callable[[Callable[[], None]], None]
) -> None:
    names: set[str] = set()
    at_each_piece(lambda: names.add(threading.current_thread().name))
    ask(console, "/say one two three", agent="mail", thread_id=THREAD)
    (name,) = names
    assert name.startswith("run-worker")
