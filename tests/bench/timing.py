"""Timing things in turns, so that what else the machine does falls on all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median, quantiles


def seconds(act: Callable[[], object]) -> float:
    """How long it takes, once."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def in_turns(times: int, *acts: Callable[[], object]) -> list[float]:
    """The median seconds of each act, each done `times` times, one after the other in each round."""
    rounds = [[seconds(act) for act in acts] for _ in range(times)]
    return [median(column) for column in zip(*rounds, strict=True)]


def p95(durations: Sequence[float]) -> float:
    return quantiles(durations, n=20, method="inclusive")[-1]


def around(durations: Sequence[float], turn: int, *, half: int = 10) -> float:
    """The median of the durations around this turn, counted from 1: one turn alone may have had bad luck."""
    half = min(half, turn - 1)
    return median(durations[turn - 1 - half : turn + half])
