"""The API as an application: to be mounted beside the pages, or served alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from anyio import to_thread
from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.applications import Starlette
from starlette.middleware import Middleware

from agent import bootstrap
from agent.api import PREFIX, errors, rules
from agent.api.middleware import BodyCheck
from agent.api.routes import router
from agent.console import Console
from agent.hosting.hosts import guarded
from agent.hosting.mount import mounted
from agent.hosting.shutdown import asked_to_end

ABOUT = (
    "All that the pages do, for scripts and other services. A POST that starts a run waits until it pauses or "
    "ends; `Prefer: respond-async` answers at once, and `Accept: text/event-stream` follows along. A client that "
    "goes away stops nothing."
)


def process_console() -> Console:
    return bootstrap.opened().console


def build(console: Callable[[], Console] = process_console) -> FastAPI:
    """The API over a console, which is asked for at each request and has to be opened by whoever serves it."""
    app = FastAPIOffline(
        docs_url="/docs",
        redoc_url=None,
        title="Review console",
        description=ABOUT,
        middleware=[Middleware(BodyCheck)],
        # Not included as routers: FastAPI goes through all routes of those twice for each request.
        routes=[*router.routes, *rules.router.routes],
    )
    app.state.console = console
    errors.register(app)
    return app


def standalone() -> Starlette:
    """The API without the pages. It opens the console when it starts and closes it when it ends."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        console = await to_thread.run_sync(bootstrap.opened)
        try:
            with asked_to_end(console.supervisor.wind_down):
                yield
        finally:
            await to_thread.run_sync(bootstrap.close)

    return Starlette(routes=[mounted(PREFIX, build())], middleware=guarded(), lifespan=lifespan)
