"""A page of another origin, in the same browser as the console, decides nothing; nor does a browser without a name."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Browses, events, outbox, waiting
from tests.conftest import Server, free_port, until

pytestmark = [pytest.mark.browser, pytest.mark.process]

LETTER = '/call send_email {"to": "a@example.com", "subject": "s", "body": "b"}'
ATTACK = """
async ({ console, body }) => {
  const outcome = {};
  const attempt = async (name, act) => { try { outcome[name] = await act(); } catch (error) { outcome[name] = "failed"; } };
  const post = (init) => fetch(`${console}/hitl/review`, { method: "POST", body, ...init }).then((one) => one.type + one.status);
  await attempt("post", () => post({ headers: { "Content-Type": "application/json" } }));
  await attempt("blind post", () => post({ mode: "no-cors" }));
  await attempt("beacon", () => navigator.sendBeacon(`${console}/hitl/review`, body));
  await attempt("read", () => fetch(`${console}/hitl/reviews`).then((one) => one.text()));
  await attempt("delete", () => fetch(`${console}/hitl/rules/r-1`, { method: "DELETE" }).then((one) => one.type));
  await attempt("form", () => {
    const target = Object.assign(document.createElement("iframe"), { name: "target" });
    const form = Object.assign(document.createElement("form"), { method: "post", target: "target" });
    form.action = `${console}/hitl/chat`;
    form.enctype = "text/plain";
    form.append(Object.assign(document.createElement("input"), { name: '{"message": "/say Hi.", "a": "', value: '"}' }));
    document.body.append(target, form);
    form.submit();
    return new Promise((done) => setTimeout(() => done("sent"), 500));
  });
  await attempt("socket", () => new Promise((done) => {
    const socket = new WebSocket(`${console.replace("http", "ws")}/_stcore/stream`, ["streamlit"]);
    socket.onopen = () => done("opened");
    socket.onerror = () => done("failed");
  }));
  return outcome;
}
"""
FAILED = {"post": "failed", "read": "failed", "delete": "failed", "socket": "failed"}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """The address of a page that another program serves on this machine."""
    (tmp_path / "index.html").write_text("<!doctype html><title>Elsewhere</title><body></body>")
    with ThreadingHTTPServer(("127.0.0.1", free_port()), partial(Quiet, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def foreign(contexts: Callable[..., BrowserContext], shared: Server, elsewhere: str) -> Page:
    """The page of another origin, in a browser whose person has a name at the console."""
    context = contexts()
    context.add_cookies([{"name": "review_name", "value": "Ana", "url": shared.url}])
    page = context.new_page()
    page.goto(elsewhere)
    return page


def framed(page: Page, url: str, **attributes: str) -> Any:
    """What a frame with this address comes to show on the page."""
    with page.expect_event("framenavigated", lambda frame: frame.parent_frame is not None):
        page.evaluate(
            "([url, attributes]) => document.body.append(Object.assign(document.createElement('iframe'), { src: url, ...attributes }))",
            [url, attributes],
        )
    return page.frames[-1]


def attack(page: Any, server: Server, review: dict[str, Any]) -> dict[str, Any]:
    body = {
        "thread_id": review["thread_id"],
        "decisions": [{"type": "approve", "shown_digest": review["action_requests"][0]["shown_digest"]}],
    }
    found: dict[str, Any] = page.evaluate(ATTACK, {"console": server.url, "body": json.dumps(body)})
    return found


def test_a_page_of_another_port_of_this_machine_reaches_nothing(shared: Server, foreign: Page) -> None:
    review = waiting(shared, LETTER)
    before = shared.get("audit", limit=1_000)
    outcome = attack(foreign, shared, review)
    assert {name: outcome[name] for name in FAILED} == FAILED
    assert outcome["blind post"] == "opaque0"  # it was sent, and the page learns nothing of the refusal
    assert shared.get("audit", limit=1_000) == before
    assert outbox(shared) == []


def test_a_page_without_an_origin_reaches_nothing(shared: Server, foreign: Page) -> None:
    review = waiting(shared, LETTER)
    before = shared.get("audit", limit=1_000)
    inside = framed(foreign, "", srcdoc="<body></body>", sandbox="allow-scripts allow-forms")
    assert inside.evaluate("() => origin") == "null"
    outcome = attack(inside, shared, review)
    assert {name: outcome[name] for name in FAILED} == FAILED
    assert shared.get("audit", limit=1_000) == before


@pytest.mark.parametrize("path", ["/", "/chat", "/hitl/docs", "/hitl/health"])
def test_the_console_is_not_shown_in_a_frame_of_another_page(
    shared: Server, foreign: Page, path: str
) -> None:
    inside = framed(foreign, f"{shared.url}{path}")
    assert inside.url == "chrome-error://chromewebdata/"


def test_a_page_that_may_embed_the_console_shows_it_and_still_reaches_nothing(
    tmp_path: Path, contexts: Callable[..., BrowserContext], elsewhere: str
) -> None:
    server = Server(tmp_path / "embedded" / "data", REVIEW_EMBEDDERS=elsewhere)
    server.data.parent.mkdir()
    server.start()
    try:
        page = contexts().new_page()
        page.goto(elsewhere)
        inside = framed(page, server.url)
        expect(inside.get_by_text("You are ").first).to_be_visible()
        assert attack(page, server, waiting(server, LETTER))["socket"] == "failed"
        assert outbox(server) == []
    finally:
        server.stop()


def test_the_apis_own_page_works(shared: Server, contexts: Callable[..., BrowserContext]) -> None:
    page = contexts().new_page()
    page.goto(f"{shared.url}/hitl/docs")
    call = page.locator("#operations-default-chat")
    call.locator("button").first.click()
    call.get_by_role("button", name="Try it out").click()
    call.locator("textarea").fill('{"message": "/say Hello from the docs."}')
    call.get_by_role("button", name="Execute").click()
    expect(call.locator(".live-responses-table").get_by_text("Hello from the docs.").first).to_be_visible()


def test_a_browser_is_asked_for_a_name_once_and_what_was_typed_is_kept(
    shared: Server, browses: Browses
) -> None:
    review = waiting(shared, LETTER)
    tab = browses(shared, None).open(f"/?review={review['review_id']}").choose("reject")
    tab.write("reason", "Not to them.").press("send")
    expect(tab.at("first-name").locator("input")).to_have_value("ana")
    assert events(shared, "DecisionMade", thread_id=review["thread_id"]) == []
    tab.at("first-name").locator("input").fill("Ben")
    tab.at("first-use-name").get_by_role("button").click(delay=50)
    tab.sees("You are Ben (unverified)")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    expect(tab.of("reason").locator("textarea")).to_have_value("Not to them.")
    tab.send()
    (made,) = events(shared, "DecisionMade", thread_id=review["thread_id"])
    assert (made["by"], made["data"]["reason"]) == ("Ben", "Not to them.")
    until(lambda: "review_name" in {one["name"] for one in tab.page.context.cookies()})
    again = browses(shared, beside=tab).open("/chat").say("/say Hello.")
    again.sees("Hello.")
    expect(again.page.get_by_role("dialog")).to_have_count(0)


def test_a_message_stays_in_its_field_until_its_sender_has_a_name(shared: Server, browses: Browses) -> None:
    tab = browses(shared, None).open("/chat").say("/say Hello to Cem.")
    tab.at("first-name").locator("input").fill("Cem")
    tab.at("first-name").locator("input").press("Enter")
    tab.sees("You are Cem (unverified)")
    box = tab.at("message").locator("textarea")
    expect(box).to_have_value("/say Hello to Cem.")
    box.press("Enter")
    tab.sees("Hello to Cem.")
    until(lambda: [one["by"] for one in events(shared, "MessageSent") if one["by"] == "Cem"])
