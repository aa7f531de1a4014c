"""A browser whose own clock measures: from the click, or from the start of the navigation, to the painted page."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tests.conftest import CHROMIUM

MISSING = "Chromium is missing (apt-get install chromium)"
BOUND = 120_000
"""Milliseconds that bound a wait which would never end."""
SIZE: ViewportSize = {"width": 1400, "height": 1000}

# `seen` is a condition on the page. It is painted with the next frame.
PAINTED = """
const painted = seen => new Promise(done => {
    const frame = () => requestAnimationFrame(() => setTimeout(() => done(performance.now())));
    if (seen()) return frame();
    const observer = new MutationObserver(() => {
        if (seen()) { observer.disconnect(); frame(); }
    });
    observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
});
const settled = () => document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]');
"""


def has_chromium() -> bool:
    return shutil.which(CHROMIUM) is not None


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


def new_page(browser: Browser) -> Page:
    """A page of a browser that has seen nothing yet."""
    page = browser.new_context(viewport=SIZE).new_page()
    page.set_default_timeout(BOUND)
    return page


def opening(browser: Browser, url: str, seen: str) -> float:
    """Seconds from the start of the navigation to the painted page, in a browser that has seen nothing yet."""
    return _open(browser, url, seen)[1]


def opened_at(browser: Browser, url: str, seen: str) -> float:
    """The instant the page was painted, by the system's clock, in seconds."""
    return sum(_open(browser, url, seen))


def _open(browser: Browser, url: str, seen: str) -> tuple[float, float]:
    page = new_page(browser)
    page.add_init_script(f"{PAINTED} window.opened = painted(() => settled() && ({seen}));")
    page.goto(url, wait_until="commit")
    took = float(page.evaluate("() => window.opened"))
    origin = float(page.evaluate("() => performance.timeOrigin"))
    page.context.close()
    return origin / 1000, took / 1000


def in_turns(times: int, *acts: Callable[[], float]) -> list[float]:
    """The median of what each act measured; the first round only warms up."""
    rounds = [[act() for act in acts] for _ in range(times + 1)]
    return [median(column) for column in zip(*rounds[1:], strict=True)]


def clicking(page: Page, button: str, seen: str) -> float:
    """Seconds from the click on `button` to the painted page."""
    script = f"""async () => {{ {PAINTED}
        const clicked = performance.now();
        document.querySelector('{button}').click();
        return await painted(() => {seen}) - clicked;
    }}"""
    return float(page.evaluate(script)) / 1000
