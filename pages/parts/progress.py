"""A run as it goes on. It is followed, never driven: leaving the page stops nothing."""

from __future__ import annotations

import streamlit as st

from agent.review.errors import ReviewError
from agent.review.secrets import masked
from agent.review.threads import Status
from pages.parts import session
from pages.parts.literal import line
from pages.parts.named import named_first

EVERY = 0.4  # seconds between two looks at a run


@st.fragment(run_every=EVERY)
def progress(thread_id: str) -> None:
    """The agent's words as they stream and the tool that runs; redraws the page when the run is over."""
    view = session.console().queries.view(thread_id)
    if view.thread.status is not Status.RUNNING:
        session.keep_flash()
        st.rerun()
    now = view.progress
    with st.chat_message("assistant"):
        if now and now.text:
            line(masked(now.text), grows=True)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge("running", color="blue", icon=":material/progress_activity:")
            if now and now.running:
                line(f"{now.running} is executing", width="content")
            st.button("Stop", key=session.key("stop", thread_id), on_click=_stop, args=(thread_id,))


@named_first
def _stop(thread_id: str) -> None:
    try:
        session.console().stop(thread_id, by=session.reviewer())
    except ReviewError as error:
        session.flash_error("The run was not stopped.", error)
        return
    session.flash("toast", "It stops at its next step, or once the answer it writes is whole.")
