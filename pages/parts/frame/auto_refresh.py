"""Redraw the page when something was recorded, and only then, so that a draft is not disturbed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import count

import streamlit as st

from pages.parts.state import address, app, drawing, flash, identity

GONE_AFTER = 60.0
"""Seconds without a poll after which a session counts as closed."""


class Pace:
    """The polling interval of each session: the more sessions poll, the less often each one does."""

    def __init__(self, every: float, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Let each session poll every `every` seconds, but all of them together at most `most` times a second."""
        self._every, self._most, self._clock = every, most, clock
        self._looked: dict[str, float] = {}
        self._lock = threading.Lock()

    def of(self, looking: str) -> float:
        """Return the seconds until this session polls again, and drop sessions silent for `GONE_AFTER`."""
        with self._lock:
            now = self._clock()
            self._looked[looking] = now
            self._looked = {one: at for one, at in self._looked.items() if now - at < GONE_AFTER}
            return max(self._every, len(self._looked) / self._most)


class Allowance:
    """A limit on the server time spent on automatic redraws, over all sessions.

    When many sessions watch a busy record, each is redrawn less often, so that people's clicks are not held up.
    Redraws run one after the other: concurrent ones would each make a click wait for the interpreter lock.
    """

    def __init__(self, share: float, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Allow redraws a `share` of the time; up to `most` unused seconds are saved for bursts."""
        self._share, self._most, self._clock = share, most, clock
        self._saved, self._at = most, clock()
        self._drawn_by = self._at
        self._lock = threading.Lock()

    def grants(self, seconds: float) -> bool:
        """Return whether a page that takes `seconds` to draw may be redrawn now; if so, count them."""
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
    """Redraw the page when all threads, or one, have moved past `drawn`, the pulse read before it was drawn."""
    address.note_place()
    _follow(lambda: app.console().queries.pulse(thread_id) != drawn and address.is_in_place())


def watch_queue(drawn: int) -> None:
    """Redraw the page when the number of waiting reviews differs from `drawn`; for pages that show only that number."""
    _follow(lambda: app.console().queries.queue_length() != drawn)


def _follow(moved: Callable[[], bool]) -> None:
    """Poll `moved` and redraw the page when it returns true. The first drawing itself does not poll."""
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
