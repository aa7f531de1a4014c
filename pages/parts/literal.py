"""Anybody's text, shown as it is: never as Markdown or HTML, nothing fetched."""

from __future__ import annotations

import streamlit as st


def literal(text: str) -> None:
    """A value of an agent's or a person's, exactly, in a block of its own."""
    st.code(text, language=None, wrap_lines=True)


def line(text: str) -> None:
    """A short sentence that holds such values."""
    st.text(text)
