"""Pages without a browser: Streamlit's own AppTest on the real console, everything found by its widget's key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from agent.bootstrap import Opened
from agent.console import Console
from agent.engine.guard import Stop
from agent.review.actions import Action, Review
from agent.review.threads import Run
from pages.parts import session
from tests.conftest import ROOT, ask, waiting

LITERAL = {"code", "text"}
"""Elements that show text as it is."""
TYPED = {"text_area", "text_input", "chat_input"}
"""Widgets whose value is shown as it is; their labels are not."""

MAIL = "Send an e-mail to alice@example.com: The meeting moved to 10."

Opens = Callable[..., "Screen"]


class Screen:
    """One browser session's view of the console."""

    def __init__(self, page: str, reviewer: str, address: dict[str, str]) -> None:
        self.at = AppTest.from_file(str(ROOT / "pages" / "shell.py"), default_timeout=60)
        self.at.session_state[session.REVIEWER] = reviewer
        if page != "inbox":
            # As a first visit by this address: `switch_page` needs a run on another page before.
            self.at._page_hash = calc_hash(page)
        self.go(**address)

    def go(self, **address: str) -> Screen:
        """Open the same page under this address."""
        self.at.query_params.clear()
        self.at.query_params.update(address)
        return self.run()

    def run(self) -> Screen:
        """Draw the page anew; whatever it could not draw is an error of the test."""
        self.at.run()
        assert not self.at.exception, [one.message for one in self.at.exception]
        return self

    def click(self, key: str) -> Screen:
        self.at.button(key=key).click()
        return self.run()

    def type(self, key: str, text: str) -> Screen:
        self.at.text_area(key=key).set_value(text)
        return self.run()

    def has(self, key: str) -> bool:
        return any(one.key == key for one in self.nodes())

    def is_off(self, key: str) -> bool:
        return bool(self.at.button(key=key).disabled)

    def primary(self, key: str) -> bool:
        """Whether the button stands out: chosen, or selected."""
        return str(self.at.button(key=key).proto.type) == "primary"

    def nodes(self) -> Iterator[Any]:
        """Every element and widget on the page."""
        return (node for node in self.at._tree if hasattr(node, "proto") and getattr(node, "type", None))

    def said(self) -> str:
        """All that stands on the page, but for what widgets hold."""
        return "\n".join(
            str(node.proto.body if hasattr(node.proto, "body") else node.value)
            for node in self.nodes()
            if node.type in {*LITERAL, "markdown", "caption", "error", "warning", "info", "toast", "badge"}
        )


@pytest.fixture(autouse=True, scope="session")
def installed_once() -> Iterator[None]:
    """Every run of an AppTest looks through all installed packages for components; none is installed meanwhile."""
    with pytest.MonkeyPatch.context() as patched:
        scanned = cache(manifest_scanner.scan_component_manifests)
        patched.setattr(manifest_scanner, "scan_component_manifests", scanned)
        yield


@pytest.fixture
def opens(page_console: Opened) -> Opens:
    """Open a page as a person's browser would: `opens("chat", reviewer="ben", thread="t1")`."""

    def open_page(page: str = "inbox", reviewer: str = "ana", **address: str) -> Screen:
        return Screen(page, reviewer, address)

    return open_page


@pytest.fixture
def console(page_console: Opened) -> Console:
    return page_console.console


@pytest.fixture
def mail(console: Console) -> Review:
    """A review of one e-mail."""
    return waiting(console, ask(console, MAIL))


@pytest.fixture
def unknown(page_console: Opened, monkeypatch: pytest.MonkeyPatch) -> Action:
    """An e-mail of which nobody knows whether it was sent."""

    def cut_off(*_: Any) -> None:
        raise Stop("the line went dead")

    console = page_console.console
    review = waiting(console, ask(console, MAIL))
    with monkeypatch.context() as patched:
        patched.setattr(page_console.world, "send", cut_off)
        assert console.wait(
            console.decide(review.thread_id, [{"type": "approve"}], by="ana", review_id=review.review_id), 30
        )
    (found,) = console.view(review.thread_id).unknown
    return found


def calls(*lines: str) -> str:
    """A message that makes the demo model propose exactly these calls in one turn."""
    return "\n".join(f"/call {one}" for one in lines)


def of(name: str, review: Review, place: int = 0) -> str:
    """The key of a widget that belongs to one action of the review."""
    return session.action_key(name, review, review.actions[place])


def send(review: Review) -> str:
    return session.key("send", review.review_id)


def ended(console: Console, thread_id: str) -> None:
    """Wait until the thread's run, if one is open, is over."""
    last: Run | None = console._ledger.last_run(thread_id)
    assert last is None or console.wait(last, 30)
