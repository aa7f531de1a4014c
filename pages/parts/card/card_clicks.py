"""The clicks of a card: choose, send or close, only for the card that is on screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from agent.review import retype
from agent.review.actions import Action, Review
from agent.review.attention import Seen
from agent.review.errors import ArgumentsRefused, ReviewError
from agent.review.threads import Run
from pages.parts.card import draft as drafts
from pages.parts.card.draft import Choice, Draft
from pages.parts.common.clicks import named_first
from pages.parts.common.folds import folds_opened, folds_unopened
from pages.parts.common.words import VERB
from pages.parts.state import app, drawing, flash, identity, on_screen, widget_keys

WAIT_FOR_RUN = 1.5  # seconds a click waits on the run itself, so that a quick turn is drawn at once

FIRST_MOMENTS = 0.7  # seconds in which a click on a new card was probably meant for the previous one

RUNS = ("approve", "edit")
NextCard = Callable[[Review], bool] | None
"""Moves on to another card after this one; returns false if no other waits."""
EDITED = "What would run has changed since it was shown. Look at it now, then send it."
MOVED = "The card had just changed. Nothing was chosen; look at it and choose again."
TOO_SOON = "The card had just changed. Nothing was sent; look at it, then send again."
TWO_AT_ONCE = "Two choices came at once. The first one counts; look at it, and choose again to change it."
AT_ONCE = "Choosing and sending came at once. Nothing was sent; look at what is chosen now and send again."
NOT_TYPED = (
    "Nothing was sent. This irreversible call needs its dangerous value typed again. Type it, then send."
)


def choose(review: Review, action: Action, kind: str) -> None:
    """Put a choice for the action into the draft; an empty one undoes it. Nothing is sent."""
    if not on_screen.is_on_screen(review, action):
        # While both the old and the new card are on the page, a key presses the buttons of both. If the new card took
        # the choice, there is nothing to warn about.
        if drafts.chosen_on_screen() != kind:
            flash.flash("warning", MOVED)
        return
    if cannot_choose(action, kind):
        return
    if (
        kind
        and drafts.chosen_on_screen() not in ("", kind)
        and on_screen.seconds_since_choice() < FIRST_MOMENTS
    ):
        flash.flash("warning", TWO_AT_ONCE)
        return
    flash.take_back(MOVED)
    on_screen.note_choice()
    draft = drafts.on_screen(review).with_choice(action, type=kind)
    drafts.save(review, onward(review, action, draft))


def cannot_choose(action: Action, kind: str) -> bool:
    """Return whether this kind cannot be chosen now: folds are unopened, or the policy now denies the call."""
    if kind not in RUNS:
        return False
    denial = app.console().queries.denial(action.agent, action)
    if kind == "approve":
        return denial is not None or folds_unopened(action) > 0
    return denial is not None and denial.whole


def lacks_typing(action: Action, choice: Choice, accepted: Action) -> bool:
    """Return whether a value must still be typed before `accepted` may run by this choice."""
    if choice.type not in RUNS:
        return False
    policy = app.console().queries.agent(action.agent).policy
    return not retype.is_typed(policy, accepted.tool, accepted.args, choice.typed)


def onward(review: Review, action: Action, draft: Draft) -> Draft:
    """Return the draft, moved on to the next undecided action if this one is approved and lacks nothing."""
    undecided = [place for place, one in enumerate(review.actions) if not draft.of(one).type]
    choice = draft.of(action)
    goes = choice.type == "approve" and undecided and not lacks_typing(action, choice, action)
    return Draft(draft.choices, undecided[0] if goes else review.actions.index(action))


def choose_all(review: Review, action: Action, kind: str) -> None:
    """Put the same choice for every action of the review into the draft. Nothing is sent."""
    if any(cannot_choose(one, kind) for one in review.actions) or not on_screen.is_on_screen(review, action):
        flash.flash("warning", MOVED)
        return
    draft = drafts.on_screen(review)
    for one in review.actions:
        draft = draft.with_choice(one, type=kind)
    drafts.save(review, draft)


def _not_yet(review: Review, action: Action) -> str:
    """Return why a click on this card may send nothing now, or ""."""
    if not on_screen.is_on_screen(review, action):
        return MOVED
    if on_screen.seconds_on_screen() < FIRST_MOMENTS:
        return TOO_SOON
    return AT_ONCE if _chosen_at_once(review, action) else ""


@named_first
def send(review: Review, action: Action, next_card: NextCard, end_turn: bool = False) -> None:
    """Record the decisions as they are on screen, all or none, and move on to the next card."""
    if why := _not_yet(review, action):
        flash.flash("warning", why)
        return
    draft = drafts.on_screen(review)
    try:
        made = [drafts.decision(review, one, draft.of(one)) for one in review.actions]
        if why := _not_as_seen(review, draft, made):
            flash.flash("warning", why)
            return
        run = app.console().decide(
            review.thread_id,
            made,
            by=identity.reviewer(),
            review_id=review.review_id,
            end_turn=end_turn,
            seen=_seen(review),
            after=drawing.drawing(),
        )
    except ArgumentsRefused as error:
        flash.flash("error", "The edited arguments cannot be sent. Nothing was decided.", str(error))
        return
    except ReviewError as error:
        flash.flash_error("This was not sent. Your draft is kept.", error)
        return
    drafts.forget(review)
    count = len(review.actions)
    flash.flash("toast", f"Sent {count} decisions." if count > 1 else f"Sent: {draft.of(action).type}.")
    _go_on(review, run, next_card)


def _go_on(review: Review, run: Run, next_card: NextCard) -> None:
    """Move on to the next card, drawn before the run starts; without one, wait briefly for the run's result."""
    if next_card is None or not next_card(review):
        drawing.end_drawing()
        app.console().wait(run, WAIT_FOR_RUN)


