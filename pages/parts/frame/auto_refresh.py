"""Redraw the page when something was recorded, and not otherwise: a draft stays where it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import count

import streamlit as st

from pages.parts.state import address, app, drawing, flash, identity

GONE_AFTER = 60.0
"""Seconds without a look after which a session is taken for closed."""


class Pace:
    """How often each session looks whether anything happened: the more of them look, the less often each."""

    def __init__(self, every: float, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`every` so many seconds, but all of them together not more than `most` times a second."""
        self._every, self._most, self._clock = every, most, clock
        self._looked: dict[str, float] = {}
        self._lock = threading.Lock()

    def of(self, looking: str) -> float:
        """The seconds until this session looks again. One that has not looked for long is gone."""
        with self._lock:
            now = self._clock()
            self._looked[looking] = now
            self._looked = {one: at for one, at in self._looked.items() if now - at < GONE_AFTER}
            return max(self._every, len(self._looked) / self._most)


class Allowance:
    """How much of its time the server spends on pages that are drawn anew by themselves, over all sessions.

    Where many watch a busy record, each of them follows less often, and what people do is not held up: pages drawn
    side by side would each make it wait for the interpreter, so that they are drawn one after the other.
    """

    def __init__(self, share: float, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`share` of the time, of which up to `most` seconds can be saved for when much happens at once."""
        self._share, self._most, self._clock = share, most, clock
        self._saved, self._at = most, clock()
        self._drawn_by = self._at
        self._lock = threading.Lock()

    def grants(self, seconds: float) -> bool:
        """Whether a page that takes so long may be drawn now; it is counted if so."""
        with self._lock:
            now = self._clock()
            self._saved = min(self._most, self._saved + (now - self._at) * self._share)
            self._at = now
            if self._saved <= 0 or now < self._drawn_by:
                return False
            self._saved -= seconds
            self._drawn_by = now + seconds
            return True


_allowance = Allowance(share=0.1, most=0.5)
_pace = Pace(every=1.5, most=5.0)


def watch(drawn: int, thread_id: str | None = None) -> None:
    """Follow all threads, or one, from `drawn` on: the pulse read before the page was drawn."""
    address.note_place()
    _follow(lambda: app.console().queries.pulse(thread_id) != drawn and address.is_in_place())


def watch_queue(drawn: int) -> None:
    """Follow how many reviews wait, on a page that shows the number and nothing else of them."""
    _follow(lambda: app.console().queries.queue_length() != drawn)


def _follow(moved: Callable[[], bool]) -> None:
    """Look now and then, and draw the page anew where it has `moved`; not while it is drawn for the first time."""
    took, looks = drawing.seconds_drawing(), count()

    @st.fragment(run_every=_pace.of(identity.own()))
    def look() -> None:
        _pace.of(identity.own())
        if not next(looks):
            return
        app.note_painted()
        if moved() and _allowance.grants(took):
            flash.keep_flash()
            st.rerun()

    look()
