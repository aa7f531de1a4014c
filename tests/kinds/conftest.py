"""What these tests share: the settings of a console that each file opens once for all of its tests."""

from __future__ import annotations

import pytest

from agent.settings import Settings
from tests.own_settings import OwnSettings


@pytest.fixture(scope="module")
def base_settings() -> Settings:
    return OwnSettings(review_demo_delay=0, review_reviewer="ana")
