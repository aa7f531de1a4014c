"""The real servers, asked by pages of every origin over HTTP and the WebSocket: only the console's own get in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from socket import create_connection

import httpx
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.api.test_hosts import HEADERS
from tests.conftest import Server, free_port, until
from tests.forked import ROOT

pytestmark = pytest.mark.process

PROXY = "https://review.example.org"
FOREIGN = [
    *(
        None,
        "null",
        "http://localhost:3000",
        "http://127.0.0.1:3000",
        "http://0.0.0.0",
        "https://evil.example",
    ),
    *("https://127.0.0.1:{port}", "http://localhost:{port}", "http://[::1]:{port}", "http://127.0.0.1"),
    *("http://127.0.0.1:{port}.evil.example", "http://review.example.org", "https://review.example.org."),
]
OWN = ["http://127.0.0.1:{port}", "HTTP://127.0.0.1:{port}", PROXY]
MESSAGE = {"message": "/say Hello.", "thread_id": "t-1"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    found = Server(tmp_path_factory.mktemp("pages") / "data", REVIEW_ORIGINS=PROXY).start()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of the API alone, which only `https://a.example` may frame."""
    data, port = tmp_path_factory.mktemp("api"), free_port()
    environment = {"REVIEW_DATA": str(data), "REVIEW_ANCHOR": str(data / "anchors.jsonl")}
    environment |= {"REVIEW_ORIGINS": PROXY, "REVIEW_EMBEDDERS": "https://a.example"}
    command = [sys.executable, "-m", "agent", "serve-api", "--port", str(port)]
    with subprocess.Popen(
        command, cwd=ROOT, env=os.environ | environment, stderr=subprocess.DEVNULL
    ) as process:
        try:
            until(lambda: _answers(f"http://127.0.0.1:{port}/hitl/health"), 60)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, verify=False).status_code == 200
    except httpx.TransportError:
        return False


def is_served_a_page(server: Server, origin: str | None, *, named: str = "", **headers: str) -> bool:
    """Whether a WebSocket of this origin is opened and a page is drawn for it; if not, it was refused as it opened."""
    address = ("127.0.0.1", server.port)
    url = f"ws://{named or '{}:{}'.format(*address)}/_stcore/stream"
    given = None if origin is None else Origin(origin.format(port=server.port))
    message = BackMsg()
    message.rerun_script.query_string = ""
    try:
        with connect(
            url, sock=create_connection(address), origin=given, additional_headers=headers
        ) as socket:
            socket.send(message.SerializeToString())
            return bool(socket.recv(timeout=60))
    except InvalidStatus as error:
        refused = error.response
    assert refused.status_code == (403 if "host" not in headers else 400)
    assert {name: refused.headers.get(name) for name in HEADERS} == HEADERS
    return False


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_page_of_another_origin_or_of_none_opens_no_web_socket(pages: Server, origin: str | None) -> None:
    assert not is_served_a_page(pages, origin)


@pytest.mark.parametrize("origin", OWN)
def test_the_consoles_own_pages_are_drawn(pages: Server, origin: str) -> None:
    assert is_served_a_page(pages, origin)


def test_a_proxy_may_pass_on_the_host_it_was_asked_for(pages: Server) -> None:
    assert is_served_a_page(pages, PROXY, named="review.example.org")
    assert is_served_a_page(pages, PROXY, named="Review.Example.ORG:443")


def test_a_web_socket_of_two_hosts_is_refused(pages: Server) -> None:
    assert not is_served_a_page(pages, PROXY, host="review.example.org")


def test_what_a_proxy_says_of_the_scheme_makes_no_origin_the_consoles_own(pages: Server) -> None:
    forwarded = {"X-Forwarded-Proto": "https"}
    assert not is_served_a_page(pages, "https://127.0.0.1:{port}", **forwarded)
    assert not is_served_a_page(pages, "http://127.0.0.1:{port}", **forwarded)
    assert is_served_a_page(pages, PROXY, **forwarded)


CHANGES = [
    *(("POST", "/hitl/chat"), ("DELETE", "/hitl/rules/r-1"), ("PUT", "/_stcore/upload_file/s/f")),
    *(
        ("DELETE", "/_stcore/upload_file/s/f"),
        ("POST", "/_stcore/health"),
        ("PATCH", "/"),
        ("POST", "/media/x"),
    ),
]


@pytest.mark.parametrize("origin", [one for one in FOREIGN if one])
def test_a_page_of_another_origin_changes_nothing_over_http(pages: Server, api: str, origin: str) -> None:
    for base in (pages.url, api):
        headers = {"Origin": origin.format(port=base.rpartition(":")[2])}
        for method, path in CHANGES:
            answer = httpx.request(method, base + path, json=MESSAGE, headers=headers, verify=False)
            assert (answer.status_code, answer.json()["code"]) == (403, "ForeignOrigin"), (method, path)
        assert httpx.get(f"{base}/hitl/reviews", headers=headers, verify=False).status_code == 200
        assert httpx.get(f"{base}/hitl/threads/t-1", verify=False).status_code == 404


def test_a_script_and_the_consoles_own_pages_change_things_over_http(pages: Server, api: str) -> None:
    for base in (pages.url, api):
        for origin in ({}, {"Origin": base}, {"Origin": PROXY}):
            answer = httpx.post(
                f"{base}/hitl/chat", json={"message": "/say Hi."}, headers=origin, verify=False
            )
            assert answer.status_code == 200


ANSWERS = [
    *("/", "/chat", "/_stcore/health", "/_stcore/host-config", "/_stcore/script-health-check", "/media/none"),
    *(
        "/static/none.js",
        "/chat/",
        "//evil.example",
        "/..%5c",
        "/component/none/x",
        "/_stcore/bidi-components/x/y",
    ),
    *("/hitl/health", "/hitl/docs", "/hitl/openapi.json", "/hitl/docs/", "/hitl/none"),
]


def test_every_answer_of_the_pages_server_says_what_a_browser_has_to_know(pages: Server) -> None:
    page = httpx.get(f"{pages.url}/", verify=False).text
    scripts = [f"/{part.split(chr(34))[0].lstrip('./')}" for part in page.split('src="')[1:]]
    assert scripts
    found = [httpx.get(pages.url + path, verify=False) for path in (*ANSWERS, *scripts)]
    found.append(httpx.get(pages.url, headers={"Host": "evil.example"}, verify=False))
    assert {answer.status_code for answer in found} >= {200, 301, 307, 400, 404}
    for answer in found:
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, answer.url


def test_pages_are_sent_messages_by_no_other_page(pages: Server) -> None:
    assert httpx.get(f"{pages.url}/_stcore/host-config", verify=False).json()["allowedOrigins"] == []


def test_every_answer_of_the_apis_server_names_who_may_frame_it(api: str) -> None:
    for path in ("/hitl/health", "/hitl/docs", "/hitl/docs/", "/hitl/none", "/"):
        answer = httpx.get(api + path, verify=False)
        assert answer.headers["Content-Security-Policy"] == "frame-ancestors https://a.example"
        assert "X-Frame-Options" not in answer.headers
