"""A thread stuck on an answer given elsewhere: what happened, and the two ways to continue."""

from __future__ import annotations

import streamlit as st

from agent.review.errors import ReviewError
from pages.parts.card.card_clicks import WAIT_FOR_RUN
from pages.parts.common.clicks import named_first
from pages.parts.state import app, flash, identity


def stuck(thread_id: str) -> None:
    """Draw what happened, and the buttons to ask again or to close."""
    with st.container(border=True, key="stuck"):
        st.error(
            "An answer was given that the agent cannot take, and it was saved. The agent would fail on it "
            "again and again. Nothing of it was run."
        )
        with st.container(horizontal=True):
            st.button(
                "Ask again",
                key="ask-again",
                type="primary",
                on_click=_ask_again,
                args=(thread_id,),
                help="The question is asked again as a new review. The answer it is stuck on is not used.",
            )
            st.button(
                "Close",
                key="close-stuck",
                on_click=_close,
                args=(thread_id,),
                help="Every open call gets an error as its result, and the agent goes on.",
            )


@named_first
def _ask_again(thread_id: str) -> None:
    try:
        run = app.console().ask_again(thread_id, by=identity.reviewer())
    except ReviewError as error:
        flash.flash_error("It was not asked again.", error)
        return
    app.console().wait(run, WAIT_FOR_RUN)


@named_first
def _close(thread_id: str) -> None:
    try:
        run = app.console().close(thread_id, by=identity.reviewer())
    except ReviewError as error:
        flash.flash_error("It was not closed.", error)
        return
    flash.flash("toast", "Closed without deciding.")
    app.console().wait(run, WAIT_FOR_RUN)
