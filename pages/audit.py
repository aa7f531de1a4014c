"""The record: every event, newest first, with what was before and after, and the state of the chain."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.review.args import show
from agent.review.differences import diff
from agent.review.events import Event, Kind, Verification, kept_anchor
from agent.review.exports import as_csv, as_json_lines
from agent.review.secrets import masked
from pages.parts import session
from pages.parts.literal import beside, line, literal
from pages.parts.trail import sentence
from pages.parts.words import clock, short

PAGE = 50
CURSOR = "before"
EVENT = "event"
KEPT = "kept-anchor"
LONGEST = 18  # digits; what has more is beyond the ledger's integers


def main() -> None:
    _chain()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        events = _events()
    with right:
        _selected(events)


def _chain() -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        found: Verification | None = st.session_state.get("verified")
        if found is None:
            st.badge("chain not checked on this screen yet", color="gray", icon=":material/link:")
        elif found.ok:
            st.badge(
                f"{found.count:,} events, chain intact, checked {st.session_state['verified-at']}",
                color="green",
                icon=":material/verified:",
            )
        else:
            st.badge("the chain is broken", color="red", icon=":material/link_off:")
            line(found.first_fault or "")
        st.button("Check the chain", key="verify", on_click=_verify)
        _kept_elsewhere()
        _downloads()


def _kept_elsewhere() -> None:
    """Where the chain ends, to be printed, and the place for such a line when it comes back."""
    with st.popover("Keep elsewhere", icon=":material/print:"):
        st.caption(
            "Whoever can rewrite the record and its anchors is found only by a line kept out of reach. "
            "Print this one, or send it to somebody."
        )
        head = session.console().head()
        literal(str(head) if head else "Nothing has been recorded yet.")
        st.text_input("A line that was kept, to check the chain against", key=KEPT)
        st.button("Check against it", key="verify-kept", on_click=_verify)


def _verify() -> None:
    line_kept = (st.session_state.get(KEPT) or "").strip()
    try:
        kept = [kept_anchor(line_kept)] if line_kept else []
    except ValueError as error:
        session.flash("warning", str(error))
        return
    st.session_state["verified"] = session.console().verify(kept=kept)
    st.session_state["verified-at"] = clock(session.console().now())


def _downloads() -> None:
    console = session.console()
    st.download_button(
        "JSONL",
        data=lambda: "".join(
            as_json_lines(console.whole_trail(), values=bool(st.session_state.get("values")))
        ),
        file_name="audit.jsonl",
        mime="application/jsonl",
        key="export-jsonl",
        on_click="ignore",
        icon=":material/download:",
    )
    st.download_button(
        "CSV",
        data=lambda: "".join(as_csv(console.whole_trail())),
        file_name="audit.csv",
        mime="text/csv",
        key="export-csv",
        on_click="ignore",
        icon=":material/download:",
    )


def _filters() -> dict[str, Any]:
    console = session.console()
    tools = sorted({tool for name in console.agents() for tool in console.agent(name).policy.tools})
    with st.container(horizontal=True, gap="xsmall"):
        st.text_input("Thread", key="thread_id", bind="query-params", placeholder="any thread")
        st.text_input("By", key="by", bind="query-params", placeholder="anybody")
        st.selectbox(
            "Agent", ["", *console.agents()], key="agent", bind="query-params", format_func=_or("any agent")
        )
        st.selectbox("Tool", ["", *tools], key="tool", bind="query-params", format_func=_or("any tool"))
        st.selectbox(
            "Kind", ["", *map(str, Kind)], key="kind", bind="query-params", format_func=_or("any kind")
        )
    kept = {name: (st.session_state[name] or "").strip() for name in FILTERS}
    return {name: Kind(value) if name == "kind" else value for name, value in kept.items() if value}


FILTERS = ("thread_id", "by", "agent", "tool", "kind")
"""Each is a widget's key and a name in the address: never the name a page of its own has there."""


def _or(nothing: str) -> Any:
    return lambda one: one or nothing


def _events() -> list[Event]:
    narrowed = _filters()
    before = _number(CURSOR)
    found = session.console().trail(newest_first=True, before=before, limit=PAGE + 1, **narrowed)
    if not found:
        st.caption("No event matches." if narrowed else "Nothing has happened yet.")
    for event in found[:PAGE]:
        _row(event)
    with st.container(horizontal=True):
        if before is not None:
            st.button(
                "Newest", key="newest", type="tertiary", on_click=session.put_in_address, args=(CURSOR, None)
            )
        if len(found) > PAGE:
            at = str(found[PAGE - 1].seq)
            st.button(
                "Older", key="older", type="tertiary", on_click=session.put_in_address, args=(CURSOR, at)
            )
    return found[:PAGE]


def _number(name: str) -> int | None:
    """An event's number in the address, or None where no event can have what stands there."""
    found = session.in_address(name) or ""
    return int(found) if found.isdecimal() and len(found) <= LONGEST else None


def _row(event: Event) -> None:
    selected = session.in_address(EVENT) == str(event.seq)
    who = f"{event.by} · " if event.by else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Open",
            key=session.key("event", event.seq),
            type="primary" if selected else "secondary",
            on_click=session.put_in_address,
            args=(EVENT, str(event.seq)),
        )
        where = f"{event.agent or ''} · {short(event.thread_id or '')}"
        beside(f"{who}{sentence(event)}\n{event.seq} · {clock(event.at)} · {where}")


def _selected(events: list[Event]) -> None:
    named = _number(EVENT)
    if named is None:
        st.caption("Open an event to see all of it.")
        return
    found = [event for event in events if event.seq == named] or session.console().trail(
        after=named - 1, limit=1
    )
    if not found or found[0].seq != named:
        st.warning("There is no event of that number.")
        return
    _whole(found[0])


def _red_flags(event: Event) -> None:
    """Where the record of this event's action does not add up: what ran is not what was decided, say."""
    if event.thread_id and event.tool_call_id:
        for fault in session.console().contradictions(event.thread_id, event.tool_call_id):
            st.error(fault, icon=":material/flag:")


def _whole(event: Event) -> None:
    with st.container(border=True, key="event"):
        line(f"{event.by + ' · ' if event.by else ''}{sentence(event)}")
        st.caption(clock(event.at), help=event.at)
        _red_flags(event)
        data = event.data or {}
        shown = masked(data)
        if shown != data:
            st.caption("What looks like a secret is masked here. The value is kept.")
            data = data if st.toggle("Show the values", key="values") else shown
        if "before" in data and data.get("after") is not None:
            st.caption("Before and after")
            changes = diff(data["before"], data["after"])
            literal(
                "\n".join(f"{one.path}\n  {show(one.before)}\n→ {show(one.after)}" for one in changes)
                or "no change"
            )
        literal(show(data))
        names = ("seq", "kind", "thread_id", "agent", "review_id", "tool_call_id", "tool", "digest")
        literal(
            "\n".join(f"{name}  {getattr(event, name)}" for name in names if getattr(event, name) is not None)
        )
        st.caption("The chain: this event's hash covers everything before it")
        literal(f"commitment  {event.commitment}\nhash        {event.hash}")
        if event.thread_id and st.button("Open the thread", key="event-thread"):
            st.switch_page("chat.py", query_params={session.THREAD: event.thread_id})


main()