def _seen(review: Review) -> dict[str, Seen]:
    """Return how each action was looked at in this session, by tool call id."""
    times = on_screen.visible_seconds()
    return {
        one.key.tool_call_id: Seen(
            times.get(on_screen.card_of(review, one), 0.0),
            folds_opened(review, one),
        )
        for one in review.actions
    }


def _chosen_at_once(review: Review, action: Action) -> bool:
    """Return whether this same click also made a choice: keys pressed faster than a page is drawn arrive together."""
    buttons = [widget_keys.action_key(kind, review, action) for kind in (*VERB, "undo")]
    buttons += [widget_keys.key(f"all-{kind}", review.review_id) for kind in VERB]
    return any(st.session_state.get(button) for button in buttons)


def _not_as_seen(review: Review, draft: Draft, made: list[dict[str, Any]]) -> str:
    """Return why what would run needs another look before it is sent, or "".

    The click that ends the typing of an edit sends nothing: what would run was not shown yet.
    """
    for action, one in zip(review.actions, made, strict=True):
        after = app.console().preview_one(review, action, one | {"edited_digest": None}).after
        if one["type"] == "edit" and after.shown_digest != one["edited_digest"]:
            return EDITED
        if lacks_typing(action, draft.of(action), after):
            return NOT_TYPED
    return ""


@named_first
def close(review: Review, action: Action, next_card: NextCard) -> None:
    """End the review without deciding."""
    if why := _not_yet(review, action):
        flash.flash("warning", why)
        return
    try:
        run = app.console().close(
            review.thread_id,
            by=identity.reviewer(),
            review_id=review.review_id,
            reason=st.session_state.get(widget_keys.key("close-reason", review.review_id)) or "",
            after=drawing.drawing(),
        )
    except ReviewError as error:
        flash.flash_error("The review was not closed.", error)
        return
    flash.flash("toast", "Closed without deciding.")
    _go_on(review, run, next_card)
