"""Every page over a data folder as it is, drawn without a browser: what is wrong with it, in lines."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import streamlit
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner import exec_code

from agent import bootstrap
from agent.review.errors import ReviewError
from pages.parts.card import card_clicks
from pages.parts.state import identity
from tests.fuzz.looking import THREADS, environment
from tests.pages.conftest import Screen

Page = tuple[str, tuple[tuple[str, str], ...]]
PAGES: Sequence[Page] = (
    *((name, ()) for name in ("inbox", "chat", "audit", "policies", "qa", "lessons")),
    *(("chat", (("thread", name),)) for name in THREADS),
)


@contextmanager
def as_in_a_browser() -> Iterator[None]:
    """Draw pages as the fixtures of `tests.pages` have them drawn."""
    scanned = cache(manifest_scanner.scan_component_manifests)
    with (
        patch.object(manifest_scanner, "scan_component_manifests", scanned),
        patch.object(card_clicks, "FIRST_MOMENTS", 0.0),
        patch.object(identity, "cookie", lambda _: ""),
    ):
        yield


def pages(folder: Path, wanted: Sequence[Page] = PAGES) -> list[str]:
    """What fails of these pages, and of those that the inbox and the record link to."""
    with environment(folder), as_in_a_browser():
        try:
            opened = bootstrap.opened()
        except ReviewError as error:
            return [] if str(error) else ["a refusal without words"]
        except Exception:
            return [f"opening: {traceback.format_exc()}"]
        more = list(_linked(opened.console)) if ("inbox", ()) in wanted else []
        return [fault for page in [*wanted, *more] for fault in page_faults(page)]


def _linked(console: object) -> Iterator[Page]:
    for ledger in [console._ledger]:  # type: ignore[attr-defined]
        reviews = ledger._all("SELECT review_id FROM reviews ORDER BY rowid")
        yield from (("inbox", (("review", row["review_id"]),)) for row in reviews)
        actions = ledger._all("SELECT thread_id, tool_call_id FROM actions WHERE state = 'unknown'")
        yield from (("inbox", (("action", f"{a['thread_id']}/{a['tool_call_id']}"),)) for a in actions)
        events = ledger._all("SELECT seq FROM events ORDER BY random() LIMIT 5")
        yield from (("audit", (("event", str(row["seq"])),)) for row in events)


def page_faults(page: Page, state: Mapping[str, Any] | None = None) -> list[str]:
    """What fails of the page; `state` is what a person has chosen there."""
    name, address = page
    raised: list[BaseException] = []
    try:
        with patch.object(exec_code, "handle_user_script_exception", _noting(raised)):
            screen = Screen(name, "ana", dict(address))
            for key, value in (state or {}).items():
                screen.at.session_state[key] = value
            if state:
                screen.run()
    except Exception as shown:  # the page has an exception on it, or a call that was queued for it failed
        cause = raised[0] if raised else shown
        return [f"{page}: {''.join(traceback.format_exception(cause))}"]
    return []


def _noting(raised: list[BaseException]) -> Callable[..., None]:
    """Streamlit's own handling, with its words: the trace is kept here instead of in a log."""

    def handle(error: BaseException, *_: object) -> None:
        raised.append(error)
        streamlit.exception(error)

    return handle
