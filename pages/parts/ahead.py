"""What the first page imports, to be imported before somebody asks for it."""

from __future__ import annotations

# Streamlit looks a page's icon up in them, and compiles a large expression for the first.
import streamlit.emojis
import streamlit.material_icon_names

from pages.parts import card, closed, inbox_list, settle, start, stop_all, watch, who

__all__ = ["card", "closed", "inbox_list", "settle", "start", "stop_all", "streamlit", "watch", "who"]
