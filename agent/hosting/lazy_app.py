"""An application that is built when somebody first asks it something."""

from __future__ import annotations

import threading
from collections.abc import Callable

from anyio import to_thread
from starlette.types import ASGIApp, Receive, Scope, Send


class Later:
    """Stands in the application's place. The first requests wait until it is built, and it answers them."""

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
