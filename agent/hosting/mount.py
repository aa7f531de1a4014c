"""Serve the API in one process with the pages, but outside Streamlit's own middleware."""

from __future__ import annotations

import re

from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Receive, Scope, Send


def mounted(prefix: str, app: ASGIApp) -> Mount:
    """Mount the application under its prefix. Starlette's own pattern does not match paths with a line break."""
    mount = Mount(prefix, app=app)
    mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
    return mount


class MountedFirst:
    """Middleware that routes requests under the mount's path to it, and all others to the wrapped application.

    The API thus skips Streamlit's sessions, which it does not use, and compression, which costs more than it saves
    on one machine.
    """

    def __init__(self, app: ASGIApp, mount: Mount) -> None:
        self._app, self._mount = app, mount

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match, inside = self._mount.matches(scope)
        if match is Match.NONE:
            await self._app(scope, receive, send)
        else:
            await self._mount.handle({**scope, **inside}, receive, send)
