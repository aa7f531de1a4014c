"""Redraw the page when something was recorded, and not otherwise: a draft stays where it is."""

from __future__ import annotations

import streamlit as st

from pages.parts import session

EVERY = 1.5  # seconds


@st.fragment(run_every=EVERY)
def watch(drawn: int, thread_id: str | None = None) -> None:
    """Follow all threads, or one, from `drawn` on: the pulse read before the page was drawn."""
    if session.console().pulse(thread_id) != drawn:
        session.keep_flash()
        st.rerun()


@st.fragment(run_every=EVERY)
def watch_queue(drawn: int) -> None:
    """Follow how many reviews wait, on a page that shows the number and nothing else of them."""
    if session.console().queue_length() != drawn:
        session.keep_flash()
        st.rerun()
