"""Check under which host names, from pages of which origins, and in whose frames the server is used.

Imports nothing large, because the port opens before large imports.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.review.origins import host_of, normal

log = logging.getLogger(__name__)

Origins = Callable[[], Sequence[str]]

LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
READING = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing, here and in Streamlit."""
PROXIED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
"""Headers that a proxy adds. Host and scheme are then the proxy's own, not those in the person's browser."""
NONE = "'none'"
_STARTS = ("http.response.start", "websocket.http.response.start")


def from_settings(variable: str) -> Origins:
    """Return a reader of this setting, to be called late: reading imports modules that would delay the first page."""

    def read() -> Sequence[str]:
        if not _may_be_set(variable):
            return ()
        from agent import bootstrap

        found: Sequence[str] = getattr(bootstrap.opened(at_work=False).settings, variable.lower())
        return found

    return read


def guarded(
    origins: Origins = from_settings("REVIEW_ORIGINS"),  # noqa: B008  it reads nothing yet
    embedders: Origins = from_settings("REVIEW_EMBEDDERS"),  # noqa: B008
) -> list[Middleware]:
    """Return the middleware around pages and API. The headers are outermost, so that every answer has them."""
    return [Middleware(SafeAnswers, embedders=_Once(embedders)), Middleware(OwnPages, origins=_Once(origins))]


class SafeAnswers:
    """Add the security headers to every answer, refusals and failures included."""

    def __init__(self, app: ASGIApp, embedders: _Once) -> None:
        self._app, self._embedders = app, embedders

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        embedders, started = await self._embedders(), False

        async def answer(message: Message) -> None:
            nonlocal started
            if message["type"] in _STARTS:
                started = True
                _add_headers(MutableHeaders(scope=message), embedders)
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception:
            if scope["type"] == "http" and not started:  # the server's own answer would lack the headers
                await PlainTextResponse("Internal Server Error", 500)(scope, receive, answer)
            raise


class OwnPages:
    """Refuse unknown hosts, and changes and WebSockets from pages that are not the console's own.

    Scripts send no `Origin`, and may change things over HTTP. WebSockets are for pages, which always send it.
    """

    def __init__(self, app: ASGIApp, origins: _Once) -> None:
        self._app, self._origins = app, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if refusal := await self._unknown_host(headers) or await self._foreign(scope, headers):
            if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
                await send({"type": "websocket.close", "code": 1008})
            else:
                await refusal(scope, receive, send)
            return
        await self._app(_as_from_here(scope, headers), receive, send)

    async def _unknown_host(self, headers: Headers) -> JSONResponse | None:
        found = headers.getlist("host")
        host = _host(found[0]) if len(found) == 1 else ""
        if host in LOCAL_HOSTS or (host and host in map(host_of, await self._origins())):
            return None
        log.warning("refused a request to the host %.200a", found)
        detail = (
            "This server does not answer to the host that was asked. Use http://127.0.0.1 with its port, or name "
            "the origin under which it is reached in REVIEW_ORIGINS."
        )
        return JSONResponse({"detail": detail, "code": "UnknownHost"}, 400)

    async def _foreign(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        sent = headers.getlist("origin")
        is_socket = scope["type"] == "websocket"
        if not is_socket and (scope["method"] in READING or not sent):
            return None
        origin = _normal(sent[0]) if len(sent) == 1 else ""
        if origin and (origin == _own(scope, headers) or origin in await self._origins()):
            return None
        log.warning("refused the origin %.200a on %.200a", sent, scope["path"])
        detail = (
            "This request did not come from one of the console's own pages, and only they may change anything. "
            "Send it from a script without Origin, from a page that this server serves, or name the page's origin "
            "in REVIEW_ORIGINS."
        )
        return JSONResponse({"detail": detail, "code": "ForeignOrigin"}, 403)


class _Once:
    """A list of origins, read in a thread on first use, then cached."""

    def __init__(self, read: Origins) -> None:
        self._read = read
        self._found: tuple[str, ...] | None = None

    async def __call__(self) -> tuple[str, ...]:
        if self._found is None:
            self._found = tuple(await to_thread.run_sync(self._read))
        return self._found


def _own(scope: Scope, headers: Headers) -> str:
    """Return the origin of pages served under the requested host, or "" if only the settings can know it."""
    host = headers.get("host", "")
    if _host(host) not in LOCAL_HOSTS or any(name in headers for name in PROXIED):
        return ""
    scheme = "https" if scope["scheme"] in ("https", "wss") else "http"
    return _normal(f"{scheme}://{host}")


@lru_cache(maxsize=64)
def _host(host: str) -> str:
    """Return the name in a `Host` header, in lower case and without its port, or "" if the header has no valid one."""
    found = _normal(f"http://{host}")
    return host_of(found) if found else ""


@lru_cache(maxsize=64)
def _normal(origin: str) -> str:
    """Return the origin in the form it is compared in, or "" for `null` and anything else that is not an origin."""
    try:
        return normal(origin)
    except ValueError:
        return ""


def _as_from_here(scope: Scope, headers: Headers) -> Scope:
    """Return a WebSocket's scope with its origin, already checked here, replaced by this server's own.

    Otherwise Streamlit compares it with its own list, after asking an outside service for this machine's address.
    """
    if scope["type"] != "websocket":
        return scope
    origin = ("origin", f"http://{headers['host']}")
    kept = [(name, value) for name, value in scope["headers"] if name != b"origin"]
    return {**scope, "headers": [*kept, tuple(part.encode("latin-1") for part in origin)]}


def _add_headers(headers: MutableHeaders, embedders: Sequence[str]) -> None:
    """Add the security headers. They loosen none of the answer's own: a browser obeys every policy it is sent."""
    headers.append("Content-Security-Policy", f"frame-ancestors {' '.join(embedders) or NONE}")
    headers["X-Content-Type-Options"] = "nosniff"
    # `no-referrer` would make a browser send `Origin: null` with our own forms.
    headers["Referrer-Policy"] = "same-origin"
    if not embedders:  # this header cannot name an allowed origin
        headers["X-Frame-Options"] = "DENY"


def _may_be_set(variable: str) -> bool:
    """Return whether the environment or `.env` mentions the setting at all."""
    if any(name.upper() == variable for name in os.environ):
        return True
    try:
        return variable in Path(".env").read_text(encoding="utf-8", errors="replace").upper()
    except OSError:
        return False
