"""Every page and state by axe-core's rules, in light and dark: nothing serious, and contrast as WCAG's AA asks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.conftest import Browses, Tab, events, waiting
from tests.conftest import Server

pytestmark = [pytest.mark.browser, pytest.mark.process]

SERIOUS = ("serious", "critical")
HIGHLIGHTED = 'class="token '
"""Code in Streamlit's own colours of syntax, which no theme can change."""

AT_REST = "() => document.getAnimations().every(one => one.effect.getComputedTiming().endTime === Infinity)"
"""No colour is on its way to another one: in between, text can have less contrast than in either scheme."""

EVERYTHING = {"resultTypes": ["violations"]}
OF_COLOURS = {**EVERYTHING, "runOnly": ["color-contrast", "link-in-text-block"]}
"""What can differ between the two schemes. Every other rule is run in one of them."""

BACKGROUNDS = {"light": "rgb(252, 252, 251)", "dark": "rgb(18, 23, 22)"}
"""As .streamlit/config.toml has them; a page takes them on when its browser is switched over."""


def faults(tab: Tab) -> dict[str, list[str]]:
    """What axe finds serious on the page as it stands, in light and in dark."""
    found = {}
    for scheme, background in BACKGROUNDS.items():
        tab.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        expect(tab.settled().page.get_by_test_id("stApp")).to_have_css("background-color", background)
        tab.page.wait_for_function(AT_REST)
        found[scheme] = _faults(tab, EVERYTHING if scheme == "light" else OF_COLOURS)
    return {scheme: each for scheme, each in found.items() if each}


def _faults(tab: Tab, options: dict[str, Any]) -> list[str]:
    found = Axe().run(tab.page, options=options).response["violations"]
    return [
        f"{one['id']}: {node['target']} {node['html'][:200]} {node.get('failureSummary', '')}"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
        if HIGHLIGHTED not in node["html"]
    ]


def test_no_page_has_a_serious_fault(shared: Server, browses: Browses) -> None:
    args = {"to": "bob@example.com", "subject": "s", "body": "b\u202e"}
    call = f"/say Trust me.\n/call send_email {json.dumps(args)}"
    review = waiting(shared, f"{call}\n/call send_email {json.dumps(args)}")
    card, thread = f"/?review={review['review_id']}", f"/chat?thread={review['thread_id']}"
    tab = browses(shared)
    found = {}
    for path in ("/chat", "/audit", "/policies", "/qa", "/lessons", "/?review=none", thread, card):
        found[path] = faults(tab.open(path))
    for kind in ("approve", "edit", "reject"):
        found[kind] = faults(tab.choose(kind))
    found["event"] = faults(tab.open(f"/audit?event={events(shared, 'ReviewOpened')[0]['seq']}"))
    tab.open(thread).page.get_by_role("radio", name="Under the hood").click(delay=50)
    found["under the hood"] = faults(tab.sees("Checkpoints"))
    assert {path: each for path, each in found.items() if each} == {}
