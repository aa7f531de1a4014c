"""How a server ends at once though requests wait for runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def asked_to_end(wind_down: Callable[[], None]) -> Iterator[None]:
    """Wind down the moment the process is asked to end.

    The server closes its lifespan only when every request has been answered, and requests wait for runs.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def wind_down_first(number: int, frame: Any) -> None:
        # On a thread of its own, because what is interrupted here may hold the lock that is needed there.
        threading.Thread(target=wind_down, daemon=True).start()
        served = before[signal.Signals(number)]
        if callable(served):
            served(number, frame)

    for number in before:
        signal.signal(number, wind_down_first)
    try:
        yield
    finally:
        for number, served in before.items():
            signal.signal(number, served)
