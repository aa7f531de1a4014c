"""Redraw the page when something was recorded, and not otherwise: a draft stays where it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import streamlit as st

from pages.parts import session

EVERY = 1.5  # seconds


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


_allowance = Allowance(share=0.1, most=1.0)


def watch(drawn: int, thread_id: str | None = None) -> None:
    """Follow all threads, or one, from `drawn` on: the pulse read before the page was drawn."""
    _follow(drawn, thread_id, session.seconds_drawing())


@st.fragment(run_every=EVERY)
def _follow(drawn: int, thread_id: str | None, took: float) -> None:
    if session.console().pulse(thread_id) != drawn and _allowance.grants(took):
        session.keep_flash()
        st.rerun()


def watch_queue(drawn: int) -> None:
    """Follow how many reviews wait, on a page that shows the number and nothing else of them."""
    _follow_queue(drawn, session.seconds_drawing())


@st.fragment(run_every=EVERY)
def _follow_queue(drawn: int, took: float) -> None:
    if session.console().queue_length() != drawn and _allowance.grants(took):
        session.keep_flash()
        st.rerun()
