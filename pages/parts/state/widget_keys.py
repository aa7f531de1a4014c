"""The keys of widgets, and which of them this session has drawn and opened."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from agent.review.actions import Action, Review

OPENED = "folds-opened"
DRAWN = "fields-drawn"


def key(name: str, *parts: Any) -> str:
    """Return a widget's key: its name and what it is about. Different parts always make different keys."""
    return ":".join((name, *(str(part).replace("%", "%25").replace(":", "%3A") for part in parts)))


def selector(key: str) -> str:
    """Return the CSS selector of the widget or container with this key."""
    return f".st-key-{re.sub(r'[^a-zA-Z0-9_-]', '-', key)}"


def action_key(name: str, review: Review, action: Action) -> str:
    return key(name, review.review_id, action.key.tool_call_id)


def field_key(name: str, review: Review, action: Action, argument: str) -> str:
    return key(name, review.review_id, action.key.tool_call_id, argument)


def is_new_here(name: str) -> bool:
    """Return whether this session has not noted this widget as drawn yet."""
    return name not in st.session_state.get(DRAWN, ())


def note_drawn(name: str) -> None:
    st.session_state.setdefault(DRAWN, set()).add(name)


def was_opened(digest: str) -> bool:
    """Return whether this session has opened the fold of the text with this digest."""
    return digest in st.session_state.get(OPENED, ())


def see_opened(digest: str) -> None:
    st.session_state.setdefault(OPENED, set()).add(digest)
