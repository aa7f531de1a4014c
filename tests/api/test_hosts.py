"""Who is answered: the server's own names, the console's own pages, scripts; and what every answer says to a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import Message

from agent import bootstrap
from agent import settings as settings_module
from agent.bootstrap import Opened
from agent.hosting.hosts import from_settings, guarded
from agent.settings import Settings
from tests.api.conftest import Served
from tests.api.test_middleware import EVERY_GET, EVERY_POST, MESSAGE, nothing_stored

PROXY = "https://review.example.org"
FOREIGN = [
    *("https://evil.example", "http://localhost:1", "http://localhost:3000", "http://127.0.0.1", "null", ""),
    *("file://", "http://localhost:{port}", "https://127.0.0.1:{port}", "http://127.0.0.1.:{port}"),
    *("http://127.0.0.1:{port}.evil.example", "http://evil.example@127.0.0.1:{port}", "http://[::1]:{port}"),
    *("http://127.0.0.1:{port} http://evil.example", "http://127.0.0.1:{port}/"),
    *("http://review.example.org", "https://review.example.org:8443", "https://www.review.example.org"),
]


@pytest.fixture
def proxied(opened: Opened) -> Iterator[Served]:
    found = Served(opened, origins=(PROXY,)).start()
    yield found
    found.stop()


def post(served: Served, **headers: str) -> httpx.Response:
    return served.client.post("/chat", json=MESSAGE, headers=headers)


OTHER_HOSTS = [
    *("evil.example", "127.0.0.1.evil.example", "192.168.0.1:8501", "localhost.evil", "localhost.", ""),
    *("evil@localhost", "localhost/x", "localhost:x", "[::2]", "review.example.org"),
]
OWN_HOSTS = [
    *(
        "localhost",
        "127.0.0.1",
        "[::1]",
        "LOCALHOST",
        "localhost:8501",
        "[::1]:8501",
        "[0:0:0:0:0:0:0:1]:8501",
    ),
]
OWN = [
    ("127.0.0.1:{port}", "http://127.0.0.1:{port}"),
    ("127.0.0.1:{port}", "HTTP://127.0.0.1:{port}"),
    ("LocalHost:{port}", "http://localhost:{port}"),
    ("[::1]:{port}", "http://[::1]:{port}"),
    ("localhost", "http://localhost"),
    ("localhost:80", "http://localhost"),
    ("review.example.org", PROXY),
    ("review.example.org:443", PROXY),
    ("127.0.0.1:{port}", PROXY),
]


def test_another_host_name_is_refused(served: Served) -> None:
    for host in OTHER_HOSTS:
        for answer in (served.client.get("/health", headers={"Host": host}), post(served, Host=host)):
            assert answer.status_code == 400, host
    assert nothing_stored(served)


def test_every_name_of_this_machine_is_served(served: Served) -> None:
    for host in OWN_HOSTS:
        assert served.client.get("/health", headers={"Host": host}).status_code == 200, host


def test_a_page_of_another_origin_changes_nothing(proxied: Served) -> None:
    for origin in FOREIGN:
        headers = {"Origin": origin.format(port=proxied.host.partition(":")[2])}
        for path in EVERY_POST:
            answer = proxied.client.post(f"/{path}", json=MESSAGE, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "ForeignOrigin"), origin
        assert proxied.client.delete("/rules/r-1", headers=headers).status_code == 403, origin
    assert nothing_stored(proxied)


def test_the_consoles_own_pages_may_change_things(proxied: Served) -> None:
    port = proxied.host.partition(":")[2]
    for host, origin in OWN:
        answer = post(proxied, Host=host.format(port=port), Origin=origin.format(port=port))
        assert answer.status_code == 200, (host, origin)


def test_a_script_sends_no_origin_and_may_change_things(served: Served) -> None:
    assert post(served).status_code == 200


def test_two_origins_are_none(served: Served) -> None:
    own = f"http://{served.host}"
    headers = [("Origin", own), ("Origin", "https://evil.example")]
    assert served.client.post("/chat", json=MESSAGE, headers=headers).status_code == 403


def test_behind_a_proxy_only_the_origins_of_the_settings_count(proxied: Served) -> None:
    for name in ("X-Forwarded-Proto", "X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Via", "X-Real-IP"):
        for said in ("https", "http"):
            for origin in (f"http://{proxied.host}", f"https://{proxied.host}"):
                assert post(proxied, **{name: said, "Origin": origin}).status_code == 403, (
                    name,
                    said,
                    origin,
                )
            assert post(proxied, **{name: said, "Origin": PROXY}).status_code == 200, (name, said)


def test_a_page_of_the_proxys_host_without_its_encryption_is_another(proxied: Served) -> None:
    answer = post(proxied, Host="review.example.org", Origin="http://review.example.org")
    assert answer.status_code == 403


HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


def test_every_answer_says_who_may_frame_it_and_that_it_is_what_it_says(served: Served) -> None:
    get, client = served.get, served.client
    answers = [
        *(get(f"/{path}") for path in EVERY_GET),
        get("/nothing"),
        get("/threads/a%20b"),
        client.get(f"http://{served.host}/elsewhere"),
        client.get(f"http://{served.host}/hitl/docs/"),
        client.get("/health", headers={"Host": "evil.example"}),
        get("/chat"),
        post(served, Origin="null"),
        client.post("/chat", content=b"{", headers={"Content-Type": "application/json"}),
        post(served),
        client.post("/chat", json=MESSAGE, headers={"Accept": "text/event-stream"}),
    ]
    assert {answer.status_code for answer in answers} >= {200, 307, 400, 403, 404, 405, 422}
    for answer in answers:
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, answer.url


def test_a_failure_that_nobody_foresaw_says_it_too(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("no such luck")

    monkeypatch.setattr(served.console.queries, "health", broken)
    answer = served.get("/health")
    assert (answer.status_code, answer.headers["X-Content-Type-Options"]) == (500, "nosniff")


def test_a_failure_of_the_pages_says_it_too() -> None:
    def broken(_: Request) -> Response:
        raise RuntimeError("no such luck")

    app = Starlette(routes=[Route("/", broken)], middleware=guarded(origins=tuple, embedders=tuple))

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", verify=False
        ) as client:
            return await client.get("/")

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.text) == (500, "Internal Server Error")
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS


@pytest.mark.parametrize("name", ["REVIEW_EMBEDDERS", "review_embedders"])
@pytest.mark.parametrize("in_file", [True, False])
def test_the_settings_are_read_where_the_environment_or_a_dot_env_file_speaks_of_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Settings, name: str, in_file: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REVIEW_AGENTS", str(settings.review_agents))
    if in_file:
        Path(".env").write_text(f"{name}=https://a.example")
    else:
        monkeypatch.setenv(name, "https://a.example")
    monkeypatch.setattr(bootstrap, "opened", lambda at_work: SimpleNamespace(settings=settings_module.read()))
    assert from_settings("REVIEW_EMBEDDERS")() == ("https://a.example",)


def test_no_settings_are_read_for_the_first_page_where_nothing_speaks_of_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REVIEW_EMBEDDERS", raising=False)
    monkeypatch.delattr(bootstrap, "opened")
    assert from_settings("REVIEW_EMBEDDERS")() == ()


def test_a_server_that_cannot_answer_a_handshake_closes_the_web_socket() -> None:
    sent: list[Message] = []

    async def never(*_: object) -> None:
        raise AssertionError("it got in")

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"origin", b"null")]
    scope = {"type": "websocket", "scheme": "ws", "path": "/_stcore/stream", "headers": headers}
    app = Starlette(routes=[WebSocketRoute("/_stcore/stream", never)], middleware=guarded(tuple, tuple))
    asyncio.run(app(scope, never, send))  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_the_exported_page_keeps_the_stricter_policy_of_its_own(served: Served) -> None:
    post(served)
    answer = served.get("/threads/t-1/export", format="html")
    policies = answer.headers.get_list("Content-Security-Policy")
    assert policies[-1] == "frame-ancestors 'none'"
    assert policies[0].startswith("sandbox; default-src 'none'")


def test_embedders_of_the_settings_may_frame_it_and_nobody_else(opened: Opened) -> None:
    served = Served(opened, embedders=("https://a.example", "http://b.example:8080")).start()
    try:
        headers = served.get("/health").headers
        assert headers["Content-Security-Policy"] == "frame-ancestors https://a.example http://b.example:8080"
        assert "X-Frame-Options" not in headers
        assert post(served, Origin="https://a.example").status_code == 403
    finally:
        served.stop()
