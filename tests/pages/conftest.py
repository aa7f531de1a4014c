"""Pages without a browser: Streamlit's own AppTest on the real console, everything found by its widget's key."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from agent import bootstrap
from agent.bootstrap import Opened
from agent.console import Console
from agent.engine.guard import Stop
from agent.review.actions import Action, Review, Waiting
from agent.review.retype import to_type
from agent.review.threads import Run
from pages.parts.card import card_clicks
from pages.parts.common.literal import digest
from pages.parts.state import identity, widget_keys
from tests.conftest import SetClock, ask, waiting
from tests.forked import ROOT

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
        if reviewer:
            self.at.session_state[identity.REVIEWER] = reviewer
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
        return self._drawn()

    def _drawn(self) -> Screen:
        assert not self.at.exception, [one.message for one in self.at.exception]
        return self

    def click(self, key: str) -> Screen:
        self.at.button(key=key).click()
        return self.run()

    def type(self, key: str, text: str) -> Screen:
        self.at.text_area(key=key).set_value(text)
        return self.run()

    def write_args(self, review: Review, text: str, place: int = 0) -> Screen:
        """Type into the JSON field of an edit, as its component in a browser would tell of it."""
        states = self.at._tree.get_widget_states()
        field = self._component(of("args", review, place))
        states.widgets.add(id=field.id, json_value=json.dumps({"text": text}))
        self.at._run(states)
        return self._drawn()

    def pick(self, rows: str, name: str) -> Screen:
        """Click a row, as its component in a browser would tell of it."""
        return self._tell(rows, "picked", name)

    def open_text(self, text: str) -> Screen:
        """Open the fold of a long text on a card, as its component in a browser would tell of it."""
        name = digest(text)
        (sheet,) = {one.key for one in self._sheets() if name in one.proto.json}
        return self._tell(sheet, "opened", name)

    def _tell(self, key: str, event: str, value: str) -> Screen:
        states = self.at._tree.get_widget_states()
        told = json.dumps([{"event": event, "value": value}])
        states.widgets.add(id=_make_trigger_id(self._component(key).id, "events"), json_trigger_value=told)
        self.at._run(states)
        return self._drawn()

    def _sheets(self) -> list[Any]:
        return [one for one in self.nodes() if getattr(one.proto, "component_name", "") == "sheet"]

    def texts(self, kind: str) -> list[str]:
        """The texts of this kind that stand on sheets, such as `code`, `line` or `warning`."""
        pieces = (piece for one in self._sheets() for piece in _pieces(json.loads(one.proto.json)))
        return [piece["text"] for piece in pieces if piece["is"] == kind and piece["text"] is not None]

    def rows(self, rows: str) -> list[list[str]]:
        """The rows of this list: each one's name and its two lines."""
        return list(self._data(rows)["rows"]) if self.has(rows) else []

    def picked(self, rows: str) -> str | None:
        """The row that stands out."""
        current = self._data(rows)["current"]
        return None if current is None else str(current)

    def _data(self, key: str) -> dict[str, Any]:
        return dict(json.loads(self._component(key).json))

    def _component(self, key: str) -> Any:
        (found,) = (one.proto for one in self.nodes() if one.key == key)
        return found

    def args(self, review: Review, place: int = 0) -> str:
        """What the JSON field of an edit holds."""
        return str(self._data(of("args", review, place))["text"])

    def marked_lines(self, review: Review) -> list[int]:
        return list(self._data(of("args", review))["wrong"])

    def approve(self, review: Review, place: int = 0) -> Screen:
        """Choose to approve, and type what an irreversible call wants typed."""
        return self.click(of("approve", review, place)).type_again(review, place)

    def type_again(self, review: Review, place: int = 0) -> Screen:
        """Type the dangerous value of what would run, where it is asked for."""
        key = of("typed", review, place)
        if not self.has(key):
            return self
        action, console = review.actions[place], bootstrap.opened().console
        kept = json.loads(
            console.queries.draft(review.review_id, self.at.session_state[identity.REVIEWER]) or ""
        )
        text = kept["choices"][action.key.tool_call_id]["text"]
        args = json.loads(text) if text else action.args
        self.at.text_input(key=key).set_value(
            to_type(console.queries.agent(action.agent).policy, action.tool, args)
        )
        return self.run()

    def send(self, review: Review) -> Screen:
        """Send what is chosen, with everything it asks for."""
        for place in range(len(review.actions)):
            self.type_again(review, place)
        return self.click(send(review))

    def has(self, key: str) -> bool:
        return any(one.key == key for one in self.nodes())

    def is_off(self, key: str) -> bool:
        return bool(self.at.button(key=key).disabled)

    def open_fold(self, key: str) -> Screen:
        """Open an expander or a popover, and see what is in it."""
        self.at.session_state[key] = True
        return self.run()

    def primary(self, key: str) -> bool:
        """Whether the button stands out: chosen, or selected."""
        return str(self.at.button(key=key).proto.type) == "primary"

    def nodes(self) -> Iterator[Any]:
        """Every element and widget on the page."""
        return (node for node in self.at._tree if hasattr(node, "proto") and getattr(node, "type", None))

    def said(self) -> str:
        """All that stands on the page, but for what widgets hold."""
        told = [
            str(node.proto.body if hasattr(node.proto, "body") else node.value)
            for node in self.nodes()
            if node.type in {*LITERAL, "markdown", "caption", "error", "warning", "info", "toast", "badge"}
        ]
        lists = (self.rows(key) for key in ("waiting", "unknown", "running", "done", "events"))
        rows = ("\n".join(lines) for made in lists for _, *lines in made)
        sheets = (
            str(text)
            for one in self._sheets()
            for piece in _pieces(json.loads(one.proto.json))
            for name, text in piece.items()
            if name in {"text", "label", "more"} or (piece["is"], name) == ("row", "name")
        )
        return "\n".join([*told, *rows, *sheets])


