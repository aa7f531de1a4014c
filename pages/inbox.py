"""The reviews that wait for a person, over all threads, and the card of the selected one."""

from __future__ import annotations

import streamlit as st

from agent.review.actions import Review, ReviewState, Waiting
from agent.review.damage import review_is_damaged
from agent.review.errors import ReviewError
from pages.parts.card import draft as drafts
from pages.parts.card.card import card
from pages.parts.common.literal import line
from pages.parts.common.words import clock
from pages.parts.frame.auto_refresh import watch
from pages.parts.inbox.inbox_list import count, draw_filters, inbox_list, move, next_after
from pages.parts.state import address, app
from pages.parts.thread.ask_again import closed
from pages.parts.thread.new_thread import demo
from pages.parts.thread.settle import settle


def main() -> None:
    drawn = app.console().queries.pulse()
    # The sidebar is next to the card where there is room, and folded away where there is not.
    with st.sidebar:
        found = draw_filters()
    _selected(found.waiting)
    with st.sidebar:  # drawn after the card, since that is what a person waits for
        inbox_list(found)
    watch(drawn)


def _selected(waiting: list[Waiting]) -> None:
    named = address.in_address(address.ACTION)
    if named is not None:
        settle(named)
        return
    review_id = address.in_address(address.REVIEW)
    if review_id is None and waiting:
        review_id = waiting[0].review_id
    review = app.console().queries.review(review_id) if review_id else None
    if review is None:
        _nothing(unknown=review_id is not None)
    elif review.state is ReviewState.OPEN:
        _open(review)
    else:
        _ended(review)


def _open(review: Review) -> None:
    try:
        if not review_is_damaged(review):
            app.console().queries.agent(review.agent)
    except ReviewError as error:
        st.warning("This review cannot be decided now: its agent is not available.")
        line(str(error))
        return
    card(review, next_card=next_after, later=move)


def _nothing(unknown: bool) -> None:
    with st.container(border=True):
        st.markdown("**There is no such review.**" if unknown else "**Nothing waits for a decision.**")
        running, done = app.console().queries.running(), app.console().queries.done_today()
        st.caption(f"{count(running)} running · {count(done)} decided and finished today")
        demo()


def _ended(review: Review) -> None:
    with st.container(border=True):
        st.markdown("**This review is over.**")
        line(f"It was ended by {review.ended_by}: {review.outcome}.")
        st.caption(f"Ended {clock(review.ended_at or '')}.", help=review.ended_at)
        if drafts.is_kept(review):
            st.caption("Your draft on it is kept.")
        closed(review.thread_id)
        with st.container(horizontal=True):
            st.button("Next review", key="next", type="primary", on_click=move, args=(review,))
            if st.button("Open the thread", key="thread"):
                st.switch_page("chat.py", query_params={address.THREAD_PARAMETER: review.thread_id})


main()
