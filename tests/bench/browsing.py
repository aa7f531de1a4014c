"""What a person waits for, in Chromium: the next card after *Send*, the first page, large threads and queues."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import httpx
from playwright.sync_api import Browser, Page

from tests.bench import apps
from tests.bench.browser import (
    MISSING,
    chromium,
    clicking,
    has_chromium,
    in_turns,
    new_page,
    opened_at,
    opening,
)
from tests.bench.figures import Amount, Figure, most
from tests.bench.scale import Scale
from tests.bench.seed import LONG, large, page

EMPTY = "empty app"
INBOX = "document.querySelector('.st-key-q')"
THREAD = "document.querySelector('.st-key-message')"
AGAIN = "document.querySelector('.st-key-again')"


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    if not has_chromium():
        yield from _not_measured()
        return
    with chromium() as browser:
        yield _cold_start(browser, scale, folder)
        ours, theirs = apps.console(folder / "browsing"), apps.empty(folder / "browsing-empty")
        with apps.running(ours, theirs):
            yield _first_page(browser, scale, ours, theirs)
            yield _send(browser, scale, ours, theirs)
        many, few = apps.console(large(scale, folder)), apps.console(page(scale, folder))
        with apps.running(many, few):
            yield from _openings(browser, scale, many, few)


def _cold_start(browser: Browser, scale: Scale, folder: Path) -> Figure:
    def from_nothing(make: Callable[[Path], apps.App], name: str, seen: str) -> float:
        app = make(folder / name)
        with apps.running(app):
            return opened_at(browser, app.url, seen) - app.started_at

    rounds = [
        (
            from_nothing(apps.console, f"cold-{number}", INBOX),
            from_nothing(apps.empty, f"cold-empty-{number}", AGAIN),
        )
        for number in range(scale.cold_starts)
    ]
    ours, theirs = (median(column) for column in zip(*rounds, strict=True))
    return _figure("cold start to first page", ours, 1.5, EMPTY, theirs)


def _first_page(browser: Browser, scale: Scale, ours: apps.App, theirs: apps.App) -> Figure:
    found = in_turns(
        scale.openings,
        partial(opening, browser, ours.url, INBOX),
        partial(opening, browser, theirs.url, AGAIN),
    )
    return _figure("first page of a warm server", found[0], 1.5, EMPTY, found[1])


def _send(browser: Browser, scale: Scale, ours: apps.App, theirs: apps.App) -> Figure:
    for number in range(scale.clicks + 2):
        args = {"path": f"notes-{number}.txt", "content": "The notes of the meeting."}
        body = {"message": f"/call write_file {json.dumps(args)}", "agent": "operations"}
        httpx.post(f"{ours.url}/hitl/chat", json=body, timeout=60).raise_for_status()
    inbox, empty = new_page(browser), new_page(browser)
    inbox.goto(ours.url)
    empty.goto(theirs.url)
    empty.locator(".st-key-again button").wait_for()
    drawn = iter(range(1, scale.clicks + 2))

    def again() -> float:
        text = f"Drawn {next(drawn)}"
        return clicking(empty, ".st-key-again button", f"document.body.innerText.includes('{text}')")

    found = in_turns(scale.clicks, partial(_sent, inbox), again)
    inbox.context.close()
    empty.context.close()
    return _figure("click on Send to the next card", found[0], 2, EMPTY, found[1])


def _sent(inbox: Page) -> float:
    """Approve what is on screen, and measure from the click that sends it."""
    _settle(inbox)
    approve, send = "[class*='st-key-approve-']", "[class*='st-key-send-']"
    inbox.locator(f"{approve} button").click(delay=50)
    inbox.locator(f"{send} button:enabled").wait_for()
    _settle(inbox)
    names = str(inbox.locator(send).first.get_attribute("class")).split()
    this = next(name for name in names if name.startswith("st-key-send-"))
    gone = f"!document.querySelector('.{this}') && document.querySelector(\"{send} button\")"
    return clicking(inbox, f".{this} button", gone)


def _settle(inbox: Page) -> None:
    inbox.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()


def _openings(browser: Browser, scale: Scale, many: apps.App, few: apps.App) -> Iterator[Figure]:
    thread = f"/chat?thread={LONG}"
    found = in_turns(
        scale.openings,
        partial(opening, browser, many.url + thread, THREAD),
        partial(opening, browser, few.url + thread, THREAD),
    )
    name = f"thread of {scale.messages:,} messages opens"
    yield _figure(name, found[0], 1.2, f"{scale.few_messages} messages", found[1])
    found = in_turns(
        scale.openings, partial(opening, browser, many.url, INBOX), partial(opening, browser, few.url, INBOX)
    )
    name = f"inbox opens with {scale.waiting:,} waiting"
    yield _figure(name, found[0], 1.2, f"{scale.page_of_waiting} waiting", found[1])


def _figure(name: str, ours: float, bound: float, against: str, theirs: float) -> Figure:
    return Figure(name, Amount(ours * 1000, "ms"), most(bound), against, Amount(theirs * 1000, "ms"))


def _not_measured() -> Iterator[Figure]:
    for name, bound in (("first page of a warm server", 1.5), ("click on Send to the next card", 2)):
        yield Figure(name, None, most(bound), EMPTY, why_not=MISSING)
