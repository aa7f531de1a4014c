"""Deciding: choosing for each action, seeing what follows, sending all decisions at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from agent.review.actions import Action, Review
from agent.review.args import show
from agent.review.errors import ArgumentsRefused, ReviewError
from agent.review.retyped import may_approve_together
from pages.parts import draft as drafts
from pages.parts import session
from pages.parts.chosen import lacks_typing, onward
from pages.parts.draft import Choice, Draft
from pages.parts.literal import unopened
from pages.parts.words import ICON, KEY, SEND, VERB

WAIT_FOR_RUN = 1.5  # seconds a click waits on the run itself, so that a quick turn is drawn at once

FIRST_MOMENTS = 0.7  # seconds in which a click on a new card was meant for the one before

Goes = Callable[[Review], None] | None
STEPS = (("Previous", "K", -1), ("Next", "J", 1), ("Later", "X", 1))
EDITED = "What would run has changed since it was shown. Look at it now, then send it."
UNREAD = "Approve is off until every long value was opened: {} to go."
MOVED = "The card had just changed. Nothing was chosen; look at it and choose again."
TOO_SOON = "The card had just changed. Nothing was sent; look at it, then send again."
AT_ONCE = "Choosing and sending came at once. Nothing was sent; look at what is chosen now and send again."
NOT_TYPED = "Nothing was sent. An irreversible call runs only after its dangerous value was typed again."


def decisions(review: Review, action: Action, draft: Draft, *, lacking: bool, after: Goes) -> None:
    """The bar: the choices for the action in view, and the way to send all decisions.

    `lacking` says that the choice in view cannot be sent yet.
    """
    choice = draft.of(action)
    undecided = sum(1 for one in review.actions if not draft.of(one).type)
    off = bool(undecided or lacking or _approved_unread(review, draft))
    with st.bottom, st.container(key="decision-bar", gap="xsmall"):
        if hint := _hint(review, action, undecided):
            st.caption(hint, text_alignment="right")
        with st.container(
            horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"
        ):
            _approve_all(review, draft)
            _choices(review, action, choice)
            st.button(
                f"Submit {len(review.actions)} decisions" if len(review.actions) > 1 else SEND[choice.type],
                key=session.key("send", review.review_id),
                type="primary",
                shortcut=session.shortcut("Ctrl+Enter"),
                disabled=off,
                on_click=_send,
                args=(review, action, after),
            )


def _hint(review: Review, action: Action, undecided: int) -> str:
    folds = folds_unopened(action) if "approve" in action.allowed else 0
    hints = [UNREAD.format(folds)] if folds else []
    if undecided:
        hints.append(_still(undecided, len(review.actions)))
    return " ".join(hints)


def folds_unopened(action: Action) -> int:
    """How many long values of the action this session has not opened yet; approving waits for them."""
    return unopened([action.summary, *map(show, (action.args or {}).values())])


def _approved_unread(review: Review, draft: Draft) -> bool:
    # A draft may have been made in another session, which opened what this one has not.
    return any(draft.of(one).type == "approve" and folds_unopened(one) for one in review.actions)


def _still(undecided: int, total: int) -> str:
    if total == 1:
        return "Choose a decision; it is sent with the button at the right."
    return f"{undecided} of {total} still to decide. Nothing is sent before the last."


def aside(review: Review, action: Action, *, after: Goes, later: Callable[..., None] | None) -> None:
    """The ways on that decide nothing, apart from those that do."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for label, key, by in STEPS if later else ():
            st.button(
                label,
                key=session.key(label.lower(), review.review_id),
                type="tertiary",
                shortcut=session.shortcut(key),
                on_click=later,
                args=(review, by),
            )
        with st.popover("Close without deciding…", type="tertiary"):
            st.caption("Nothing runs. The agent is told that the question is still open.")
            st.button(
                "Close it",
                key=session.key("close", review.review_id),
                on_click=_close,
                args=(review, action, after),
            )


def _approve_all(review: Review, draft: Draft) -> None:
    """Where each action may be approved, none is irreversible and all of them have been looked at whole."""
    policy = session.console().agent(review.agent).policy
    if len(review.actions) < 2 or not all(may_approve_together(policy, one) for one in review.actions):
        return
    st.button(
        f"Approve all {len(review.actions)}…",
        key=session.key("approve-all", review.review_id),
        disabled=any(folds_unopened(one) for one in review.actions),
        on_click=_choose_all,
        args=(review, review.actions[min(draft.at, len(review.actions) - 1)]),
        help="Chooses to approve each of them. Nothing is sent yet.",
    )


