"""One thread: its conversation, the review it stopped at, and the world beside it."""

from __future__ import annotations

import streamlit as st

from agent.console import View
from agent.review.errors import ReviewError, UnknownThread
from agent.review.threads import Status
from pages.parts import session
from pages.parts.card import WAIT_FOR_RUN, card
from pages.parts.conversation import conversation
from pages.parts.literal import line
from pages.parts.progress import progress
from pages.parts.start import start
from pages.parts.words import STATUS_COLOR, STATUS_WORDS
from pages.parts.world_panel import world_panel

CLOSED = {
    Status.WAITING: "Decide or close the review first; then you can write here.",
    Status.RUNNING: "The agent is at work. You can write when it pauses.",
    Status.UNKNOWN_OUTCOME: "An action's outcome is unknown. It has to be settled before you can write.",
    Status.STUCK: "The thread is stuck on a malformed answer.",
}


def main() -> None:
    thread_id = session.thread_id()
    if thread_id is None:
        start()
        return
    try:
        view = session.console().view(thread_id)
    except UnknownThread as error:
        st.warning("There is no such thread.")
        line(str(error))
        st.button("Start a new thread", key="new", on_click=session.go_to_thread, args=(None,))
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _thread(view)
    with right:
        world_panel(thread_id)
    _message_box(view)


def _thread(view: View) -> None:
    thread = view.thread
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(thread.agent, width="content")
        st.code(thread.thread_id, language=None, width="content")
        st.badge(STATUS_WORDS[thread.status], color=STATUS_COLOR[thread.status])
        st.button("New thread", key="new", type="tertiary", on_click=session.go_to_thread, args=(None,))
    conversation(thread.thread_id)
    if thread.status is Status.RUNNING:
        progress(thread.thread_id)
    for review in view.reviews:
        card(review)
    _trouble(view)


def _trouble(view: View) -> None:
    thread = view.thread
    if thread.status in (Status.FAILED, Status.STOPPED):
        st.warning(
            "This turn failed. Nothing is lost."
            if thread.status is Status.FAILED
            else "This turn was stopped."
        )
        if thread.error:
            line(thread.error)
        st.button("Try again" if thread.status is Status.FAILED else "Go on", key="retry", on_click=_retry)
    if thread.status is Status.UNKNOWN_OUTCOME:
        st.error(
            "The outcome of an action is unknown: its process was cut off while it ran. "
            "It may have taken effect. It will not be run again by itself."
        )


def _message_box(view: View) -> None:
    closed = CLOSED.get(view.thread.status)
    st.chat_input(closed or "Write to the agent", key="message", disabled=closed is not None, on_submit=_send)


def _send() -> None:
    try:
        run = session.console().send(
            st.session_state["message"], by=session.reviewer(), thread_id=session.thread_id()
        )
    except ReviewError as error:
        session.flash_error("The message was not sent.", error)
        return
    session.console().wait(run, WAIT_FOR_RUN)


def _retry() -> None:
    try:
        run = session.console().retry(session.thread_id() or "", by=session.reviewer())
    except ReviewError as error:
        session.flash_error("It was not tried again.", error)
        return
    session.console().wait(run, WAIT_FOR_RUN)


main()
