"""What tests of the engine share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engine.provider import Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A server with OpenAI's interface, which replies as it is told to."""
    found = Provider().start()
    yield found
    found.stop()
