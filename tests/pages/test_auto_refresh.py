"""Pages that follow the record leave the server its time for what people do."""

from __future__ import annotations

from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from agent import bootstrap
from agent.bootstrap import Opened
from agent.settings import Settings
from pages.parts.frame import auto_refresh
from pages.parts.frame.auto_refresh import GONE_AFTER, Allowance, Pace
from tests.forked import ROOT


class Clock:
    """Seconds, as the test sets them."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_no_more_than_the_share_goes_to_pages_drawn_by_themselves() -> None:
    clock = Clock()
    allowance = Allowance(share=0.1, most=1.0, clock=clock)
    granted = 0
    for tick in range(1, 10_001):
        clock.now = tick / 100  # a hundred pages a second ask for it
        granted += allowance.grants(0.05)
    assert 0.1 * 100 <= granted * 0.05 <= 0.1 * 100 + 1.0 + 0.05


def test_what_was_saved_while_nothing_happened_is_there_at_once() -> None:
    clock = Clock()
    allowance = Allowance(share=0.1, most=1.0, clock=clock)
    clock.now = 1_000.0
    granted = [allowance.grants(0.25)]
    for _ in range(5):
        clock.now += 0.25
        granted.append(allowance.grants(0.25))
    # A second of what was saved, and the share of the time that has passed.
    assert granted == [True] * 5 + [False]
    clock.now += 2.0
    assert allowance.grants(0.25)


def test_one_page_at_a_time_is_drawn_by_itself() -> None:
    clock = Clock()
    allowance = Allowance(share=0.1, most=1.0, clock=clock)
    assert allowance.grants(0.25)
    clock.now += 0.24
    assert not allowance.grants(0.25)
    clock.now += 0.01
    assert allowance.grants(0.25)


def test_a_page_that_takes_long_is_drawn_too_and_less_often() -> None:
    clock = Clock()
    allowance = Allowance(share=0.1, most=1.0, clock=clock)
    assert allowance.grants(60.0)
    clock.now = 589.0
    assert not allowance.grants(60.0)
    clock.now = 591.0
    assert allowance.grants(60.0)


@pytest.mark.parametrize(
    ("looks", "told", "drawings"),
    [(1, "one", 1), (2, "one", 2), (2, "two", 1)],
    ids=["not while it is drawn", "at a later look", "not for an address that was left"],
)
def test_a_page_is_drawn_by_itself(
    page_console: Opened, monkeypatch: pytest.MonkeyPatch, looks: int, told: str, drawings: int
) -> None:
    def followed(told: str) -> None:
        """A page that has drawn one review, and a browser that tells of it, or still of another."""
        import streamlit as st

        from pages.parts.frame import auto_refresh
        from pages.parts.state import address, drawing

        drawing.begin_drawing()
        st.session_state["drawings"] = st.session_state.get("drawings", 0) + 1
        address.put_in_address(address.REVIEW, "one")
        address.note_place()
        address.put_in_address(address.REVIEW, told)
        if st.session_state["drawings"] == 1:
            auto_refresh._follow(address.is_in_place)

    def fragment(**_: Any) -> Any:
        """It is drawn with the page, and then by itself."""
        return lambda look: lambda: [look() for _ in range(looks)]

    monkeypatch.setattr(st, "fragment", fragment)
    monkeypatch.setattr(auto_refresh, "_allowance", Allowance(share=1.0, most=1.0))
    page = AppTest.from_function(followed, kwargs={"told": told}).run()
    assert not page.exception
    assert page.session_state["drawings"] == drawings


@pytest.mark.parametrize("looks", [1, 2], ids=["while it is drawn", "once it is painted"])
def test_a_first_page_is_held_up_by_nothing_before_it_is_painted(
    own_settings: Settings, monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    opened = bootstrap.opened(at_work=False)
    monkeypatch.setattr(st, "fragment", lambda **_: lambda look: lambda: [look() for _ in range(looks)])
    assert not AppTest.from_file(str(ROOT / "pages" / "shell.py"), default_timeout=60).run().exception
    assert opened.engine.wanted.is_set() == (looks > 1)


def test_few_look_as_often_as_they_may() -> None:
    pace = Pace(every=1.5, most=5.0, clock=Clock())
    assert [pace.of(name) for name in ("a", "b", "c", "a")] == [1.5] * 4


def test_many_look_less_often_and_together_no_more_than_they_may() -> None:
    pace = Pace(every=1.5, most=5.0, clock=Clock())
    for name in range(100):
        seconds = pace.of(str(name))
    assert 100 / seconds == 5.0


def test_sessions_that_are_gone_slow_nobody_down() -> None:
    clock = Clock()
    pace = Pace(every=1.5, most=5.0, clock=clock)
    for name in range(100):
        pace.of(str(name))
    clock.now = GONE_AFTER
    assert pace.of("who is still there") == 1.5


def test_a_page_that_follows_looks_at_the_pace_of_all(
    page_console: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    pace = Pace(every=1.5, most=5.0)
    for name in range(100):
        pace.of(str(name))
    monkeypatch.setattr(auto_refresh, "_pace", pace)
    made, fragment = [], st.fragment

    def noted(*args: Any, **kept: Any) -> Any:
        made.append(kept.get("run_every"))
        return fragment(*args, **kept)

    monkeypatch.setattr(st, "fragment", noted)
    assert not AppTest.from_file(str(ROOT / "pages" / "shell.py"), default_timeout=60).run().exception
    assert made[-1] == 101 / 5.0
