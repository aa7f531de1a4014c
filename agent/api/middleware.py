"""Check every request body before a route reads it: it is JSON, unambiguous, and not too large."""

from __future__ import annotations

import json
import re
from collections import Counter

from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute, APIRouter
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.api.errors import misshapen, refused
from agent.hosting.hosts import READING
from agent.review.arguments.argument_faults import cut

MAX_BODY = 4_000_000
"""Bytes: enough for a review of several actions with edited arguments of a megabyte each."""
MAX_DEPTH = 120
"""Levels of nesting: the arguments of a call may have 100, and are themselves a few levels down."""
QUICK = 64_000
"""Bytes of the largest body checked on the event loop; checking a larger one there would delay all other requests."""
# An unclosed string matches to the end of the text; otherwise it would be scanned again from each quotation mark.
_MARK = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


class BodyCheck:
    """Refuse a body that is not JSON and one that is too large, before anything reads it."""

    def __init__(self, app: ASGIApp, max_body: int = MAX_BODY) -> None:
        self._app, self._max_body = app, max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in READING:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        answer = _not_json(scope, headers)
        if answer is None:
            body = await _read(receive, headers, self._max_body)
            if body is not None:
                await self._app(scope, _replayed(body, receive), send)
                return
            answer = _too_large(self._max_body)
        await answer(scope, receive, send)


class StrictJson(APIRoute):
    """A route that refuses JSON with repeated keys, too deep nesting, or `NaN` and `Infinity`."""

    def get_route_handler(self):  # type: ignore[no-untyped-def]  # FastAPI's own signature
        inner = super().get_route_handler()

        async def strict(request: Request) -> Response:
            if request.method not in READING:
                body = await request.body()
                await run_in_threadpool(_check, body) if len(body) > QUICK else _check(body)
            return await inner(request)

        return strict


def strict_router() -> APIRouter:
    """Return a router of `StrictJson` routes, with the functions' names as operation ids in the OpenAPI document."""
    return APIRouter(route_class=StrictJson, generate_unique_id_function=lambda route: route.name)


def _not_json(scope: Scope, headers: Headers) -> Response | None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    # A DELETE says everything in its address, and no HTML form can send one.
    if kind == "application/json" or (scope["method"] == "DELETE" and not kind):
        return None
    return refused(
        415, "The body is not declared as JSON. Send it with Content-Type: application/json.", "NotJson"
    )


def _too_large(limit: int) -> Response:
    return refused(413, f"The body has more than {limit:,} bytes. Send less at once.", "BodyTooLarge")


async def _read(receive: Receive, headers: Headers, limit: int) -> bytes | None:
    """Return the complete body, or None if it is larger than `limit` bytes; never buffer much more than that."""
    declared = headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        return None
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > limit:
            return None
        if message["type"] != "http.request" or not message.get("more_body", False):
            return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Replay the body in one piece, then pass on what the client sends, such as a disconnect."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _check(body: bytes) -> None:
    """Raise the fault of a body that two parsers could read differently. An empty body passes: its route reports it."""
    if not body:
        return
    try:
        text = body.decode("utf-8")
        if _depth(text) > MAX_DEPTH:
            raise misshapen("json_too_deep", ["body"], f"More than {MAX_DEPTH} levels. Send a flatter body.")
        json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_number)
    except UnicodeDecodeError:
        raise misshapen("json_invalid", ["body"], "The body is not UTF-8. Send it as UTF-8.") from None
    except ValueError as odd:
        raise misshapen("json_invalid", ["body"], f"The body is not exact JSON: {odd}. Fix it.") from None


def _depth(text: str) -> int:
    """Return the depth of brackets outside strings, at most one over the limit; a deeper body could exhaust a parser's stack."""
    deepest = level = 0
    for mark in _MARK.finditer(text):
        match text[mark.start()]:
            case "[" | "{":
                level += 1
                deepest = max(deepest, level)
                if deepest > MAX_DEPTH:
                    return deepest
            case "]" | "}":
                level -= 1
    return deepest


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        repeated = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {cut(ascii(repeated))} appears twice in one object")
    return found


def _no_number(word: str) -> object:
    raise ValueError(f"{word} is not a JSON number")
