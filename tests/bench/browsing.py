"""What a person waits for, in Chromium: the next card after *Send*, the first page, large threads and queues."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import httpx
from playwright.sync_api import Browser, Locator, Page, TimeoutError

from pages.parts.card.card_clicks import FIRST_MOMENTS
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
from tests.conftest import until

EMPTY = "empty app"
AS_MANY = "app of as many elements"
INBOX = "document.querySelector('.st-key-q')"
THREAD = "document.querySelector('.st-key-message')"
AGAIN = "document.querySelector('.st-key-again')"


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    if not has_chromium():
        yield from _not_measured()
        return
    with chromium() as browser:
        yield _cold_start(browser, scale, folder)
        ours, empty = apps.console(folder / "browsing"), apps.empty(folder / "browsing-empty")
        full = apps.full(folder / "browsing-full")
        with apps.running(ours, empty, full):
            yield _first_page(browser, scale, ours, empty)
            yield from _send(browser, scale, ours, empty, full)
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


def _send(
    browser: Browser, scale: Scale, ours: apps.App, empty: apps.App, full: apps.App
) -> Iterator[Figure]:
    for number in range(scale.clicks + 2):
        args = {"path": f"notes-{number}.txt", "content": "The notes of the meeting."}
        body = {"message": f"/call write_file {json.dumps(args)}", "agent": "operations"}
        httpx.post(f"{ours.url}/hitl/chat", json=body, timeout=60).raise_for_status()
    inbox = new_page(browser)
    inbox.context.add_cookies([{"name": "review_name", "value": "ana", "url": ours.url}])
    inbox.goto(ours.url)
    acts: list[Callable[[], float]] = [
        partial(_sent, inbox),
        _again(browser, scale, empty),
        _again(browser, scale, full),
    ]
    sent, least, drawing = in_turns(scale.clicks, *acts)
    name = "click on Send to the next card"
    yield _figure(name, sent, 2, EMPTY, least)
    yield Figure(f"{name}, beside drawing alone", _ms(sent), None, AS_MANY, _ms(drawing))


def _again(browser: Browser, scale: Scale, app: apps.App) -> Callable[[], float]:
    """A click on the button of an app that does nothing but draw itself anew."""
    page = new_page(browser)
    page.goto(app.url)
    page.locator(".st-key-again button").wait_for()
    drawn = iter(range(1, scale.clicks + 2))

    def again() -> float:
        text = f"Drawn {next(drawn)}"
        return clicking(page, ".st-key-again button", f"document.body.innerText.includes('{text}')")

    return again


def _sent(inbox: Page) -> float:
    """Approve what is on screen, and measure from the click that sends it."""
    _settle(inbox)
    inbox.wait_for_timeout(FIRST_MOMENTS * 1_500)  # milliseconds: in them nothing can be sent
    approve, send = "[class*='st-key-approve-']", "[class*='st-key-send-']"
    sendable = inbox.locator(f"{send} button:enabled")
    until(lambda: _chosen(inbox.locator(f"{approve} button"), sendable), 120)
    _settle(inbox)
    names = str(inbox.locator(send).first.get_attribute("class")).split()
    this = next(name for name in names if name.startswith("st-key-send-"))
    gone = f"!document.querySelector('.{this}') && document.querySelector(\"{send} button\")"
    return clicking(inbox, f".{this} button", gone)


def _chosen(approve: Locator, sendable: Locator) -> bool:
    """Choose to approve, again if need be: a press is lost where the page draws its button anew."""
    approve.click(delay=50)
    try:
        sendable.wait_for(timeout=5_000)
    except TimeoutError:
        return False
    return True


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
    return Figure(name, _ms(ours), most(bound), against, _ms(theirs))


def _ms(seconds: float) -> Amount:
    return Amount(seconds * 1000, "ms")


def _not_measured() -> Iterator[Figure]:
    for name, bound in (("first page of a warm server", 1.5), ("click on Send to the next card", 2)):
        yield Figure(name, None, most(bound), EMPTY, why_not=MISSING)
