"""What these tests share: one console for a whole file, since to open it takes longer than many a turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.settings import Settings
from tests.own_settings import OwnSettings
from tests.received.agents import KINDS
from tests.received.driving import Scene, scene_of


@pytest.fixture(scope="module")
def base_settings() -> Settings:
    return OwnSettings(review_demo_delay=0, review_reviewer="ana")


@pytest.fixture(scope="module")
def scene(base_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """The table's six agents, served."""
    graphs = {kind: f"./tests/received/agents.py:{kind}" for kind in KINDS}
    with scene_of(base_settings, tmp_path_factory.mktemp("received"), graphs) as found:
        yield found
