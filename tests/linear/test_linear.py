"""Twice the text takes at most two and a half times as long, for every function that reads outside text.

Processor time is measured, so other load does not count, and the best of several measurements.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests import linear

SIZES = (62_500, 125_000, 250_000, 500_000, 1_000_000)
MOST = 2.5
SHORTEST = 0.005
"""Seconds. Below this the clock and the machine count for more than the function."""
TIMES, MORE = 5, 15
"""Measurements of which the best counts; and how many where these say that it takes too long."""


def every_case() -> dict[str, tuple[Callable[[Any], object], Callable[[int], Any]]]:
    found = {}
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


def ratio(call: Callable[[Any], object], smaller: Any, larger: Any) -> float:
    """How much longer the larger input takes; measured again only while that is too much."""
    shorter = longer = float("inf")
    for _ in range(MORE):
        shorter, longer = min(shorter, seconds(call, smaller)), min(longer, seconds(call, larger))
        if shorter < SHORTEST or longer <= MOST * shorter:
            return 0.0 if shorter < SHORTEST else longer / shorter
    return longer / shorter


@pytest.mark.parametrize("name", CASES)
def test_twice_the_text_takes_twice_the_time(name: str) -> None:
    call, make = CASES[name]
    for small, large in pairwise(SIZES):
        found = ratio(call, make(small), make(large))
        assert found <= MOST, f"{small:,} to {large:,} characters: {found:.1f} times as long"


def test_what_is_quadratic_is_noticed() -> None:
    def quadratic(text: str) -> int:
        return sum(text.count("b") for _ in range(len(text) // 300))

    assert ratio(quadratic, "a" * 125_000, "a" * 250_000) > MOST
