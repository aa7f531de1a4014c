"""The arguments editor: form and JSON of one call, checked against its tool, with the change shown."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.review.actions import Action, Review
from agent.review.arguments.args import parse, show
from agent.review.arguments.differences import ArgumentChange, diff
from agent.review.arguments.fault_lines import fault_lines
from agent.review.decisions import AcceptedDecision
from agent.review.edits import Large, how_large
from agent.review.errors import ArgumentsRefused
from pages.parts.card import draft as drafts
from pages.parts.card.draft import Choice
from pages.parts.card.form import Keep, form
from pages.parts.card.json_field import json_field
from pages.parts.common.folds import MOST_ROWS
from pages.parts.common.literal import cautions, line, literal
from pages.parts.common.words import option
from pages.parts.state import app, widget_keys

MARK = {"added": "+", "removed": "−", "changed": "→"}
VIEWS = ("Form", "JSON")
LARGE = {
    Large.TOOL: "You call another tool.",
    Large.MOST: "You change most of the arguments.",
    Large.TEXT: "You rewrite most of a text.",
}
MAY_PLAN_AGAIN = "This is a large edit: the agent may make a new plan, and not go on as it meant to."


def edit(review: Review, action: Action, choice: Choice, faults: Sequence[object]) -> None:
    """Draw the draft of this action's arguments as a form or as JSON; the JSON has its `faults` marked."""

    def keep(text: str | None) -> None:
        drafts.save(review, drafts.on_screen(review).with_choice(action, text=text))

    with st.container(horizontal=True, vertical_alignment="center"):
        view = st.segmented_control(
            "View of the arguments",
            VIEWS,
            default=VIEWS[1],
            key=widget_keys.action_key("edit-view", review, action),
            format_func=option,
            label_visibility="collapsed",
            required=True,
        )
        st.button(
            "Reset to the proposal",
            key=widget_keys.action_key("reset", review, action),
            type="tertiary",
            on_click=_reset,
            args=(review, action, keep),
        )
    text = drafts.args_text(action, choice)
    if view == VIEWS[0]:
        _form(review, action, text, keep)
    else:
        _json(review, action, text, faults, keep)


def _json(review: Review, action: Action, text: str, faults: Sequence[object], keep: Keep) -> None:
    json_field(
        "All arguments, as JSON",
        text,
        key=widget_keys.action_key("args", review, action),
        wrong=fault_lines(text, faults),
        on_change=keep,
    )
    cautions("the arguments", text)


def _form(review: Review, action: Action, text: str, keep: Keep) -> None:
    try:
        args = parse(text)
    except ArgumentsRefused:
        args = None
    if not isinstance(args, dict):
        st.caption("The form cannot show this until its JSON is fixed. Fix it in the JSON view.")
        return
    form(review, action, args, app.console().queries.agent(action.agent).schema_of(action.tool), keep)


def _reset(review: Review, action: Action, keep: Keep) -> None:
    keep(None)
    about = widget_keys.action_key("field", review, action)
    for name in [name for name in st.session_state if str(name).startswith(about)]:
        del st.session_state[name]


def show_change(accepted: AcceptedDecision) -> None:
    """Show what the edit changes, by path, and in one sentence what would then run."""
    changes = diff(accepted.before.args, accepted.after.args)
    if not changes:
        st.caption("Nothing is changed yet: this would run as proposed.")
        return
    st.caption("What you change")
    told = [_told(change) for change in changes]
    for text in told if len(told) <= MOST_ROWS else ["\n\n".join(told)]:
        literal(text)
    st.caption("What will run")
    line(accepted.after.summary)
    if large := how_large(accepted.before, accepted.after):
        st.caption(f":material/info: {LARGE[large]} {MAY_PLAN_AGAIN}")


def _told(change: ArgumentChange) -> str:
    before = "" if change.kind == "added" else show(change.before)
    after = "" if change.kind == "removed" else show(change.after)
    return f"{change.path}\n  {before}\n{MARK[change.kind]} {after}"
