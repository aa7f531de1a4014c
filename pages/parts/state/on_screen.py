"""What is on this session's screen: which card, since when and how long seen, what was chosen there, whose draft.

A decision counts for what is on screen and for nothing else.
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
    """From now on, decisions of this session are about this action as it is shown."""
    if not is_on_screen(review, action):
        st.session_state[VISIBLE] = visible_seconds()
        st.session_state[HIDDEN] = 0.0
        st.session_state[CARD] = (card_of(review, action), console().queries.now())


def is_on_screen(review: Review, action: Action) -> bool:
    """Whether a button drawn for this action is still about what is on screen.

    A key pressed while the next card is being drawn calls the button of the card before.
    """
    return card_on_screen()[0] == card_of(review, action)


def card_on_screen() -> tuple[Card | None, str]:
    """What the card of this session is about, and the instant since when."""
    return st.session_state.get(CARD) or (None, "")


def seconds_on_screen() -> float:
    """How long the present card has been this session's."""
    _, since = card_on_screen()
    return _seconds_since(since) if since else 0.0


def _seconds_since(instant: str) -> float:
    return (datetime.fromisoformat(console().queries.now()) - datetime.fromisoformat(instant)).total_seconds()


def card_of(review: Review, action: Action) -> Card:
    """What the card of this action is about."""
    return review.review_id, action.key.tool_call_id, action.shown_digest


def note_hidden(seconds: float) -> None:
    """The page was hidden that long, with the present card on it."""
    st.session_state[HIDDEN] = st.session_state.get(HIDDEN, 0.0) + seconds


def visible_seconds() -> dict[Card, float]:
    """How long each card was to be seen in this session, up to now."""
    counted = dict(st.session_state.get(VISIBLE, {}))
    card, _ = card_on_screen()
    if card is not None:
        seen = max(0.0, seconds_on_screen() - st.session_state.get(HIDDEN, 0.0))
        counted[card] = counted.get(card, 0.0) + seen
    return counted


def note_choice() -> None:
    """A choice was made by this very click; the page drawn next may go to it."""
    st.session_state[JUST_CHOSEN] = True
    made, _ = st.session_state.get(CHOICES, (0, ""))
    st.session_state[CHOICES] = (made + 1, console().queries.now())


def was_just_chosen() -> bool:
    return bool(st.session_state.pop(JUST_CHOSEN, False))


def choices_made() -> int:
    """How many choices were made in this session: the number of the latest."""
    return int(st.session_state.get(CHOICES, (0, ""))[0])


def seconds_since_choice() -> float:
    """How long ago the latest choice of this session was made."""
    _, at = st.session_state.get(CHOICES, (0, ""))
    return _seconds_since(at) if at else inf


def put_draft_on_screen(review: Review, body: str | None) -> None:
    """From now on, decisions of this session on this review are those of this draft."""
    st.session_state[DRAFT] = (review.review_id, body)


def draft_of(review_id: str) -> str | None:
    """The draft of this review, if it is the one on screen."""
    shown, body = st.session_state.get(DRAFT, (None, None))
    return body if shown == review_id else None


def edited_digest_seen(review: Review, action: Action) -> str | None:
    """The digest of the edited call that this browser was last shown."""
    return dict(st.session_state.get(SEEN, {})).get(action_key("edit", review, action))


def see_edited_digest(review: Review, action: Action, digest: str | None) -> None:
    st.session_state.setdefault(SEEN, {})[action_key("edit", review, action)] = digest
