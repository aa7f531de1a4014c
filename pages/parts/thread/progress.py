"""A run in progress. The page only follows it: leaving the page stops nothing."""

from __future__ import annotations

import streamlit as st

from agent.review.errors import ReviewError
from agent.review.text.secrets import masked
from agent.review.threads import Status
from pages.parts.common.clicks import named_first
from pages.parts.common.literal import line
from pages.parts.state import app, flash, identity, widget_keys

EVERY = 0.4  # seconds between two polls of a run


@st.fragment(run_every=EVERY)
def progress(thread_id: str) -> None:
    """Draw the agent's words as they stream and the tool that runs; redraw the page when the run is over."""
    view = app.console().queries.view(thread_id)
    if view.thread.status is not Status.RUNNING:
        flash.keep_flash()
        st.rerun()
    now = view.progress
    with st.chat_message("assistant"):
        if now and now.text:
            line(masked(now.text), grows=True)
        if now and now.told:
            line(masked(now.told[-1]), grows=True)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge("running", color="blue", icon=":material/progress_activity:")
            if now and now.running:
                line(f"{now.running} is executing", width="content")
            st.button("Stop", key=widget_keys.key("stop", thread_id), on_click=_stop, args=(thread_id,))


@named_first
def _stop(thread_id: str) -> None:
    try:
        app.console().stop(thread_id, by=identity.reviewer())
    except ReviewError as error:
        flash.flash_error("The run was not stopped.", error)
        return
    flash.flash("toast", "It stops at its next step, or once the answer it is writing is complete.")
