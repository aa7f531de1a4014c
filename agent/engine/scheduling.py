"""Schedule runs one at a time. Under the GIL, sharing evenly makes every run late.

Runs take turns, and one that goes on from a person's decision is served before one that starts on a new message, so
that what was begun is finished first. A run gives up its turn (`aside`) while it waits for a model or a tool.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

GOES_ON, BEGINS = 0, 1
"""The ranks, lowest served first: a run that goes on from a decision, and one that begins with a message."""
PATIENCE = 1.0
"""Seconds after which a waiting run goes ahead without the turn, so that one run held up does not hold up others."""

_here = threading.local()


class Precedence:
    """A turn, granted to the lowest rank first and within a rank in order of arrival."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._guard = threading.Lock()
        self._numbers = count()
        self._waiting: list[tuple[int, int, threading.Event]] = []
        self._taken = False

    @contextmanager
    def held(self, rank: int) -> Iterator[None]:
        """Hold the turn in this thread for the block, except while `aside`."""
        turn = _Turn(self, rank)
        turn.take()
        try:
            yield
        finally:
            turn.give()

    def take(self, rank: int) -> bool:
        """Wait for the turn; return False if it was not granted in time."""
        with self._guard:
            if not self._taken:
                self._taken = True
                return True
            mine = (rank, next(self._numbers), threading.Event())
            heapq.heappush(self._waiting, mine)
        if mine[2].wait(self._patience):
            return True
        with self._guard:
            if mine[2].is_set():
                return True  # granted just as the wait timed out
            self._waiting.remove(mine)
            heapq.heapify(self._waiting)
            return False

    def give(self) -> None:
        """Pass the turn on to the next run that waits."""
        with self._guard:
            if self._waiting:
                heapq.heappop(self._waiting)[2].set()
            else:
                self._taken = False


class _Turn:
    """One thread's turn, which it holds or, out of patience, goes without."""

    def __init__(self, precedence: Precedence, rank: int) -> None:
        self._precedence, self._rank, self._taken = precedence, rank, False

    def take(self) -> None:
        self._taken = self._precedence.take(self._rank)
        _here.turn = self

    def give(self) -> None:
        _here.turn = None
        if self._taken:
            self._precedence.give()


@contextmanager
def aside() -> Iterator[None]:
    """Give up the turn for the block, if this thread's run has it, and take it again afterwards."""
    turn: _Turn | None = getattr(_here, "turn", None)
    if turn is None:
        yield
        return
    turn.give()
    try:
        yield
    finally:
        turn.take()
