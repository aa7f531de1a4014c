"""How time grows with the size of a text, for every function that reads outside text.

Processor time is measured, so other load does not count, and the best of several measurements.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
import time
from collections.abc import Callable, Sequence
from typing import Any

from tests import linear

SIZES = (62_500, 125_000, 250_000, 500_000, 1_000_000)
"""Characters, each twice the one before."""
MOST = 2.5
SHORTEST = 0.005
"""Seconds. Below this the clock and the machine count for more than the function."""
MORE = 15
"""Measurements at most, of which the best counts. Other load slows these too, by what it takes of the caches."""


Case = tuple[Callable[[Any], object], Callable[[int], Any]]
"""A function, and what makes its argument of a given length."""


def every_case() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for module in pkgutil.iter_modules(linear.__path__):
        if module.name.endswith("inputs"):
            cases = importlib.import_module(f"{linear.__name__}.{module.name}").CASES
            assert not found.keys() & cases.keys()
            found |= cases
    return found


CASES = every_case()


def seconds(call: Callable[[Any], object], given: Any) -> float:
    gc.collect()
    gc.disable()  # a collection takes as long as everything that is alive, which is not the function's doing
    try:
        started = time.process_time()
        call(given)
        return time.process_time() - started
    finally:
        gc.enable()


class Timed:
    """One input, and the least time that a call took with it so far."""

    def __init__(self, call: Callable[[Any], object], given: Any) -> None:
        self._call, self._given, self.best = call, given, float("inf")

    def again(self) -> None:
        self.best = min(self.best, seconds(self._call, self._given))


def ratio(smaller: Timed, larger: Timed) -> float:
    """How much longer the larger input takes; measured again only while that is too much."""
    for _ in range(MORE):
        larger.again()
        if smaller.best < SHORTEST:
            return 0.0
        if larger.best <= MOST * smaller.best:
            break
        smaller.again()
    return larger.best / smaller.best


def worst(name: str, sizes: Sequence[int]) -> tuple[float, int]:
    """The largest of a case's ratios of one size to the one before, and at which size."""
    call, make = CASES[name]
    smaller = Timed(call, make(sizes[0]))
    smaller.again()
    found = (0.0, sizes[0])
    for size in sizes[1:]:
        larger = Timed(call, make(size))
        found = max(found, (ratio(smaller, larger), size))
        smaller = larger
    return found
