"""What this session's screen shows: which card, since when, how long it was visible, what was chosen, which draft.

A decision applies to what is on screen and to nothing else.
"""

from __future__ import annotations

from datetime import datetime
from math import inf

import streamlit as st

from agent.review.actions import Action, Review
from pages.parts.state.app import console
from pages.parts.state.widget_keys import action_key

CARD = "card-on-screen"
VISIBLE = "seconds-visible"
HIDDEN = "seconds-hidden"
JUST_CHOSEN = "just-chosen"
CHOICES = "choices-made"
DRAFT = "draft-on-screen"
SEEN = "edited-digests-seen"

Card = tuple[str, str, str]
"""What a card is about: the review, the tool call, and the digest of what it shows."""


def put_on_screen(review: Review, action: Action) -> None:
    """Make this action, as it is shown, the one that this session's decisions apply to."""
    if not is_on_screen(review, action):
        st.session_state[VISIBLE] = visible_seconds()
        st.session_state[HIDDEN] = 0.0
        st.session_state[CARD] = (card_of(review, action), console().queries.now())


def is_on_screen(review: Review, action: Action) -> bool:
    """Return whether this action, as it is shown, is still the one on screen.

    A key pressed while the next card is being drawn triggers a button of the previous card.
    """
    return card_on_screen()[0] == card_of(review, action)


def card_on_screen() -> tuple[Card | None, str]:
    """Return the card on this session's screen, and since which instant it is there; (None, "") without one."""
    return st.session_state.get(CARD) or (None, "")


def seconds_on_screen() -> float:
    """Return the seconds that the current card has been on screen; 0 without one."""
    _, since = card_on_screen()
    return _seconds_since(since) if since else 0.0


def _seconds_since(instant: str) -> float:
    return (datetime.fromisoformat(console().queries.now()) - datetime.fromisoformat(instant)).total_seconds()


def card_of(review: Review, action: Action) -> Card:
    """Return what identifies the card of this action."""
    return review.review_id, action.key.tool_call_id, action.shown_digest


def note_hidden(seconds: float) -> None:
    """Add seconds in which the page was hidden while it showed the current card."""
    st.session_state[HIDDEN] = st.session_state.get(HIDDEN, 0.0) + seconds


def visible_seconds() -> dict[Card, float]:
    """Return the seconds that each card has been visible in this session so far."""
    counted = dict(st.session_state.get(VISIBLE, {}))
    card, _ = card_on_screen()
    if card is not None:
        seen = max(0.0, seconds_on_screen() - st.session_state.get(HIDDEN, 0.0))
        counted[card] = counted.get(card, 0.0) + seen
    return counted


def note_choice() -> None:
    """Note that this click made a choice, so that the page drawn next may scroll to it."""
    st.session_state[JUST_CHOSEN] = True
    made, _ = st.session_state.get(CHOICES, (0, ""))
    st.session_state[CHOICES] = (made + 1, console().queries.now())


def was_just_chosen() -> bool:
    return bool(st.session_state.pop(JUST_CHOSEN, False))


def choices_made() -> int:
    """Return the number of choices made in this session."""
    return int(st.session_state.get(CHOICES, (0, ""))[0])


def seconds_since_choice() -> float:
    """Return the seconds since the latest choice of this session; infinity without one."""
    _, at = st.session_state.get(CHOICES, (0, ""))
    return _seconds_since(at) if at else inf


def put_draft_on_screen(review: Review, body: str | None) -> None:
    """Make this draft the one that this session's decisions on this review are taken from."""
    st.session_state[DRAFT] = (review.review_id, body)


def draft_of(review_id: str) -> str | None:
    """Return the draft of this review if it is the one on screen, else None."""
    shown, body = st.session_state.get(DRAFT, (None, None))
    return body if shown == review_id else None


def edited_digest_seen(review: Review, action: Action) -> str | None:
    """Return the digest of the edited call that was last shown in this session, or None."""
    return dict(st.session_state.get(SEEN, {})).get(action_key("edit", review, action))


def see_edited_digest(review: Review, action: Action, digest: str | None) -> None:
    st.session_state.setdefault(SEEN, {})[action_key("edit", review, action)] = digest
