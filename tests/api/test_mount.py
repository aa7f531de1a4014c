"""What stands under the API's path is the API's; everything else, the server's own start included, is the pages'."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from agent.api import PREFIX
from agent.hosting.mount import MountedFirst, mounted


async def api(scope: Scope, receive: Receive, send: Send) -> None:
    request = Request(scope)
    await PlainTextResponse(f"api {scope['root_path']} {request.url.path}")(scope, receive, send)


async def pages(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("pages")(scope, receive, send)


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/hitl/reviews", "api /hitl /hitl/reviews"),
        ("/hitl/", "api /hitl /hitl/"),
        ("/hitl/a%0Ab", "api /hitl /hitl/ab"),
        ("/hitl-and-more", "pages"),
        ("/", "pages"),
        ("/chat/hitl/reviews", "pages"),
    ],
)
def test_the_path_decides_who_answers(path: str, answer: str) -> None:
    async def ask() -> str:
        transport = httpx.ASGITransport(app=MountedFirst(pages, mounted(PREFIX, api)))
        async with httpx.AsyncClient(transport=transport, base_url="http://here", verify=False) as client:
            return (await client.get(path)).text

    assert asyncio.run(ask()) == answer


@pytest.mark.parametrize("kind", ["lifespan", "websocket"])
def test_what_is_no_request_of_the_api_is_the_pages(kind: str) -> None:
    heard: list[str] = []

    async def hears(scope: Scope, receive: Receive, send: Send) -> None:
        heard.append(scope["type"])

    async def nothing(*_: Any) -> Any:
        raise AssertionError("nobody is to speak here")

    scope = {"type": kind, "path": "/_stcore/stream", "root_path": ""}
    asyncio.run(MountedFirst(hears, mounted(PREFIX, nothing))(scope, nothing, nothing))
    assert heard == [kind]
