"""Open the server in an order that shows the first page early.

1. The port, before anything large is imported, so that a browser can connect at once.
2. The console, in a thread next to the server, not yet at work: a page that only reads needs no more.
3. The first page's imports, while the browser fetches Streamlit's own files.
4. The agents' imports: once the first page is drawn, or after `FIRST_PAGE` seconds, or at once if a dead process left
   a run to continue. Under the GIL, these imports would delay the first page.
5. The API, on its first request.

What is allocated while the console opens lasts as long as the process, so the garbage collector never scans it.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any

from anyio import to_thread
from starlette.types import ASGIApp

from agent.hosting.shutdown import asked_to_end
from agent.hosting.sockets import send_at_once
from agent.review.errors import ReviewError

FIRST_PAGE = 5.0
"""Seconds to wait for a first page before importing what agents run with."""


def lifespan(preload: Callable[[], None]) -> Callable[[Any], AbstractAsyncContextManager[dict[str, Any]]]:
    """Open the console next to the server, and close it with the server. `preload` imports what the first page needs."""

    @asynccontextmanager
    async def opened(_: Any) -> AsyncIterator[dict[str, Any]]:
        opening = threading.Thread(target=_open, args=(preload,), name="opening", daemon=True)
        opening.start()
        send_at_once()
        try:
            with asked_to_end(_wind_down):
                yield {}
        finally:
            await to_thread.run_sync(_go_on)
            await to_thread.run_sync(opening.join)
            await to_thread.run_sync(_close)

    return opened


def _open(preload: Callable[[], None]) -> None:
    """Open the process's console and put it to work; end the process if that fails.

    Pages and requests that arrive earlier wait for the parts they need.
    """
    try:
        with _frozen():
            from agent import bootstrap

            opened = bootstrap.opened(at_work=False)
            preload()
            if not opened.console.queries.running():  # a run left by a dead process continues at once
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


def api() -> ASGIApp:
    """Build the HTTP API over the process's console, at work."""
    from agent import bootstrap

    bootstrap.opened().go_to_work()  # first, so that two threads never import parts of the same packages
    with _frozen():
        from agent.api import server

        return server.build()


@contextmanager
def _frozen() -> Iterator[None]:
    """Freeze what is allocated in this block, so that the garbage collector never scans it."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
