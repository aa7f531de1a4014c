"""The cookies a browser keeps for its next visit. Only it can write them; the server reads them as it connects."""

from __future__ import annotations

import streamlit as st

from pages.parts import browser
from pages.parts.state import identity

_component = st.components.v2.component("cookies", js=browser.source("cookies.js"))


def cookies() -> None:
    """Write this session's settings to the browser's cookies. Drawn on every page, so that nothing has to load first."""
    _component(data=identity.to_keep(), key="cookies")
