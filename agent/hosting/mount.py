"""The API in one process with the pages, and apart from what Streamlit puts around each of its own answers."""

from __future__ import annotations

import re

from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Receive, Scope, Send


def mounted(prefix: str, app: ASGIApp) -> Mount:
    """The application under its prefix, whatever an address holds behind that: Starlette's own stops at a line break."""
    mount = Mount(prefix, app=app)
    mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
    return mount


class Beside:
    """Middleware that hands on what is asked under the mount's path, and leaves the rest to the application behind it.

    Sessions mean nothing there, and compressing what does not leave this machine takes longer than sending it.
    """

    def __init__(self, app: ASGIApp, mount: Mount) -> None:
        self._app, self._mount = app, mount

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match, inside = self._mount.matches(scope)
        if match is Match.NONE:
            await self._app(scope, receive, send)
        else:
            await self._mount.handle({**scope, **inside}, receive, send)
