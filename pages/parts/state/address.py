"""The address's query parameters: the thread, the review, the action, the lesson."""

from __future__ import annotations

import streamlit as st

PLACE = "place-drawn"


THREAD_PARAMETER = "thread"
REVIEW = "review"
ACTION = "action"
LESSON = "lesson"
STAGE = "stage"
"""The name of the learner's stage: a reload reads it from the address, a return from another page from the session."""


def in_address(name: str) -> str | None:
    return st.query_params.get(name)


def put_in_address(name: str, value: str | None) -> None:
    if value is None:
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = value


def note_place() -> None:
    """Note that the page is drawn for what the address names now."""
    st.session_state[PLACE] = _place()


def is_in_place() -> bool:
    """Return whether the address still names what was drawn last.

    A browser that sends a request while it is being moved to another address still reports the old one.
    """
    return st.session_state.get(PLACE) == _place()


def _place() -> tuple[str | None, ...]:
    return tuple(in_address(name) for name in (THREAD_PARAMETER, REVIEW, ACTION, LESSON, STAGE))


def go_to_thread(name: str | None) -> None:
    put_in_address(THREAD_PARAMETER, name)
