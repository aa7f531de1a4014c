"""Redraw the page when something was recorded, and not otherwise: a draft stays where it is."""

from __future__ import annotations

import streamlit as st

from pages.parts import session

EVERY = 1.5  # seconds


@st.fragment(run_every=EVERY)
def watch(thread_id: str | None = None) -> None:
    """Follow all threads, or one."""
    name = session.key("pulse", thread_id or "all")
    pulse = session.console().pulse(thread_id)
    drawn = st.session_state.get(name)
    st.session_state[name] = pulse
    if drawn is not None and drawn != pulse:
        st.rerun()
