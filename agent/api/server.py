"""The API as an ASGI application, to be mounted next to the pages or served alone."""

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
    "Everything the pages do, for scripts and other services. A POST that starts a run waits until it pauses or "
    "ends; `Prefer: respond-async` answers at once, and `Accept: text/event-stream` streams its events. A client "
    "that disconnects stops nothing."
)


def process_console() -> Console:
    return bootstrap.opened().console


def build(console: Callable[[], Console] = process_console) -> FastAPI:
    """Build the API. `console` is called on each request; whoever serves the API opens the console."""
    app = FastAPIOffline(
        docs_url="/docs",
        redoc_url=None,
        title="Review console",
        description=ABOUT,
        middleware=[Middleware(BodyCheck)],
        # Not included as routers: FastAPI would go through all their routes twice for each request.
        routes=[*router.routes, *rules.router.routes],
    )
    app.state.console = console
    errors.register(app)
    return app


def standalone() -> Starlette:
    """Build the API without the pages, which opens the console when it starts and closes it when it ends."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        console = await to_thread.run_sync(bootstrap.opened)
        try:
            with asked_to_end(console.supervisor.wind_down):
                yield
        finally:
            await to_thread.run_sync(bootstrap.close)

    return Starlette(routes=[mounted(PREFIX, build())], middleware=guarded(), lifespan=lifespan)
