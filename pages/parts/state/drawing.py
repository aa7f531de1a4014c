"""When the page of this session is drawn, and for how long."""

from __future__ import annotations

import threading
import time
from typing import cast

import streamlit as st

BEGAN = "drawing-since"
DRAWING = "drawing"


def begin_drawing() -> None:
    """The page is drawn from here on."""
    st.session_state[BEGAN] = time.thread_time()


def drawing() -> threading.Event:
    """Set once the page that is drawn now, or next, is drawn."""
    return cast(threading.Event, st.session_state.setdefault(DRAWING, threading.Event()))


def end_drawing() -> None:
    """The page is drawn up to here."""
    if DRAWING in st.session_state:
        drawing().set()
        del st.session_state[DRAWING]


def seconds_drawing() -> float:
    """How much of the server's time this page has taken up to here."""
    return time.thread_time() - float(st.session_state[BEGAN])