def _pieces(part: Any) -> Iterator[dict[str, Any]]:
    """Every piece of a sheet, however deep it stands."""
    if isinstance(part, dict):
        yield part
    for one in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _pieces(one)


@pytest.fixture(autouse=True, scope="session")
def installed_once() -> Iterator[None]:
    """Every run of an AppTest looks through all installed packages for components; none is installed meanwhile."""
    with pytest.MonkeyPatch.context() as patched:
        scanned = cache(manifest_scanner.scan_component_manifests)
        patched.setattr(manifest_scanner, "scan_component_manifests", scanned)
        yield


@pytest.fixture
def opens(page_console: Opened, monkeypatch: pytest.MonkeyPatch) -> Opens:
    """Open a page as a person's browser would: `opens("chat", reviewer="ben", thread="t1")`."""
    monkeypatch.setattr(card_clicks, "FIRST_MOMENTS", 0.0)  # nobody sits in front of these
    monkeypatch.setattr(identity, "cookie", lambda _: "")  # AppTest's browser is a mock that has every cookie

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
    (found,) = console.queries.view(review.thread_id).unknown
    return found


def calls(*lines: str) -> str:
    """A message that makes the demo model propose exactly these calls in one turn."""
    return "\n".join(f"/call {one}" for one in lines)


def of(name: str, review: Review, place: int = 0) -> str:
    """The key of a widget that belongs to one action of the review."""
    return widget_keys.action_key(name, review, review.actions[place])


def send(review: Review | Waiting) -> str:
    return widget_keys.key("send", review.review_id)


def ended(console: Console, thread_id: str) -> None:
    """Wait until the thread's run, if one is open, is over."""
    last: Run | None = console._ledger.last_run(thread_id)
    assert last is None or console.wait(last, 30)


def under_clock(console: Console, clock: SetClock) -> None:
    """Let this console go by another clock from now on, each of its rooms too."""
    rooms = [part for name, part in vars(console).items() if not name.startswith("_")]
    for one in (console, *rooms):
        if hasattr(one, "_clock"):
            one._clock = clock
