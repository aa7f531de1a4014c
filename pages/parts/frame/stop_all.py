"""The button that stops everything at once, and the banner that says so on every page."""

from __future__ import annotations

import streamlit as st

from pages.parts.common.clicks import named_first
from pages.parts.common.literal import line
from pages.parts.common.words import clock
from pages.parts.state import app, identity


def stop_all() -> None:
    """Draw the button that stops everything, for the frame of every page."""
    with st.popover("Stop all…", type="tertiary"):
        st.caption("Every run stops at its next step, and nothing new starts until it is released.")
        st.button("Stop everything", key="stop-all", on_click=_stop)


def banner() -> None:
    """Show who stopped everything, with the button to release it; draw nothing if nothing is stopped."""
    halt = app.console().queries.halt()
    if halt is None:
        return
    with st.container(border=True, key="halted"):
        st.error("Everything is stopped. Nothing runs and nothing new starts.", icon=":material/front_hand:")
        line(f"Stopped by {halt.by}, {clock(halt.at)}.")
        st.button("Release", key="release", on_click=_release)


@named_first
def _stop() -> None:
    app.console().stop_all(by=identity.reviewer())


@named_first
def _release() -> None:
    app.console().release(by=identity.reviewer())
