"""What may be said beside a decision, and the ways out of a review other than deciding action by action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from agent.review.actions import Action, Review
from pages.parts import draft as drafts
from pages.parts import session
from pages.parts.draft import Choice, Draft


def comment(review: Review, action: Action, choice: Choice) -> None:
    """A remark on this decision, for the record."""
    name = session.action_key("comment", review, action)

    def keep() -> None:
        said = st.session_state[name] or ""
        drafts.save(review, drafts.on_screen(review).with_choice(action, comment=said))

    with st.popover("Comment…", type="tertiary"):
        st.text_area(
            "For the record only; the agent does not read it",
            value=choice.comment,
            key=name,
            on_change=keep,
            max_chars=20_000,
        )


def reject_all(review: Review, action: Action, *, moved: str) -> None:
    """Choose to reject each action, where each may be rejected. `moved` is said if the card was not this one."""
    if len(review.actions) < 2 or any("reject" not in one.allowed for one in review.actions):
        return

    def choose() -> None:
        if not session.is_on_screen(review, action):
            session.flash("warning", moved)
            return
        draft = drafts.on_screen(review)
        for one in review.actions:
            draft = draft.with_choice(one, type="reject")
        drafts.save(review, draft)

    name = session.key("all-rejected", review.review_id)
    st.button("Reject all", key=name, type="tertiary", on_click=choose)


def end_turn(
    review: Review, draft: Draft, *, off: bool, send: Callable[..., None], args: tuple[Any, ...]
) -> None:
    """Send the decisions and end the turn with them, where every one of them is a rejection."""
    if any(draft.of(one).type != "reject" for one in review.actions):
        return
    st.button(
        "Reject and end the turn",
        key=session.key("end-turn", review.review_id),
        help="Nothing more of this turn runs, and the agent does not go on by itself.",
        disabled=off,
        on_click=send,
        args=args,
        kwargs={"ends": True},
    )


def ask_reason(review: Review) -> None:
    """Ask why a review is closed."""
    st.text_input("Reason (for the record)", key=session.key("close-reason", review.review_id))


def reason_given(review: Review) -> str:
    return str(st.session_state.get(session.key("close-reason", review.review_id)) or "")
