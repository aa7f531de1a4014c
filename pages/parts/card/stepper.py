"""The steps of a review with several actions: one per action, marked with its choice."""

from __future__ import annotations

import streamlit as st

from agent.review.actions import Review
from pages.parts.card import draft as drafts
from pages.parts.card.draft import Draft
from pages.parts.common.words import COLOR, ICON, option
from pages.parts.state import widget_keys

AT_ONCE = 20
"""The most steps drawn at once: those around the action in view, with buttons to the others."""


def stepper(review: Review, draft: Draft, place: int) -> None:
    """Draw the steps with the one at `place` in view; picking another shows its action."""
    total = len(review.actions)
    first = place // AT_ONCE * AT_ONCE
    last = min(first + AT_ONCE, total)
    _steps(review, draft, place, range(first, last))
    if total > AT_ONCE:
        with st.container(horizontal=True, gap="small"):
            if first:
                _others(review, first - AT_ONCE, first, ":material/chevron_left:")
            if last < total:
                _others(review, last, min(last + AT_ONCE, total), ":material/chevron_right:")


def _steps(review: Review, draft: Draft, place: int, shown: range) -> None:
    name = widget_keys.key("step", review.review_id, place)

    def label(n: int) -> str:
        chosen = draft.of(review.actions[n]).type
        if not chosen:
            return option(f":material/radio_button_unchecked: {n + 1}")
        return option(f"{ICON[chosen]} {n + 1}", COLOR[chosen])

    def go() -> None:
        to = st.session_state.get(name)
        if to is not None:
            _show(review, int(to))

    st.segmented_control(
        "Actions of this review",
        shown,
        default=place,
        format_func=label,
        key=name,
        on_change=go,
        label_visibility="collapsed",
    )


def _others(review: Review, first: int, last: int, icon: str) -> None:
    st.button(
        f"{first + 1} to {last}",
        key=widget_keys.key("steps", review.review_id, first),
        type="tertiary",
        icon=icon,
        on_click=_show,
        args=(review, first),
    )


def _show(review: Review, place: int) -> None:
    drafts.save(review, Draft(drafts.on_screen(review).choices, place))
