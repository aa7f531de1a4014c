"""The keys of widgets, and what this session has drawn and opened of them."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from agent.review.actions import Action, Review

OPENED = "folds-opened"
DRAWN = "fields-drawn"


def key(name: str, *parts: Any) -> str:
    """A widget's key: what it is, and what it is about. Different parts make different keys, whatever they hold."""
    return ":".join((name, *(str(part).replace("%", "%25").replace(":", "%3A") for part in parts)))


def selector(key: str) -> str:
    """The CSS selector of the widget or container with this key."""
    return f".st-key-{re.sub(r'[^a-zA-Z0-9_-]', '-', key)}"


def action_key(name: str, review: Review, action: Action) -> str:
    return key(name, review.review_id, action.key.tool_call_id)


def field_key(name: str, review: Review, action: Action, argument: str) -> str:
    return key(name, review.review_id, action.key.tool_call_id, argument)


def is_new_here(name: str) -> bool:
    """Whether this session has not noted this widget as drawn."""
    return name not in st.session_state.get(DRAWN, ())


def note_drawn(name: str) -> None:
    st.session_state.setdefault(DRAWN, set()).add(name)


def was_opened(digest: str) -> bool:
    """Whether this session has opened the fold of the text with this digest."""
    return digest in st.session_state.get(OPENED, ())


def see_opened(digest: str) -> None:
    st.session_state.setdefault(OPENED, set()).add(digest)
