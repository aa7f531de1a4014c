"""The arguments editor: the full JSON of one call, checked against its tool, with the change shown."""

from __future__ import annotations

import streamlit as st

from agent.review.actions import Action, Review
from agent.review.args import show
from agent.review.decisions import Ruling
from agent.review.differences import diff
from agent.review.errors import ArgumentsRefused
from pages.parts import draft as drafts
from pages.parts import session
from pages.parts.draft import Choice
from pages.parts.literal import line, literal

MARK = {"added": "+", "removed": "−", "changed": "→"}


def edit(review: Review, action: Action, choice: Choice) -> None:
    """The text field, bound to the reviewer's draft of this action."""
    name = session.action_key("args", review, action)

    def keep() -> None:
        drafts.save(review, drafts.on_screen(review).with_choice(action, text=st.session_state[name]))

    def reset() -> None:
        drafts.save(review, drafts.on_screen(review).with_choice(action, text=None))
        st.session_state.pop(name, None)

    text = drafts.args_text(action, choice)
    height = min(420, 70 + 24 * (text.count("\n") + 1))
    st.text_area("All arguments, as JSON", value=text, key=name, on_change=keep, height=height)
    st.button(
        "Reset to the proposal",
        key=session.action_key("reset", review, action),
        type="tertiary",
        on_click=reset,
    )


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
