"""What one browser session holds: every key of `st.session_state` and of the address, named here and in `screen`.

Nothing true lives here. What must survive a reload is in the ledger or in the address.
"""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote
from uuid import uuid4

import streamlit as st

from agent import bootstrap
from agent.console import Console
from agent.demos.world import World
from agent.review.actions import Action, Review
from agent.review.deception import visible
from agent.review.errors import ReviewError
from agent.review.people import is_name
from pages.parts import whole  # noqa: F401

REVIEWER = "reviewer"
NAME_ASKED = "name-asked"
MESSAGE = "message"
"""The field in which one writes to an agent."""
NAME_COOKIE = "review_name"
KEYS = "keys-are-on"
KEYS_COOKIE = "review_keys"
BROWSER = "browser"
BROWSER_COOKIE = "review_browser"
FLASH = "flash"
SHOWN_FLASH = "flash-shown"
OPENED = "folds-opened"
DRAWN = "fields-drawn"
BEGAN = "drawing-since"
DRAWING = "drawing"
SAVED = "scenario-saved"
PLACE = "place-drawn"
OWN = "own"

# The address.
THREAD = "thread"
REVIEW = "review"
ACTION = "action"
LESSON = "lesson"
STAGE = "stage"
"""Whose stage of a lesson it is: a reload finds it in the address, and a way back from another page in the session."""


def console() -> Console:
    return bootstrap.opened().console


def is_isolated(agent: str) -> bool:
    """Whether the agent's tools touch the demo world alone; true if the agent is not served."""
    try:
        return console().queries.agent(agent).isolated
    except ReviewError:
        return True


def gates_itself(agent: str) -> bool:
    """Whether the agent is of another make and decides by itself what it asks about; false if it is not served."""
    try:
        return console().queries.agent(agent).own_gating
    except ReviewError:
        return False


def world() -> World:
    return bootstrap.opened().world


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


def in_address(name: str) -> str | None:
    return st.query_params.get(name)


def put_in_address(name: str, value: str | None) -> None:
    if value is None:
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = value


def note_place() -> None:
    """What the address names now is what is drawn."""
    st.session_state[PLACE] = _place()


def is_in_place() -> bool:
    """Whether the address names what was drawn last.

    A browser that asks for something while it is being led on still tells the address from before.
    """
    return st.session_state.get(PLACE) == _place()


def _place() -> tuple[str | None, ...]:
    return tuple(in_address(name) for name in (THREAD, REVIEW, ACTION, LESSON, STAGE))


def go_to_thread(name: str | None) -> None:
    put_in_address(THREAD, name)


def flash(kind: str, headline: str, detail: str = "") -> None:
    """Say this on top of the next page drawn. `headline` is ours; `detail` may hold anybody's text."""
    st.session_state[FLASH] = (kind, headline, detail)


def take_back(headline: str) -> None:
    """Do not say this after all."""
    if st.session_state.get(FLASH, ("", ""))[1] == headline:
        del st.session_state[FLASH]


def flash_error(headline: str, error: ReviewError) -> None:
    flash("error", headline, str(error))


def keep_flash() -> None:
    """Before a page is drawn anew by itself: what a person may still be reading stays."""
    shown = st.session_state.get(SHOWN_FLASH)
    if shown is not None and shown[0] != "toast" and FLASH not in st.session_state:
        st.session_state[FLASH] = shown


def show_flash() -> None:
    kept = st.session_state.pop(FLASH, None)
    st.session_state[SHOWN_FLASH] = kept
    if kept is None:
        return
    kind, headline, detail = kept
    if kind == "toast":
        st.toast(headline, icon=":material/send:")
        return
    box = {"error": st.error, "warning": st.warning}.get(kind, st.info)
    box(headline)
    if detail:
        st.text(visible(detail))


def note_saving(thread_id: str, came: Path | str | None) -> None:
    """What came of saving the thread: the file, or why there is none; None, to save it once more."""
    st.session_state[SAVED] = (thread_id, came)


def saving(thread_id: str) -> Path | str | None:
    """What came of saving this thread, if it is the one that this session saved last."""
    saved, came = st.session_state.get(SAVED, ("", None))
    return came if saved == thread_id else None


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


def begin_drawing() -> None:
    """The page is drawn from here on."""
    st.session_state[BEGAN] = time.thread_time()


def wait_for_work() -> None:
    """Until the console is at work; before, what it works with may just be imported, which no page may do meanwhile."""
    bootstrap.opened().go_to_work()


def drawing() -> threading.Event:
    """Set once the page that is drawn now, or next, is drawn."""
    return cast(threading.Event, st.session_state.setdefault(DRAWING, threading.Event()))


def end_drawing() -> None:
    """The page is drawn up to here."""
    if DRAWING in st.session_state:
        drawing().set()
        del st.session_state[DRAWING]


def note_painted() -> None:
    """A browser that asks whether anything moved has painted its page, which is held up by nothing any more."""
    bootstrap.opened().engine.wanted.set()


def seconds_drawing() -> float:
    """How much of the server's time this page has taken up to here."""
    return time.thread_time() - float(st.session_state[BEGAN])


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
