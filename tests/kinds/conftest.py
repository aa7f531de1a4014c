"""What these tests share: a console that each file opens once, on the agents it names, and the file of effects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.settings import Settings
from tests.cases.agents import kinds
from tests.own_settings import OwnSettings
from tests.received.driving import Scene, scene_of

HERE = "./tests/cases/agents/kinds.py"


@pytest.fixture(scope="module")
def base_settings() -> Settings:
    return OwnSettings(review_demo_delay=0, review_reviewer="ana")


@pytest.fixture(scope="module")
def scene(
    base_settings: Settings, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Scene]:
    """A console that serves the `AGENTS` of the test's file."""
    graphs = {name: f"{HERE}:{name}" for name in request.module.AGENTS}
    with scene_of(base_settings, tmp_path_factory.mktemp("kinds"), graphs) as found:
        yield found


@pytest.fixture(autouse=True)
def effects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of effects, which each test has for itself."""
    monkeypatch.setenv("EFFECTS", str(tmp_path / "effects"))
    kinds._tries.clear()
    return tmp_path / "effects"


def lines(effects: Path) -> list[str]:
    return effects.read_text().splitlines() if effects.exists() else []
