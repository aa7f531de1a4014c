"""What a browser keeps for the next visit: only it can write its cookies, and the server reads them as it connects."""

from __future__ import annotations

import streamlit as st

from pages.parts import session

JS = """
export default function ({ data }) {
  for (const [name, value] of Object.entries(data))
    document.cookie = `${name}=${encodeURIComponent(value)}; path=/; max-age=31536000; samesite=strict`;
}
"""
_component = st.components.v2.component("cookies", js=JS)


def cookies() -> None:
    """Let the browser keep what this session holds of it. Drawn on every page, so that nothing has to load first."""
    _component(data=session.to_keep(), key="cookies")
