"""Serve the console: the pages and the HTTP API, in one process.

Start it with `streamlit run app.py`, `python app.py`, or any ASGI server as `app:app`. What takes long to import is
imported beside the server: what a page is drawn with while a browser fetches what is Streamlit's own, and what agents
run with once the first page is painted.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from anyio import to_thread
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from agent.api.beside import Beside, mounted
from agent.api.ending import asked_to_end
from agent.api.hosts import guarded
from agent.api.later import Later
from agent.api.sending import send_at_once
from agent.review.errors import ReviewError
from pages.parts import whole  # noqa: F401  before Streamlit makes its first session

FIRST_PAGE = 5.0
"""Seconds for which a first page has the interpreter to itself, if it comes."""


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[dict[str, Any]]:
    """Open the console beside the server and close it cleanly with it."""
    opening = threading.Thread(target=_open, name="opening", daemon=True)
    opening.start()
    send_at_once()
    try:
        with asked_to_end(_wind_down):
            yield {}
    finally:
        await to_thread.run_sync(_go_on)
        await to_thread.run_sync(opening.join)
        await to_thread.run_sync(_close)


def _open() -> None:
    """Open the process's console, and let it go to work. Ends the process if it cannot.

    Pages and requests that come before wait for what they need of it.
    """
    try:
        with _lasting():
            from agent import bootstrap

            opened = bootstrap.opened(at_work=False)
            from pages.parts import ahead  # noqa: F401

            if not opened.console.queries.running():  # else it is to be gone on with at once
                opened.engine.wanted.wait(FIRST_PAGE)
            opened.go_to_work()
    except ReviewError as error:
        print(error, file=sys.stderr, flush=True)  # noqa: T201
        os._exit(2)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _go_on() -> None:
    from agent import bootstrap

    bootstrap.opened(at_work=False).engine.wanted.set()


def _wind_down() -> None:
    from agent import bootstrap

    bootstrap.opened(at_work=False).supervisor.wind_down()


def _close() -> None:
    from agent import bootstrap

    bootstrap.close()


def _api() -> ASGIApp:
    from agent import bootstrap

    bootstrap.opened().go_to_work()  # first, so that two threads never import parts of the same packages
    with _lasting():
        from agent.api import server

        return server.build()


@contextmanager
def _lasting() -> Iterator[None]:
    """What is made meanwhile lasts as long as the process: no collection goes through it, now or later."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


app = st.App(
    Path(__file__).parent / "pages" / "shell.py",
    lifespan=lifespan,
    middleware=[*guarded(), Middleware(Beside, mounted(Later(_api)))],
)

if __name__ == "__main__":
    app.run()
