"""The modules of the first page, imported before somebody opens it."""

from __future__ import annotations

# Streamlit looks up a page's icon in both; importing the first compiles a large regular expression.
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
