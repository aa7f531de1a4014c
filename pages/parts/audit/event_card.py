"""One event of the record in full: in words first, then as it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from agent.review.actions import Action
from agent.review.arguments.args import show
from agent.review.arguments.differences import diff
from agent.review.events import Event, EventKind
from agent.review.text.secrets import masked
from pages.parts.common.arguments import arguments
from pages.parts.common.event_words import arguments_of, on_whose_word, told
from pages.parts.common.literal import line, literal
from pages.parts.common.sheet import sheet
from pages.parts.common.words import clock
from pages.parts.state import address, app

TEXTS = {
    "text": "What was said",
    "reason": "Reason",
    "comment": "Comment, for the record only",
    "why": "Why",
    "summary": "In one sentence",
    "summary_after": "The edited call in one sentence",
    "result": "Result",
    "told": "What was sent to the agent",
    "error": "Error",
}
"""The titles of the texts in an event's data, by name, in the order they are shown."""
FIELDS = ("seq", "kind", "by", "thread_id", "agent", "review_id", "tool_call_id", "tool", "digest")


def event_card(event: Event) -> None:
    """Draw the event with its reason and arguments as text, then its data, its names and its place in the chain."""
    with st.container(border=True, key="event"):
        line(told(event))
        st.caption(clock(event.at), help=event.at)
        if word := on_whose_word(event, action_of(event)):
            line(word)
        _red_flags(event)
        if event.kind is EventKind.UNREADABLE:
            st.error(
                "This event was changed past the console. “Check the chain” shows where the record breaks."
            )
        elif event.data is None:
            st.caption("Its data has been erased; the chain still covers it.")
        else:
            _data(event.data)
        literal("\n".join(f"{name}  {kept}" for name in FIELDS if (kept := getattr(event, name)) is not None))
        st.caption("The chain: this event's hash covers everything before it")
        literal(f"commitment  {event.commitment}\nhash        {event.hash}")
        if event.thread_id and st.button("Open the thread", key="event-thread"):
            st.switch_page("chat.py", query_params={address.THREAD_PARAMETER: event.thread_id})


def action_of(event: Event) -> Action | None:
    """Return the event's action as the ledger holds it now; None for a later action that reused its call id."""
    if event.thread_id is None or event.tool_call_id is None:
        return None
    found = app.console().queries.action(event.thread_id, event.tool_call_id)
    return found if found and found.call_digest == event.digest else None


def _red_flags(event: Event) -> None:
    """Show where the record of the event's action contradicts itself, such as when another call ran than was decided."""
    if event.thread_id and event.tool_call_id:
        for fault in app.console().trail.contradictions(event.thread_id, event.tool_call_id):
            st.error(fault, icon=":material/flag:")


def _data(kept: dict[str, Any]) -> None:
    data = masked(kept)
    if data != kept:
        st.caption("What looks like a secret is masked here. The value is kept.")
        data = kept if st.toggle("Show the values", key="values") else data
    for name, title in TEXTS.items():
        if isinstance(text := data.get(name), str) and text:
            st.caption(title)
            literal(text)
    _edited(data)
    if args := arguments_of(data):
        st.caption("Arguments")
        sheet(arguments(args), key="event-args")
    with st.expander("As stored, in JSON", icon=":material/data_object:"):
        literal(show(data))


def _edited(data: Mapping[str, Any]) -> None:
    """Show what an edit changed, by path."""
    if data.get("after") is None:
        return
    if changes := diff(data.get("before"), data["after"]):
        st.caption("What the edit changed")
        literal("\n".join(f"{one.path}\n  {show(one.before)}\n→ {show(one.after)}" for one in changes))
