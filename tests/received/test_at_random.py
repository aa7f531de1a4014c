"""No schema and no arguments, however they are put together, make a tool receive what was not shown."""

from __future__ import annotations

from agent.settings import Settings
from tests.received import at_random

DRAWS = 40


def test_received_is_recorded_is_shown_or_it_is_refused(base_settings: Settings) -> None:
    found = at_random.run(base_settings, DRAWS)
    assert found.faults == [], found.smallest
    assert found.counts["draws"] >= DRAWS
    assert found.counts["received"] > DRAWS / 4, "so little ran that little was compared"
