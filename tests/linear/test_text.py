"""Masking secrets, and looking for what deceives, take time that is linear in the size of the text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from time import process_time
from typing import Any

import pytest

from agent.review import deception, lookalikes
from tests.linear import deception_inputs, secrets_inputs

SIZES = [2**power for power in range(16, 21)]
MOST = 2.5
"""Times as long as for half the size."""
COUNTS_FROM = 0.005
"""Seconds below which a time says nothing."""
TRIES = 5
LONGEST = 6.0
"""Seconds for the largest size; on a quiet machine most take less than one, and none four."""

CASES = {**secrets_inputs.CASES, **deception_inputs.CASES}


def took(look: Callable[[Any], object], made: Any) -> float:
    for kept in (deception.visible, deception.cautions, lookalikes._in_name):
        kept.cache_clear()
    begun = process_time()
    look(made)
    return process_time() - begun


def grows_too_fast(times: list[float]) -> bool:
    return any(now > MOST * max(before, COUNTS_FROM) for before, now in pairwise(times))


@pytest.mark.parametrize("name", CASES)
def test_twice_the_text_takes_at_most_two_and_a_half_times_as_long(name: str) -> None:
    look, make = CASES[name]
    inputs = cache(make)
    times = [took(look, inputs(size)) for size in SIZES]
    for _ in range(TRIES - 1):  # the best of five, and none of them where the first says enough
        if not grows_too_fast(times) and times[-1] < LONGEST:
            break
        times = [min(best, took(look, inputs(size))) for best, size in zip(times, SIZES, strict=True)]
    assert not grows_too_fast(times), times
    assert times[-1] < LONGEST, times
