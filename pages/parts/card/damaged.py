"""A review whose record was changed past the console: what would run cannot be shown, and it can only be closed."""

from __future__ import annotations

import streamlit as st

from agent.review.actions import Review
from agent.review.damage import is_damaged
from agent.review.errors import ReviewError
from pages.parts.card.card_clicks import WAIT_FOR_RUN, NextCard
from pages.parts.common.clicks import named_first
from pages.parts.common.literal import line
from pages.parts.common.words import short
from pages.parts.state import app, flash, identity, widget_keys

CHANGED = (
    "The record of this review was changed past the console. What would run cannot be shown, so nothing of it can be "
    "approved. Close it: nothing runs, and the agent learns that its question is still open."
)


def damaged(review: Review, next_card: NextCard) -> None:
    """Draw what is known about the review, and the button that closes it."""
    with st.container(border=True, key="damaged"):
        st.error(CHANGED, icon=":material/gpp_bad:")
        line(f"{review.agent} · {short(review.thread_id)} · review {review.review_id}")
        for action in review.actions:
            line(f"{action.tool}: {'changed' if is_damaged(action) else 'as it was recorded'}")
        st.button(
            "Close it",
            key=widget_keys.key("close-damaged", review.review_id),
            type="primary",
            on_click=_close,
            args=(review, next_card),
        )


@named_first
def _close(review: Review, next_card: NextCard) -> None:
    console = app.console()
    try:
        run = console.close(review.thread_id, by=identity.reviewer(), review_id=review.review_id)
    except ReviewError as error:
        flash.flash_error("The review was not closed.", error)
        return
    flash.flash("toast", "Closed without deciding.")
    if next_card is None or not next_card(review):
        console.wait(run, WAIT_FOR_RUN)
