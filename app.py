"""Serve the console: the pages and the HTTP API, in one process.

Start it with `streamlit run app.py`, `python app.py`, or any ASGI server as `app:app`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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
    api.send_at_once()
    try:
        with api.asked_to_end(console.supervisor.wind_down):
            yield {}
    finally:
        await to_thread.run_sync(bootstrap.close)


app = st.App(
    Path(__file__).parent / "pages" / "shell.py",
    lifespan=lifespan,
    routes=[Mount(api.PREFIX, app=api.build())],
    # Streamlit's own list of allowed hosts covers the WebSocket alone.
    middleware=[api.local_only()],
)

if __name__ == "__main__":
    app.run()
