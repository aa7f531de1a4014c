"""Pictures of every page and state, to be looked at: `python -m tests.shots [parts of names]`.

They go to `tests/shots/`, in light and dark, wide and narrow. Needs Chromium; starts a server of its own.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from tests.acts import served
from tests.browser.conftest import Tab
from tests.conftest import CHROMIUM, Server
from tests.states import Act, states

FOLDER = Path(__file__).parent / "shots"
SIZES = {"wide": (1400, 900), "narrow": (420, 900)}


def take(browser: Browser, server: Server, name: str, path: str, act: Act) -> None:
    for scheme in ("light", "dark"):
        for size, (width, height) in SIZES.items():
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            context.add_cookies([{"name": "review_name", "value": f"Ana {scheme} {size}", "url": server.url}])
            tab = Tab(context.new_page(), server).open(path).settled()
            act(tab)
            tab.settled()
            expect(tab.page.get_by_test_id("stSkeleton")).to_have_count(0)
            tab.page.evaluate("document.fonts.ready")  # text in a font that still loads is not drawn
            tab.page.screenshot(path=FOLDER / f"{name}-{scheme}-{size}.png")
            context.close()
    print(name)


def main(wanted: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        server = Server(Path(folder) / "data", REVIEW_AGENTS=str(served(Path(folder))))
        server.start()
        try:
            for name, path, act in states(server):
                if any(part in name for part in wanted):
                    take(browser, server, name, path, act)
        finally:
            server.stop()


if __name__ == "__main__":
    main(sys.argv[1:] or [""])
