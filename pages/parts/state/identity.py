"""Who uses this browser, and what the browser remembers about them."""

from __future__ import annotations

from urllib.parse import unquote
from uuid import uuid4

import streamlit as st

from agent import bootstrap
from agent.review.people import is_name

REVIEWER = "reviewer"
NAME_ASKED = "name-asked"
MESSAGE = "message"
"""The field for a message to an agent."""
NAME_COOKIE = "review_name"
KEYS = "keys-are-on"
KEYS_COOKIE = "review_keys"
BROWSER = "browser"
BROWSER_COOKIE = "review_browser"
OWN = "own"


def cookie(name: str) -> str:
    """Return the value of this cookie as the browser sent it on connecting; "" without one."""
    return unquote(st.context.cookies.get(name, ""))


def reviewer() -> str:
    """Return the name this browser decides under, unverified without a sign-in; until one is confirmed, a proposal."""
    return _confirmed() or bootstrap.opened().settings.review_reviewer


def named() -> bool:
    """Return whether a name has been confirmed in this browser. Before that, nothing is recorded under a name."""
    return bool(_confirmed())


def _confirmed() -> str:
    chosen = str(st.session_state.get(REVIEWER) or cookie(NAME_COOKIE))
    return chosen if is_name(chosen) else ""


def name_is_asked() -> bool:
    """Return whether an act is held back until this browser has a name."""
    return bool(st.session_state.get(NAME_ASKED))


def ask_for_name() -> None:
    st.session_state[NAME_ASKED] = True


def stop_asking() -> None:
    st.session_state.pop(NAME_ASKED, None)


def confirm_name(name: str) -> None:
    st.session_state[REVIEWER] = name
    stop_asking()


def draft_owner() -> str:
    """Return the owner of the drafts shown here: the person, or this browser until a name is confirmed."""
    return reviewer() if named() else browsers_own()


def browsers_own() -> str:
    """Return the owner of drafts written in this browser before a name was confirmed."""
    return f"\n{_browser()}"  # no name holds a line break


def _browser() -> str:
    """Return this browser's random id, which its cookie keeps."""
    kept = st.session_state.get(BROWSER) or cookie(BROWSER_COOKIE)
    return str(st.session_state.setdefault(BROWSER, kept or uuid4().hex))


def own() -> str:
    """Return this session's random id."""
    return str(st.session_state.setdefault(OWN, uuid4().hex))


def keys_are_on() -> bool:
    """Return whether the keyboard shortcuts are on; the browser remembers it if they are off."""
    return bool(st.session_state.get(KEYS, cookie(KEYS_COOKIE) != "off"))


def switch_keys(*, on: bool) -> None:
    st.session_state[KEYS] = on


def shortcut(key: str) -> str | None:
    """Return the key as a button's shortcut, or None while the keys are off."""
    return key if keys_are_on() else None


def to_keep() -> dict[str, str]:
    """Return the cookies to write: the browser's id, and what this session has set."""
    kept = {BROWSER_COOKIE: _browser()}
    if REVIEWER in st.session_state:
        kept[NAME_COOKIE] = reviewer()
    if KEYS in st.session_state:
        kept[KEYS_COOKIE] = "on" if keys_are_on() else "off"
    return kept
