"""What is measured, in the order in which it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.bench import browsing, cards, deciding, load, turns, verifying, waiting
from tests.bench.figures import Figure
from tests.bench.scale import Scale

Measure = Callable[[Scale, Path], Iterator[Figure]]

ALL: Mapping[str, Measure] = {
    "turns": turns.measure,
    "deciding": deciding.measure,
    "queue": waiting.measure,
    "trail": verifying.measure,
    "browser": browsing.measure,
    "cards": cards.measure,
    "load": load.measure,
}
