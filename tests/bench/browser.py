"""A browser whose own clock measures: from the click, or from the start of the navigation, to the painted page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

from tests.conftest import CHROMIUM

MISSING = "Chromium is missing (apt-get install chromium)"
BOUND = 120_000
"""Milliseconds that bound a wait which would never end."""
SIZE = {"width": 1400, "height": 1000}

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


def opening(browser: Browser, url: str, seen: str) -> tuple[float, float]:
    """Seconds from the start of the navigation to the painted page, and the instant by the system's clock."""
    page = new_page(browser)
    page.add_init_script(f"{PAINTED} window.opened = painted(() => settled() && ({seen}));")
    page.goto(url, wait_until="commit")
    took = float(page.evaluate("() => window.opened"))
    origin = float(page.evaluate("() => performance.timeOrigin"))
    page.context.close()
    return took / 1000, (origin + took) / 1000


def clicking(page: Page, button: str, seen: str) -> float:
    """Seconds from the click on `button` to the painted page."""
    script = f"""async () => {{ {PAINTED}
        const clicked = performance.now();
        document.querySelector('{button}').click();
        return await painted(() => {seen}) - clicked;
    }}"""
    return float(page.evaluate(script)) / 1000
