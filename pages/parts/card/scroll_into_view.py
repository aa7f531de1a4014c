"""Scroll a part of the page into view when it appears, and focus a field in it."""

from __future__ import annotations

import streamlit as st

from pages.parts import browser
from pages.parts.state import widget_keys

_component = st.components.v2.component(
    "in_view", js=browser.source("scroll_into_view.js"), isolate_styles=False
)


def in_view(part: str, about: str, *, focus: str | None = None) -> None:
    """Scroll the container with the key `part`, which must hold this element, into view whenever `about` changes.

    `focus` is the key of a widget whose field then gets the focus. No button is ever focused.
    """
    field = widget_keys.selector(focus) if focus else None
    _component(
        data={"part": part, "about": about, "focus": field}, key=widget_keys.key("in-view", part), width=1
    )
