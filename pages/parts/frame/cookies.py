"""What a browser keeps for the next visit: only it can write its cookies, and the server reads them as it connects."""

from __future__ import annotations

import streamlit as st

from pages.parts import browser
from pages.parts.state import identity

_component = st.components.v2.component("cookies", js=browser.source("cookies.js"))


def cookies() -> None:
    """Let the browser keep what this session holds of it. Drawn on every page, so that nothing has to load first."""
    _component(data=identity.to_keep(), key="cookies")
