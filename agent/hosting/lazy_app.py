"""An ASGI application that is built on its first request."""

from __future__ import annotations

import threading
from collections.abc import Callable

from anyio import to_thread
from starlette.types import ASGIApp, Receive, Scope, Send


class Later:
    """Build the wrapped ASGI app on the first request; requests that arrive meanwhile wait."""

    def __init__(self, build: Callable[[], ASGIApp]) -> None:
        self._build = build
        self._turn = threading.Lock()
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if app is None:
            app = await to_thread.run_sync(self._built)
        await app(scope, receive, send)

    def _built(self) -> ASGIApp:
        with self._turn:
            if self._app is None:
                self._app = self._build()
            return self._app
