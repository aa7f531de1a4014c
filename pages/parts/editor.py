"""The arguments editor: the full JSON of one call, checked against its tool, with the change shown."""

from __future__ import annotations

import streamlit as st

from agent.review.actions import Action, Review
from agent.review.args import parse, show
from agent.review.decisions import Ruling
from agent.review.differences import diff
from agent.review.errors import ArgumentsRefused
from pages.parts import draft as drafts
from pages.parts import session
from pages.parts.draft import Choice
from pages.parts.form import Keep, form
from pages.parts.literal import line, literal

MARK = {"added": "+", "removed": "−", "changed": "→"}


VIEWS = ("Form", "JSON")


def edit(review: Review, action: Action, choice: Choice) -> None:
    """Form and JSON, two views of the reviewer's one draft of this action."""

    def keep(text: str | None) -> None:
        drafts.save(review, drafts.on_screen(review).with_choice(action, text=text))

    with st.container(horizontal=True, vertical_alignment="center"):
        view = st.segmented_control(
            "View of the arguments",
            VIEWS,
            default=VIEWS[1],
            key=session.action_key("edit-view", review, action),
            label_visibility="collapsed",
            required=True,
        )
        st.button(
            "Reset to the proposal",
            key=session.action_key("reset", review, action),
            type="tertiary",
            on_click=_reset,
            args=(review, action, keep),
        )
    text = drafts.args_text(action, choice)
    if view == VIEWS[0]:
        _form(review, action, text, keep)
    else:
        _json(review, action, text, keep)


def _json(review: Review, action: Action, text: str, keep: Keep) -> None:
    name = session.action_key("args", review, action)
    height = min(420, 70 + 24 * (text.count("\n") + 1))
    st.text_area(
        "All arguments, as JSON",
        value=text,
        key=name,
        on_change=lambda: keep(st.session_state[name]),
        height=height,
    )


def _form(review: Review, action: Action, text: str, keep: Keep) -> None:
    try:
        args = parse(text)
    except ArgumentsRefused:
        args = None
    if not isinstance(args, dict):
        st.caption("The JSON has to be mended before the form can show it.")
        return
    form(review, action, args, session.console().agent(action.agent).schema_of(action.tool), keep)


def _reset(review: Review, action: Action, keep: Keep) -> None:
    keep(None)
    about = session.action_key("", review, action)
    for name in [
        name for name in st.session_state if str(name).startswith(("args" + about, "field" + about))
    ]:
        del st.session_state[name]


def show_faults(error: ArgumentsRefused) -> None:
    for fault in error.faults:
        line(str(fault))


def show_change(ruling: Ruling) -> None:
    """What the edit changes, by path, and the sentence on what would then run."""
    changes = diff(ruling.before.args, ruling.after.args)
    if not changes:
        st.caption("Nothing is changed yet: this would run as proposed.")
        return
    st.caption("What you change")
    for change in changes:
        before = "" if change.kind == "added" else show(change.before)
        after = "" if change.kind == "removed" else show(change.after)
        literal(f"{change.path}\n  {before}\n{MARK[change.kind]} {after}")
    st.caption("What will run")
    line(ruling.after.summary)