def _choose_all(review: Review, action: Action) -> None:
    if not session.is_on_screen(review, action) or any(folds_unopened(one) for one in review.actions):
        session.flash("warning", MOVED)
        return
    draft = drafts.on_screen(review)
    for one in review.actions:
        draft = draft.with_choice(one, type="approve")
    drafts.save(review, draft)


def _choices(review: Review, action: Action, choice: Choice) -> None:
    for kind in (one for one in ("respond", "reject", "edit", "approve") if one in action.allowed):
        st.button(
            VERB[kind],
            key=session.action_key(kind, review, action),
            icon=ICON[kind],
            type="primary" if choice.type == kind else "secondary",
            shortcut=session.shortcut(KEY[kind]),
            disabled=kind == "approve" and folds_unopened(action) > 0,
            on_click=_choose,
            args=(review, action, kind),
        )
    if choice.type:
        st.button(
            "Undo the choice",
            key=session.action_key("undo", review, action),
            type="tertiary",
            shortcut=session.shortcut("Esc"),
            on_click=_choose,
            args=(review, action, ""),
        )


def _choose(review: Review, action: Action, kind: str) -> None:
    if not session.is_on_screen(review, action):
        # While two cards stand side by side a key calls the buttons of both; what is chosen is then not denied.
        if drafts.chosen_on_screen() != kind:
            session.flash("warning", MOVED)
        return
    if kind == "approve" and folds_unopened(action):
        return
    session.take_back(MOVED)
    session.note_choice()
    draft = drafts.on_screen(review).with_choice(action, type=kind)
    drafts.save(review, onward(review, action, draft))


def _not_yet(review: Review, action: Action) -> str:
    """Why nothing may be sent by a click on this card now; empty if it may."""
    if not session.is_on_screen(review, action):
        return MOVED
    if session.seconds_on_screen() < FIRST_MOMENTS:
        return TOO_SOON
    return AT_ONCE if _chosen_at_once(review, action) else ""


def _send(review: Review, action: Action, after: Goes) -> None:
    if why := _not_yet(review, action):
        session.flash("warning", why)
        return
    draft = drafts.on_screen(review)
    try:
        made = [drafts.decision(review, one, draft.of(one)) for one in review.actions]
        if why := _not_as_seen(review, draft, made):
            session.flash("warning", why)
            return
        run = session.console().decide(
            review.thread_id, made, by=session.reviewer(), review_id=review.review_id
        )
    except ArgumentsRefused as error:
        session.flash("error", "The edited arguments cannot be sent. Nothing was decided.", str(error))
        return
    except ReviewError as error:
        session.flash_error("This was not sent. Your draft is kept.", error)
        return
    drafts.forget(review)
    count = len(review.actions)
    session.flash("toast", f"Sent {count} decisions." if count > 1 else f"Sent: {draft.of(action).type}.")
    session.console().wait(run, WAIT_FOR_RUN)
    if after:
        after(review)


def _chosen_at_once(review: Review, action: Action) -> bool:
    """Whether a choice came with this very click: keys pressed faster than a page is drawn arrive as one."""
    return any(st.session_state.get(session.action_key(kind, review, action)) for kind in (*VERB, "undo"))


def _not_as_seen(review: Review, draft: Draft, made: list[dict[str, Any]]) -> str:
    """Why what would run cannot go without another look; empty if it can.

    The click that ends the typing of an edit sends nothing: what would run was not shown yet.
    """
    for action, one in zip(review.actions, made, strict=True):
        after = session.console().preview_one(review, action, one | {"edited_digest": None}).after
        if one["type"] == "edit" and after.shown_digest != one["edited_digest"]:
            return EDITED
        if lacks_typing(action, draft.of(action), after):
            return NOT_TYPED
    return ""


def _close(review: Review, action: Action, after: Goes) -> None:
    if why := _not_yet(review, action):
        session.flash("warning", why)
        return
    try:
        run = session.console().close(review.thread_id, by=session.reviewer(), review_id=review.review_id)
    except ReviewError as error:
        session.flash_error("The review was not closed.", error)
        return
    session.flash("toast", "Closed without deciding.")
    session.console().wait(run, WAIT_FOR_RUN)
    if after:
        after(review)
