"""The real server and a real browser. Everything is found by its widget's key, and waited for by a condition."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Locator,
    Page,
    Request,
    TimeoutError,
    WebSocket,
    expect,
)

from tests.conftest import Server

SECONDS = 60_000
"""Milliseconds that bound a wait which would never end."""

expect.set_options(timeout=SECONDS)

# Looked at with every frame of the page, where `expect` looks once a second after the first moments.
SETTLED = """() => {
    const app = document.querySelector("[data-testid=stApp]");
    return app?.dataset.testConnectionState === "CONNECTED" && app.dataset.testScriptState === "notRunning";
}"""

DANGEROUS = {"send_email": "to", "remove_file": "path", "rotate_keys": "service"}
"""The argument that a reviewer of an irreversible demo tool types again."""

Browses = Callable[..., "Tab"]


class Tab:
    """One tab of one person's browser."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page, self._server = page, server
        self.asked: list[str] = []
        page.set_default_timeout(SECONDS)
        page.on("request", self._note)
        page.on("websocket", self._connect)

    def _connect(self, socket: WebSocket) -> None:
        self._socket = socket

    def _note(self, request: Request) -> None:
        self.asked.append(request.url)

    @property
    def strangers(self) -> list[str]:
        """Whatever the page asked of anybody but the server."""
        home = urlsplit(self._server.url).netloc
        return [
            url
            for url in self.asked
            if urlsplit(url).netloc != home and not url.startswith(("data:", "blob:"))
        ]

    def open(self, path: str = "/") -> Tab:
        self.page.goto(f"{self._server.url}{path}")
        self.page.get_by_text("You are ").first.wait_for()
        return self

    def at(self, key: str) -> Locator:
        """The widget or container of this key."""
        return self.page.locator(f".st-key-{re.sub(r'[^a-zA-Z0-9_-]', '-', key)}")

    def of(self, name: str) -> Locator:
        """The widget of this name on whatever card is on screen."""
        return self.page.locator(f"[class*='st-key-{name}-']")

    def button(self, name: str) -> Locator:
        return self.of(name).get_by_role("button")

    def row(self, review_id: str) -> Locator:
        """The review's row in the inbox's list."""
        return self.at("waiting").locator(f"li[data-name='{review_id}'] button")

    def press(self, name: str, bound: int = SECONDS) -> Tab:
        """Click a button of the card on screen, once it can be clicked."""
        found = self.settled().button(name)
        expect(found).to_be_enabled(timeout=bound)
        found.click(delay=50)
        return self

    def send(self) -> Tab:
        """Send what is chosen, with everything it asks for, and wait until the card is gone."""
        this = self.settled().page.locator(f".{self._class_of('send')}")
        again(
            lambda: self.type_again().press("send", SECONDS // 10),
            lambda bound: expect(this).to_have_count(0, timeout=bound),
        )
        return self

    def type_again(self) -> Tab:
        """Type the dangerous value of what would run, where it is asked for."""
        self.settled()
        field = self.of("typed").locator("input")
        if field.count() == 0:
            return self
        value = self._dangerous()
        if field.input_value() != value:
            field.fill(value)
            field.press("Enter")
            self.settled()
        return self

    def _dangerous(self) -> str:
        """What is to be typed for the action in view, as the API tells its arguments."""
        named = self._class_of("typed")
        for review in self._server.get("reviews", limit=100)["reviews"]:
            for call in review["pending_review"]["action_requests"]:
                if named == f"st-key-typed-{review['review_id']}-{call['tool_call_id']}":
                    text = self.of("args").locator("textarea")
                    args = json.loads(text.input_value()) if text.count() else call["args"]
                    return str(args[DANGEROUS[call["name"]]])
        raise AssertionError(f"no review waits for {named}")

    def _class_of(self, name: str) -> str:
        """The class that the widget's key gives it."""
        classes = self.of(name).first.get_attribute("class") or ""
        return next(one for one in classes.split() if one.startswith(f"st-key-{name}-"))

    def press_and_see_it_leave(self, name: str) -> Tab:
        """Click a button, and go on the moment the click is on its way to the server."""
        with self._socket.expect_event("framesent", lambda sent: f"{name}:" in str(sent)):
            self.press(name)
        return self

    def choose(self, kind: str) -> Tab:
        """Choose a decision and wait until the page shows it as chosen."""
        again(lambda: self.press(kind), partial(shown_within, self.chosen(kind)))
        return self.type_again() if kind == "approve" else self

    def chosen(self, kind: str) -> Locator:
        return self.of(kind).locator("button[kind=primary]")

    def write(self, name: str, text: str) -> Tab:
        """Type into a text area of the card, and leave it: the draft is kept, and nothing is sent."""
        area = self.of(name).locator("textarea")
        area.fill(text)
        area.press("Tab")
        return self

    def say(self, text: str) -> Tab:
        """Write to the agent and send it."""
        box = self.at("message").locator("textarea")
        expect(box).to_be_enabled()
        box.fill(text)
        box.press("Enter")
        return self

    def take_name(self, name: str) -> Tab:
        """Say who uses this browser, before anything asks for it."""
        field = self.at("name").locator("input")
        again(
            lambda: self.settled().at("change-name").get_by_role("button").click(delay=50),
            partial(shown_within, field),
        )
        field.fill(name)
        self.at("use-name").get_by_role("button").click(delay=50)
        return self.sees(f"You are {name} (unverified)")

    def settled(self) -> Tab:
        """Wait until the page is connected and drawn: what is pressed while it is redrawn can be lost."""
        self.page.wait_for_function(SETTLED)
        return self

    def sees(self, text: str | re.Pattern[str]) -> Tab:
        self.page.locator("[data-testid=stApp]").get_by_text(text).first.wait_for()
        return self

    def sees_review(self, review_id: str) -> Tab:
        # Its box is there before it is: a page loads each kind of widget when it first needs it.
        self.at(f"send:{review_id}").get_by_role("button").wait_for()
        return self


def shown_within(place: Locator, bound: int) -> None:
    place.wait_for(timeout=bound)


def again(act: Callable[[], object], seen: Callable[[int], object]) -> None:
    """Do it until its effect is seen, as a person does: a press is lost where the page draws its button anew."""
    for _ in range(4):
        try:
            act()
            seen(SECONDS // 10)
        except (AssertionError, TimeoutError):
            continue
        return
    seen(SECONDS)


@pytest.fixture
def contexts(chromium: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """New browsers that know nothing of each other."""
    made: list[BrowserContext] = []

    def new(**options: Any) -> BrowserContext:
        made.append(chromium.new_context(viewport={"width": 1400, "height": 1000}, **options))
        return made[-1]

    yield new
    for context in made:
        context.close()


@pytest.fixture
def browses(contexts: Callable[..., BrowserContext]) -> Iterator[Browses]:
    """A tab at a server: `browses(server, "Ana")` in a browser of its own, or `beside=tab` in the same one."""
    tabs: list[Tab] = []

    def new(server: Server, name: str | None = "Ana", *, beside: Tab | None = None) -> Tab:
        context = beside.page.context if beside else contexts()
        if name and not beside:
            context.add_cookies([{"name": "review_name", "value": name, "url": server.url}])
        tabs.append(Tab(context.new_page(), server))
        return tabs[-1]

    yield new
    assert [one for tab in tabs for one in tab.strangers] == [], "a page asked strangers"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests of a module."""
    server = Server(tmp_path_factory.mktemp("shared") / "data").start()
    yield server
    server.stop()


def waiting(server: Server, message: str, **more: Any) -> dict[str, Any]:
    """Ask an agent by HTTP, and give the review it stops at."""
    answer = server.post("chat", message=message, **more).json()
    return {**answer["pending_review"], "thread_id": answer["thread_id"]}


def world(server: Server, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """What stands in the demo world's own database."""
    with closing(sqlite3.connect(Path(server.data) / "world.sqlite", timeout=10)) as found:
        return found.execute(query, values).fetchall()


def outbox(server: Server) -> list[str]:
    return [str(row[0]) for row in world(server, "SELECT recipient FROM outbox ORDER BY id")]


def events(server: Server, kind: str, **narrowed: Any) -> list[dict[str, Any]]:
    return list(server.get("audit", kind=kind, **narrowed)["events"])
