"""When this session's page is being drawn, and how long that takes."""

from __future__ import annotations

import threading
import time
from typing import cast

import streamlit as st

BEGAN = "drawing-since"
DRAWING = "drawing"


def begin_drawing() -> None:
    """Note that drawing the page begins here."""
    st.session_state[BEGAN] = time.thread_time()


def drawing() -> threading.Event:
    """Return the event that is set once the page drawn now, or next, is complete."""
    return cast(threading.Event, st.session_state.setdefault(DRAWING, threading.Event()))


def end_drawing() -> None:
    """Note that drawing the page ends here."""
    if DRAWING in st.session_state:
        drawing().set()
        del st.session_state[DRAWING]


def seconds_drawing() -> float:
    """Return the seconds of the server's CPU time that drawing this page has taken so far."""
    return time.thread_time() - float(st.session_state[BEGAN])
