"""Serve the console: the pages and the HTTP API, in one process.

Start it with `streamlit run app.py`, `python app.py`, or any ASGI server as `app:app`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from anyio import to_thread
from starlette.routing import Mount

from agent import api, bootstrap
from agent.review.errors import ReviewError


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[dict[str, Any]]:
    """Open the console with the server and close it cleanly with it."""
    try:
        console = await to_thread.run_sync(bootstrap.opened)
    except ReviewError as error:
        # Raised, it would reach the user at the end of the server's stack trace; there is nothing to clean up yet.
        print(error, file=sys.stderr, flush=True)  # noqa: T201
        os._exit(2)
    try:
        with asked_to_end(console.supervisor.wind_down):
            yield {}
    finally:
        await to_thread.run_sync(bootstrap.close)


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


app = st.App(
    Path(__file__).parent / "pages" / "shell.py",
    lifespan=lifespan,
    routes=[Mount(api.PREFIX, app=api.build())],
    # Streamlit's own list of allowed hosts covers the WebSocket alone.
    middleware=[api.local_only()],
)

if __name__ == "__main__":
    app.run()
