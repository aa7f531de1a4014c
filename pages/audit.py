"""The record: every event, newest first, each with all its details, and the state of the chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from agent.review.events import Event, EventKind
from agent.review.text.secrets import masked
from pages.parts.audit.event_card import action_of, event_card
from pages.parts.audit.verify_chain import chain
from pages.parts.common.event_words import WORDS, on_whose_word, target, told
from pages.parts.common.rows import Row, rows
from pages.parts.common.words import clock, short
from pages.parts.state import address, app

PAGE = 50
CURSOR = "before"
EVENT = "event"
KIND = "kind"
CHOSEN_KIND = "chosen-kind"
FILTERS = ("thread_id", "by", "agent", "tool")
"""Each is a widget's key and a query parameter, so none may be a parameter that another page uses."""
MAX_SEQ_DIGITS = 18  # digits; a longer number does not fit the ledger's integers
LONGEST_ROW = 240  # characters; opening the event shows the rest


def main() -> None:
    st.subheader("The record")
    st.caption(
        "Everything that agents proposed, people decided and the console ran, each line tied by a hash to the one "
        "before it under the record's key. “Check the chain” finds any line that was changed, removed or slipped in "
        "since. Changes by somebody who has that key and the anchors are found only with a line kept elsewhere."
    )
    chain()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        events = _events()
    with right:
        _selected(events)


def _filters() -> dict[str, Any]:
    console = app.console()
    tools = sorted(
        {tool for name in console.queries.agents() for tool in console.queries.agent(name).policy.tools}
    )
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="bottom"):
        st.text_input("Thread", key="thread_id", bind="query-params", placeholder="any thread")
        st.text_input("Person", key="by", bind="query-params", placeholder="anybody")
        st.selectbox(
            "Agent",
            ["", *console.queries.agents()],
            key="agent",
            bind="query-params",
            format_func=_or("any agent"),
        )
        st.selectbox("Tool", ["", *tools], key="tool", bind="query-params", format_func=_or("any tool"))
        kind = _kind()
    kept = {name: (st.session_state[name] or "").strip() for name in FILTERS}
    return {name: value for name, value in kept.items() if value} | ({KIND: kind} if kind else {})


def _kind() -> EventKind | None:
    """Draw the choice of event kind and return the chosen one: its name is in the address, its words on screen."""
    named = address.in_address(KIND) or ""
    kind = EventKind(named) if named in set(EventKind) else None
    st.session_state[CHOSEN_KIND] = kind or ""
    st.selectbox(
        "What happened",
        ["", *EventKind],
        key=CHOSEN_KIND,
        format_func=lambda one: WORDS[EventKind(one)] if one else "anything",
        on_change=lambda: _look_for(st.session_state[CHOSEN_KIND] or None),
    )
    if kind is EventKind.DECISION_MADE:
        st.button("Everything", key="everything", on_click=_look_for, args=(None,))
    else:
        st.button("Decisions only", key="decisions", on_click=_look_for, args=(EventKind.DECISION_MADE,))
    return kind


def _look_for(kind: EventKind | None) -> None:
    address.put_in_address(KIND, kind)
    address.put_in_address(CURSOR, None)


def _or(nothing: str) -> Callable[[str], str]:
    return lambda one: one or nothing


def _events() -> list[Event]:
    narrowed = _filters()
    before = _number(CURSOR)
    found = app.console().trail.events(newest_first=True, before=before, limit=PAGE + 1, **narrowed)
    if found:
        made = [_row(event) for event in found[:PAGE]]
        rows("Events", made, key="events", on_pick=_open, current=address.in_address(EVENT))
    else:
        st.caption("No event matches." if narrowed else "Nothing has happened yet.")
    with st.container(horizontal=True):
        if before is not None:
            st.button(
                "Newest", key="newest", type="tertiary", on_click=address.put_in_address, args=(CURSOR, None)
            )
        if len(found) > PAGE:
            at = str(found[PAGE - 1].seq)
            st.button(
                "Older", key="older", type="tertiary", on_click=address.put_in_address, args=(CURSOR, at)
            )
    return found[:PAGE]


def _number(name: str) -> int | None:
    """Return the event number that this query parameter holds, or None if no event can have it."""
    found = address.in_address(name) or ""
    return int(found) if found.isdecimal() and len(found) <= MAX_SEQ_DIGITS else None


def _row(event: Event) -> Row:
    action = action_of(event)
    what = str(masked(f"{told(event)}  {target(event, action)}".strip()))
    about = (str(event.seq), clock(event.at), event.agent, short(event.thread_id or ""))
    return Row(
        str(event.seq),
        what if len(what) <= LONGEST_ROW else what[: LONGEST_ROW - 1] + "…",
        " · ".join(filter(None, (*about, on_whose_word(event, action)))),
    )


def _open(seq: str) -> None:
    address.put_in_address(EVENT, seq)


def _selected(events: list[Event]) -> None:
    named = _number(EVENT)
    if named is None:
        st.caption("Open an event to see all of it.")
        return
    found = [event for event in events if event.seq == named] or app.console().trail.events(
        after=named - 1, limit=1
    )
    if not found or found[0].seq != named:
        st.warning("There is no event with that number. Choose one from the list.")
        return
    event_card(found[0])


main()
