"""Who uses this browser, and what it remembers of them."""

from __future__ import annotations

from urllib.parse import unquote
from uuid import uuid4

import streamlit as st

from agent import bootstrap
from agent.review.people import is_name

REVIEWER = "reviewer"
NAME_ASKED = "name-asked"
MESSAGE = "message"
"""The field in which one writes to an agent."""
NAME_COOKIE = "review_name"
KEYS = "keys-are-on"
KEYS_COOKIE = "review_keys"
BROWSER = "browser"
BROWSER_COOKIE = "review_browser"
OWN = "own"


def cookie(name: str) -> str:
    """What the browser kept under this name when it connected."""
    return unquote(st.context.cookies.get(name, ""))


def reviewer() -> str:
    """The name this browser decides under, unverified while there is no sign-in; before one is confirmed, a proposal."""
    return _confirmed() or bootstrap.opened().settings.review_reviewer


def named() -> bool:
    """Whether a person has confirmed in this browser who uses it. Before that, nothing is recorded under a name."""
    return bool(_confirmed())


def _confirmed() -> str:
    chosen = str(st.session_state.get(REVIEWER) or cookie(NAME_COOKIE))
    return chosen if is_name(chosen) else ""


def name_is_asked() -> bool:
    """Whether something is held back until this browser has a name."""
    return bool(st.session_state.get(NAME_ASKED))


def ask_for_name() -> None:
    st.session_state[NAME_ASKED] = True


def stop_asking() -> None:
    st.session_state.pop(NAME_ASKED, None)


def confirm_name(name: str) -> None:
    st.session_state[REVIEWER] = name
    stop_asking()


def draft_owner() -> str:
    """Whose drafts this browser shows: the person's, or its own while nobody has said who uses it."""
    return reviewer() if named() else browsers_own()


def browsers_own() -> str:
    """Whose drafts those are that were written here before anybody said who uses this browser."""
    return f"\n{_browser()}"  # no name holds a line break


def _browser() -> str:
    """A name for this browser that means nothing."""
    kept = st.session_state.get(BROWSER) or cookie(BROWSER_COOKIE)
    return str(st.session_state.setdefault(BROWSER, kept or uuid4().hex))


def own() -> str:
    """A name for this session that means nothing."""
    return str(st.session_state.setdefault(OWN, uuid4().hex))


def keys_are_on() -> bool:
    """Whether letters choose; a browser remembers that they do not."""
    return bool(st.session_state.get(KEYS, cookie(KEYS_COOKIE) != "off"))


def switch_keys(*, on: bool) -> None:
    st.session_state[KEYS] = on


def shortcut(key: str) -> str | None:
    """The key of a button, while keys are on."""
    return key if keys_are_on() else None


def to_keep() -> dict[str, str]:
    """The cookies by which a browser is known again: those that this session has something new for."""
    kept = {BROWSER_COOKIE: _browser()}
    if REVIEWER in st.session_state:
        kept[NAME_COOKIE] = reviewer()
    if KEYS in st.session_state:
        kept[KEYS_COOKIE] = "on" if keys_are_on() else "off"
    return kept
