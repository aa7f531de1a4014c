"""Who may ask the server: by which names, from pages of which origin, and within whose frames.

Nothing large is imported here: the port opens before that.
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
"""What a proxy adds. Host and scheme are then its own, not those in the person's browser."""
NONE = "'none'"
_STARTS = ("http.response.start", "websocket.http.response.start")


def from_settings(variable: str) -> Origins:
    """The process's setting of this name, read late: to read it imports what no first page may wait for."""

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
    """What stands around everything that is served, pages and API: the headers outermost, on every answer."""
    return [Middleware(SafeAnswers, embedders=_Once(embedders)), Middleware(OwnPages, origins=_Once(origins))]


class SafeAnswers:
    """Put on every answer, refusals and failures too, what a browser has to know of it."""

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
            if scope["type"] == "http" and not started:  # the server's own answer would be without headers
                await PlainTextResponse("Internal Server Error", 500)(scope, receive, answer)
            raise


class OwnPages:
    """Let only the console's own pages open the WebSocket or change anything, under the server's own names.

    Scripts send no `Origin`, and may change things over HTTP. A WebSocket is for pages, which always send it.
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
    """A list of origins, read in a thread when it is first needed, and kept."""

    def __init__(self, read: Origins) -> None:
        self._read = read
        self._found: tuple[str, ...] | None = None

    async def __call__(self) -> tuple[str, ...]:
        if self._found is None:
            self._found = tuple(await to_thread.run_sync(self._read))
        return self._found


def _own(scope: Scope, headers: Headers) -> str:
    """The origin of the pages served here under the name asked for; "" where only the settings know it."""
    host = headers.get("host", "")
    if _host(host) not in LOCAL_HOSTS or any(name in headers for name in PROXIED):
        return ""
    scheme = "https" if scope["scheme"] in ("https", "wss") else "http"
    return _normal(f"{scheme}://{host}")


@lru_cache(maxsize=64)
def _host(host: str) -> str:
    """The name in a `Host` header, in lower case and without its port; "" if there is none."""
    found = _normal(f"http://{host}")
    return host_of(found) if found else ""


@lru_cache(maxsize=64)
def _normal(origin: str) -> str:
    """The origin as it is compared; "" for `null` and whatever else is none."""
    try:
        return normal(origin)
    except ValueError:
        return ""


def _as_from_here(scope: Scope, headers: Headers) -> Scope:
    """A WebSocket's scope with its page's origin as if it were served here, which was checked.

    Streamlit would compare it with a list of its own, after asking a stranger for this machine's address.
    """
    if scope["type"] != "websocket":
        return scope
    origin = ("origin", f"http://{headers['host']}")
    kept = [(name, value) for name, value in scope["headers"] if name != b"origin"]
    return {**scope, "headers": [*kept, tuple(part.encode("latin-1") for part in origin)]}


def _add_headers(headers: MutableHeaders, embedders: Sequence[str]) -> None:
    """None of them loosens what an answer says of itself: a browser keeps to every policy it is sent."""
    headers.append("Content-Security-Policy", f"frame-ancestors {' '.join(embedders) or NONE}")
    headers["X-Content-Type-Options"] = "nosniff"
    # `no-referrer` would make a browser send `Origin: null` with a form of ours.
    headers["Referrer-Policy"] = "same-origin"
    if not embedders:  # it can name nobody
        headers["X-Frame-Options"] = "DENY"


def _may_be_set(variable: str) -> bool:
    """Whether the environment or `.env` speaks of the setting at all."""
    if any(name.upper() == variable for name in os.environ):
        return True
    try:
        return variable in Path(".env").read_text(encoding="utf-8", errors="replace").upper()
    except OSError:
        return False
