"""Waiting for runs, without holding up anybody else's requests and without stopping a run that nobody awaits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread

from agent.console import Console
from agent.review.threads import Run, Status

P = ParamSpec("P")
T = TypeVar("T")

WAITERS = 256
"""Requests whose wait is under way at the same time, in a pool of their own: pages never queue behind them."""
SLICE = 0.5
"""Seconds one wait may take before it gives its place up, so that a closing server need not see the run's end."""
STOPPING = 5.0
"""Seconds a stop waits for the run to come to its next step."""

_waiters = CapacityLimiter(WAITERS)


async def off(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call what may block, in the waiters' own pool."""
    return await to_thread.run_sync(lambda: function(*args, **kwargs), limiter=_waiters)


async def once_ended(console: Console, run: Run, answer: Callable[[], T]) -> T:
    """The answer, asked for when the run has paused or ended."""

    def waited() -> list[T]:
        return [answer()] if console.wait(run, SLICE) else []

    while not (found := await off(waited)):
        pass
    return found[0]


def until_stopped(console: Console, thread_id: str, sleep: Callable[[float], Any]) -> None:
    """Give the thread's run a few seconds to stop; a tool that is executing is never cut off."""
    step = 0.05
    for _ in range(int(STOPPING / step)):
        if console.queries.view(thread_id).thread.status is not Status.RUNNING:
            return
        sleep(step)
