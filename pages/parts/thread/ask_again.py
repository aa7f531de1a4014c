"""A notice of a review that ended without a decision, with the button to ask again."""

from __future__ import annotations

import streamlit as st

from agent.review.actions import ReviewState
from agent.review.errors import ReviewError
from pages.parts.card.card_clicks import WAIT_FOR_RUN
from pages.parts.common.clicks import named_first
from pages.parts.state import address, app, flash, identity, widget_keys

CLOSED = "This was closed without deciding. The agent knows that it is still open."
EXPIRED = "Nobody decided on this in time, so it did not run."


def closed(thread_id: str) -> None:
    """Offer to ask again, if the thread's last review ended without a decision and can be asked again."""
    queries = app.console().queries
    if not queries.may_ask_again(thread_id):
        return
    last = queries.view(thread_id).last_review
    expired = last is not None and last.state is ReviewState.EXPIRED
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="closed"):
        st.caption(EXPIRED if expired else CLOSED, width="content")
        st.button(
            "Ask again",
            key=widget_keys.key("ask-again", thread_id),
            icon=":material/replay:",
            help="The same call goes to a reviewer again. The model is not called, and nothing runs before a decision.",
            on_click=_ask_again,
            args=(thread_id,),
        )


@named_first
def _ask_again(thread_id: str) -> None:
    console = app.console()
    try:
        run = console.ask_again(thread_id, by=identity.reviewer())
    except ReviewError as error:
        flash.flash_error("It was not asked again.", error)
        return
    console.wait(run, WAIT_FOR_RUN)
    waiting = console.queries.view(thread_id).reviews
    if waiting and address.in_address(address.REVIEW) is not None:
        address.put_in_address(address.REVIEW, waiting[0].review_id)
