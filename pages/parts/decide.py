"""Deciding: choosing for each action, seeing what follows, sending all decisions at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from agent.review.actions import Action, Review
from agent.review.args import show
from agent.review.errors import ArgumentsRefused, ReviewError
from pages.parts import draft as drafts
from pages.parts import editor, session
from pages.parts.draft import Choice, Draft
from pages.parts.literal import line, literal, unopened
from pages.parts.ways_out import ask_reason, comment, end_turn, reason_given, reject_all
from pages.parts.words import CHOSEN, COLOR, ICON, KEY, SEND, VERB

WAIT_FOR_RUN = 1.5  # seconds a click waits on the run itself, so that a quick turn is drawn at once

Goes = Callable[[Review], None] | None
EDITED = "What would run has changed since it was shown. Look at it now, then send it."
UNREAD = "Approve is off until every long value was opened: {} to go."
MOVED = "The card had just changed. Nothing was chosen; look at it and choose again."
AT_ONCE = "Choosing and sending came at once. Nothing was sent; look at what is chosen now and send again."


def decisions(
    review: Review, action: Action, draft: Draft, *, after: Goes, later: Callable[..., None] | None
) -> None:
    """The choices for the action in view, what the chosen one does, and the bar to send them."""
    choice = draft.of(action)
    faults = _chosen(review, action, choice) if choice.type else False
    undecided = sum(1 for one in review.actions if not draft.of(one).type)
    with st.bottom, st.container(key="decision-bar", gap="small"):
        _choices(review, action, choice, after, later)
        with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
            if "approve" in action.allowed and (folds := folds_unopened(action)):
                st.caption(UNREAD.format(folds), width="content")
            if undecided:
                st.caption(_still(undecided, len(review.actions)), width="content")
            end_turn(review, draft, off=faults, send=_send, args=(review, action, after))
            st.button(
                f"Submit {len(review.actions)} decisions" if len(review.actions) > 1 else SEND[choice.type],
                key=session.key("send", review.review_id),
                type="primary",
                shortcut="Ctrl+Enter",
                disabled=bool(undecided or faults or _approved_unread(review, draft)),
                on_click=_send,
                args=(review, action, after),
            )


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


def _choices(
    review: Review, action: Action, choice: Choice, after: Goes, later: Callable[..., None] | None
) -> None:
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        with st.popover("Close without deciding…", type="tertiary"):
            st.caption("Nothing runs. The agent is told that the question is still open.")
            ask_reason(review)
            st.button(
                "Close it", key=session.key("close", review.review_id), on_click=_close, args=(review, after)
            )
        reject_all(review, action, moved=MOVED)
        if later is not None:
            for label, key, by in (("Previous", "K", -1), ("Next", "J", 1), ("Later", "X", 1)):
                st.button(
                    label,
                    key=session.key(label.lower(), review.review_id),
                    type="tertiary",
                    shortcut=key,
                    on_click=later,
                    args=(review, by),
                )
        for kind in (one for one in ("respond", "reject", "edit", "approve") if one in action.allowed):
            st.button(
                VERB[kind],
                key=session.action_key(kind, review, action),
                icon=ICON[kind],
                type="primary" if choice.type == kind else "secondary",
                shortcut=KEY[kind],
                disabled=kind == "approve" and folds_unopened(action) > 0,
                on_click=_choose,
                args=(review, action, kind),
            )
        if choice.type:
            st.button(
                "Undo the choice",
                key=session.action_key("undo", review, action),
                type="tertiary",
                shortcut="Esc",
                on_click=_choose,
                args=(review, action, ""),
            )


def _chosen(review: Review, action: Action, choice: Choice) -> bool:
    """What the choice needs and what it would do; true if it cannot be taken yet."""
    with st.container(border=True, key="chosen"):
        st.badge(CHOSEN[choice.type], color=COLOR[choice.type], icon=ICON[choice.type])
        if choice.type == "edit":
            editor.edit(review, action, choice)
        if choice.type == "reject":
            _words(review, action, "reason", "Reason (the agent will read this)", choice.reason)
        if choice.type == "respond":
            _words(review, action, "reply", "Your answer, as the tool's result", choice.reply)
        comment(review, action, choice)
        return _preview(review, action, choice)


def _words(review: Review, action: Action, field: str, label: str, value: str) -> None:
    name = session.action_key(field, review, action)

    def keep() -> None:
        drafts.save(
            review, drafts.on_screen(review).with_choice(action, **{field: st.session_state[name] or ""})
        )

    st.text_area(label, value=value, key=name, on_change=keep, max_chars=20_000)


def _preview(review: Review, action: Action, choice: Choice) -> bool:
    """Show what this choice would do, and what the model will be told; true if it cannot be taken yet."""
    try:
        made = drafts.decision(review, action, choice) | {"edited_digest": None}
        ruling = session.console().preview_one(review, action, made)
    except ArgumentsRefused as error:
        editor.show_faults(error)
        return True
    except ReviewError as error:
        line(str(error))
        return True
    if choice.type == "edit":
        session.see_edited_digest(review, action, ruling.after.shown_digest)
        editor.show_change(ruling)
    if ruling.told:
        st.caption("The agent will be told")
        literal(ruling.told)
    return False


def _choose(review: Review, action: Action, kind: str) -> None:
    if not session.is_on_screen(review, action):
        session.flash("warning", MOVED)
        return
    if kind == "approve" and folds_unopened(action):
        return
    draft = drafts.on_screen(review).with_choice(action, type=kind)
    undecided = [place for place, one in enumerate(review.actions) if not draft.of(one).type]
    onward = kind == "approve" and undecided
    drafts.save(review, Draft(draft.choices, undecided[0] if onward else review.actions.index(action)))


def _send(review: Review, action: Action, after: Goes, *, ends: bool = False) -> None:
    if not session.is_on_screen(review, action):
        session.flash("warning", MOVED)
        return
    if _chosen_at_once(review, action):
        session.flash("warning", AT_ONCE)
        return
    draft = drafts.on_screen(review)
    try:
        made = [drafts.decision(review, one, draft.of(one)) for one in review.actions]
        if _edited_since(review, made):
            session.flash("warning", EDITED)
            return
        run = session.console().decide(
            review.thread_id,
            made,
            by=session.reviewer(),
            review_id=review.review_id,
            end_turn=ends,
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


def _edited_since(review: Review, made: list[dict[str, Any]]) -> bool:
    """Whether an edit was typed after what would run was last shown: the click that ends the typing sends nothing."""
    return any(
        session.console().preview_one(review, action, one | {"edited_digest": None}).after.shown_digest
        != one["edited_digest"]
        for action, one in zip(review.actions, made, strict=True)
        if one["type"] == "edit"
    )


def _close(review: Review, after: Goes) -> None:
    try:
        run = session.console().close(
            review.thread_id,
            by=session.reviewer(),
            review_id=review.review_id,
            reason=reason_given(review),
        )
    except ReviewError as error:
        session.flash_error("The review was not closed.", error)
        return
    session.flash("toast", "Closed without deciding.")
    session.console().wait(run, WAIT_FOR_RUN)
    if after:
        after(review)
