"""Which run computes now. One interpreter lock serves all of them: who shares it evenly is late for everybody.

Runs take turns, and one that goes on with what a person decided comes before one that takes up a message: what is
begun is finished first. A run waits for the world, a model or a tool, `aside`: nobody waits for that.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

GOES_ON, BEGINS = 0, 1
"""The ranks: what a person has decided on, and what was just asked for."""
PATIENCE = 1.0
"""Seconds after which a run computes beside the one before it: what holds that one up is not to hold up others."""

_here = threading.local()


class Precedence:
    """A turn that goes to the lowest rank first, and among equals to the one that came first."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._guard = threading.Lock()
        self._numbers = count()
        self._waiting: list[tuple[int, int, threading.Event]] = []
        self._taken = False

    @contextmanager
    def held(self, rank: int) -> Iterator[None]:
        """Compute in turn, in this thread and until the block is left, but for what is done `aside`."""
        turn = _Turn(self, rank)
        turn.take()
        try:
            yield
        finally:
            turn.give()

    def take(self, rank: int) -> bool:
        """Wait for the turn; false if it did not come in time."""
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
                return True  # it came while this gave up
            self._waiting.remove(mine)
            heapq.heapify(self._waiting)
            return False

    def give(self) -> None:
        """Hand the turn on to whoever is next."""
        with self._guard:
            if self._waiting:
                heapq.heappop(self._waiting)[2].set()
            else:
                self._taken = False


class _Turn:
    """What one thread holds, or goes without."""

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
    """Let others compute meanwhile, where this thread's run has the turn; take it again afterwards."""
    turn: _Turn | None = getattr(_here, "turn", None)
    if turn is None:
        yield
        return
    turn.give()
    try:
        yield
    finally:
        turn.take()
