"""What the first page imports, to be imported before somebody asks for it."""

from __future__ import annotations

# Streamlit looks a page's icon up in them, and compiles a large expression for the first.
import streamlit.emojis
import streamlit.material_icon_names

from pages.parts.card import card
from pages.parts.frame import auto_refresh, reviewer_name, stop_all
from pages.parts.inbox import inbox_list
from pages.parts.thread import ask_again, new_thread, settle

__all__ = [
    "ask_again",
    "auto_refresh",
    "card",
    "inbox_list",
    "new_thread",
    "reviewer_name",
    "settle",
    "stop_all",
    "streamlit",
]
