"""The form that settles an unknown outcome: a person looks at the world and says what happened."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.review.actions import Action, ActionState
from agent.review.arguments.args import show
from agent.review.errors import ReviewError
from pages.parts.common.clicks import named_first
from pages.parts.common.literal import line, literal
from pages.parts.common.words import ago, option
from pages.parts.state import address, app, flash, identity
from pages.parts.thread.world import world_panel

SAY = {
    "happened": "It happened",
    "failed": "It failed",
    "ask_again": "It did not happen: ask again",
}
MEANS = {
    "happened": "The agent gets your words, or that it took effect, as the tool's result.",
    "failed": "The agent gets an error as the tool's result.",
    "ask_again": "The same call goes to a reviewer again. Nothing runs before a decision.",
}


NOT_ASKED = (
    "This agent gates itself and cannot be made to ask again. It learns that nothing happened, "
    "and may propose the call again."
)


def settle(named: str) -> None:
    """Draw what is known about the action `thread/call`, and the three outcomes a person can record."""
    thread_id, _, call_id = named.partition("/")
    action = app.console().queries.action(thread_id, call_id)
    if action is None or action.state is not ActionState.UNKNOWN:
        with st.container(border=True):
            st.markdown("**This action has no unknown outcome.** It may have been settled by somebody else.")
        return
    with st.container(border=True, key="settle"):
        _what_is_known(action)
        outcome = st.segmented_control(
            "What became of it?", list(SAY), format_func=lambda one: option(SAY[one]), key="outcome"
        )
        if outcome:
            asks_not = outcome == "ask_again" and app.gates_itself(action.agent)
            st.caption(NOT_ASKED if asks_not else MEANS[outcome])
        words = ""
        if outcome in ("happened", "failed"):
            words = st.text_area(
                "What the agent should read (may be empty)", key="settled-result", max_chars=20_000
            )
        st.button(
            "Record this",
            key="record-outcome",
            type="primary",
            disabled=outcome is None,
            on_click=_settle,
            args=(action, outcome, words),
        )
    if not app.gates_itself(action.agent):
        world_panel(thread_id, action.agent)


def _what_is_known(action: Action) -> None:
    st.badge("outcome unknown", color="red", icon=":material/help:")
    st.markdown(
        "Its process was cut off while it ran. It **may or may not** have taken effect. Look at the world first."
    )
    literal(f"{action.tool}\n{show(action.args)}")
    line(action.summary)
    if action.started_at:
        st.caption(f"started {ago(action.started_at)} ago", help=action.started_at)


@named_first
def _settle(action: Action, outcome: Any, words: str) -> None:
    try:
        app.console().settle(
            action.key.thread_id, action.key.tool_call_id, outcome, by=identity.reviewer(), result=words
        )
    except ReviewError as error:
        flash.flash_error("This was not recorded.", error)
        return
    address.put_in_address(address.ACTION, None)
    flash.flash("toast", "Recorded.")
