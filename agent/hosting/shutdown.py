"""Shut a server down promptly while requests wait for runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def asked_to_end(wind_down: Callable[[], None]) -> Iterator[None]:
    """Call `wind_down` as soon as SIGTERM or SIGINT arrives.

    The server ends its lifespan only after it has answered every request, and requests may wait for runs.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def wind_down_first(number: int, frame: Any) -> None:
        # In a separate thread, because the interrupted code may hold a lock that `wind_down` needs.
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
