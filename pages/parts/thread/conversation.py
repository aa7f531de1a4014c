"""The conversation of a thread: what was said, and each tool call from proposal to result."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from agent.review.actions import Action, ActionState
from agent.review.arguments.args import show
from agent.review.external import NOT_GATED
from agent.review.text.secrets import masked
from agent.review.threads import Message, ToolCall
from pages.parts.common.event_words import told
from pages.parts.common.literal import line, literal
from pages.parts.common.words import ACTION_COLOR, ACTION_WORDS, clock
from pages.parts.state import app, widget_keys

LAST = 50
"""Messages drawn at first; a click shows earlier ones."""
RAN = (
    ActionState.EXECUTING,
    ActionState.DONE,
    ActionState.FAILED,
    ActionState.UNKNOWN,
    ActionState.SUSPENDED,
)

Actions = Mapping[tuple[str, str], Action]


def conversation(thread_id: str, card_of: str | None = None) -> None:
    """Draw the last messages, with a button for earlier ones; `card_of` is the review whose card is below them."""
    console = app.console()
    total = console.queries.history_length(thread_id)
    shown = int(st.session_state.get(widget_keys.key("shown", thread_id), LAST))
    if total > shown:
        st.button(
            f"Show earlier messages ({total - shown:,} more)",
            key=widget_keys.key("earlier", thread_id),
            on_click=_show_more,
            args=(thread_id, shown + LAST),
            type="tertiary",
        )
    messages = console.queries.history(thread_id, limit=shown)
    proposing = [message.id for message in messages if message.tool_calls]
    actions = {
        (a.key.message_id, a.key.tool_call_id): a for a in console.queries.actions(thread_id, proposing)
    }
    for message in messages:
        _message(message, actions, card_of)


def _show_more(thread_id: str, count: int) -> None:
    st.session_state[widget_keys.key("shown", thread_id)] = count


def _message(message: Message, actions: Actions, card_of: str | None) -> None:
    if message.type == "tool":
        return  # it is shown with its call
    with st.chat_message("user" if message.type == "human" else "assistant"):
        if message.content:
            line(masked(message.content))
        for call in message.tool_calls:
            _call(call, actions.get((message.id, call.id)), card_of)


def _call(call: ToolCall, action: Action | None, card_of: str | None) -> None:
    """Draw one call: proposed → decided by whom → ran with what → result."""
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            literal(call.name, width="content")
            if action is not None:
                _fate(action)
        if action is not None and card_of is not None and action.review_id == card_of:
            return  # the card shows what it would run
        if action is not None and _differs(call, action):
            st.error("What ran is not what the history shows. Look at the record of this action.")
        literal(show(masked(call.args)))
        if action is not None:
            _rest(call, action)


def _fate(action: Action) -> None:
    st.badge(ACTION_WORDS[action.state], color=ACTION_COLOR[action.state])
    if action.decided_by:
        line(f"{(action.decision or {}).get('type', 'decided')} by {action.decided_by}", width="content")
    elif action.rule_id:
        line(f"allowed by {action.rule_id}", width="content")
    elif action.tier in ("auto", "log", NOT_GATED):
        runs = "ran" if action.state in RAN else "runs"
        st.caption(f"{action.tier}: {runs} without asking", width="content")


def _differs(call: ToolCall, action: Action) -> bool:
    """Return whether what ran differs from the history. An agent that gates itself may keep its proposal there."""
    if action.state not in RAN or _is_what_ran(call, action):
        return False
    kept = (call.name, call.args) == (action.proposed_tool, action.proposed)
    return not (kept and app.gates_itself(action.agent))


def _is_what_ran(call: ToolCall, action: Action) -> bool:
    return (call.name, call.args) == (action.tool, action.args)


def _rest(call: ToolCall, action: Action) -> None:
    if action.state in RAN and not _is_what_ran(call, action):
        st.caption("What ran")
        literal(f"{action.tool}\n{show(masked(action.args))}")
    elif action.proposed != action.args and action.state in RAN:
        with st.expander("As the agent proposed it"):
            kept = masked(action.proposed)
            proposed = kept if isinstance(kept, str) else show(kept)
            literal(f"{action.proposed_tool}\n{proposed}")
    elif action.state is ActionState.REFUSED and isinstance(action.proposed, str):
        literal(masked(action.proposed))
    if action.result is not None:
        st.caption("Result the agent got")
        literal(masked(action.result))
    if action.tier == "ask" and (action.review_id is not None or action.rule_id is not None):
        _proof(action)


def _proof(action: Action) -> None:
    """Draw the record of this action, folded; it is read only when somebody opens it."""
    name = widget_keys.key("proof", action.key.message_id, action.key.tool_call_id)
    with st.expander("The record of this action", key=name, on_change="rerun") as opened:
        if not opened.open:
            return
        proof = app.console().trail.proof(action)
        for fault in proof.faults:
            st.error(fault)
        literal("\n".join(f"{clock(event.at)}  {told(event)}" for event in proof.events))
        if not proof.faults:
            st.caption("What ran is what was decided." if action.state in RAN else "Nothing of it ran.")
