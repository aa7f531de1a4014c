"""Wait for runs without blocking other requests. A wait that is abandoned does not stop its run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread

from agent.console import Console
from agent.review.threads import Run, Status

P = ParamSpec("P")
T = TypeVar("T")

WAITERS = 256
"""The most requests that wait at the same time, in a separate pool, so that pages never queue behind them."""
SLICE = 0.5
"""Seconds of one wait before it frees its thread, so that a closing server need not wait for the run's end."""
STOPPING = 5.0
"""Seconds a stop waits for the run to reach its next step."""

_waiters = CapacityLimiter(WAITERS)


async def off(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function that may block in the waiters' thread pool."""
    return await to_thread.run_sync(lambda: function(*args, **kwargs), limiter=_waiters)


async def once_ended(console: Console, run: Run, answer: Callable[[], T]) -> T:
    """Wait until the run has paused or ended, then return `answer()`."""

    def waited() -> list[T]:
        return [answer()] if console.wait(run, SLICE) else []

    while not (found := await off(waited)):
        pass
    return found[0]


def until_stopped(console: Console, thread_id: str, sleep: Callable[[float], Any]) -> None:
    """Give the thread's run up to `STOPPING` seconds to stop; an executing tool is never cut off."""
    step = 0.05
    for _ in range(int(STOPPING / step)):
        if console.queries.view(thread_id).thread.status is not Status.RUNNING:
            return
        sleep(step)
