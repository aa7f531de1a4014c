"""What the address names: the thread, the review, the action, the lesson."""

from __future__ import annotations

import streamlit as st

PLACE = "place-drawn"


THREAD_PARAMETER = "thread"
REVIEW = "review"
ACTION = "action"
LESSON = "lesson"
STAGE = "stage"
"""Whose stage of a lesson it is: a reload finds it in the address, and a way back from another page in the session."""


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
    return tuple(in_address(name) for name in (THREAD_PARAMETER, REVIEW, ACTION, LESSON, STAGE))


def go_to_thread(name: str | None) -> None:
    put_in_address(THREAD_PARAMETER, name)
