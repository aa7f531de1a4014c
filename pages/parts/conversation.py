"""The conversation of a thread: what was said, and each tool call from proposal to result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from agent.review.actions import Action, State
from agent.review.args import show
from agent.review.threads import Message, ToolCall
from pages.parts import session
from pages.parts.literal import line, literal
from pages.parts.words import ACTION_COLOR, ACTION_WORDS

LAST = 50
"""Messages drawn at once; earlier ones are a click away."""


def conversation(thread_id: str) -> None:
    """The last messages, with a way to the earlier ones."""
    console = session.console()
    total = console.history_length(thread_id)
    shown = int(st.session_state.get(session.key("shown", thread_id), LAST))
    if total > shown:
        st.button(
            f"Show earlier messages ({total - shown:,} more)",
            key=session.key("earlier", thread_id),
            on_click=_show_more,
            args=(thread_id, shown + LAST),
            type="tertiary",
        )
    actions = {
        (action.key.message_id, action.key.tool_call_id): action for action in console.actions(thread_id)
    }
    for message in console.history(thread_id, limit=shown):
        _message(message, actions)


def _show_more(thread_id: str, count: int) -> None:
    st.session_state[session.key("shown", thread_id)] = count


def _message(message: Message, actions: Mapping[tuple[str, str], Action]) -> None:
    if message.type == "tool":
        return  # it is shown with its call
    person = message.type == "human"
    with st.chat_message("user" if person else "assistant"):
        if message.content:
            line(message.content)
        for call in message.tool_calls:
            _call(call, actions.get((message.id, call.id)))


def _call(call: ToolCall, action: Action | None) -> None:
    """One call: proposed → decided by whom → ran with what → result."""
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.code(call.name, language=None, width="content")
            if action is not None:
                st.badge(ACTION_WORDS[action.state], color=ACTION_COLOR[action.state])
                if action.decided_by:
                    st.text(f"by {action.decided_by}", width="content")
        literal(show(call.args))
        if action is None:
            return
        if action.state not in (State.PENDING, State.REFUSED) and action.proposed != action.args:
            with st.expander("As the agent proposed it"):
                literal(action.proposed if isinstance(action.proposed, str) else show(action.proposed))
        if action.result is not None:
            st.caption("Result the agent got")
            literal(action.result)


def claims(messages: Sequence[Message], action: Action) -> str:
    """What the agent said beside proposing this action."""
    return next((message.content for message in messages if message.id == action.key.message_id), "")
