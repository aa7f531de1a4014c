"""Notice when the page is hidden behind another tab or window, where nobody sees its card."""

from __future__ import annotations

import streamlit as st

from pages.parts import browser
from pages.parts.state import on_screen

_component = st.components.v2.component("hidden", js=browser.source("hidden.js"))
KEY = "hidden"


@st.fragment
def hidden() -> None:
    """Count the time in which nobody saw the card on screen. As a fragment, it redraws nothing else."""
    _component(key=KEY, on_seconds_change=_count)


def _count() -> None:
    seconds = st.session_state[KEY].get("seconds")
    if isinstance(seconds, int | float) and seconds > 0:
        on_screen.note_hidden(float(seconds))
