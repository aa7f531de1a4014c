"""The inbox's list: what needs a decision, then unknown outcomes, what ran without asking, runs, and what is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import streamlit as st

from agent.ports import Sought
from agent.review.actions import Action, AskedAction, Review, Waiting
from agent.review.damage import review_is_damaged
from agent.review.events import instant
from agent.review.text.secrets import masked
from agent.review.threads import Thread
from pages.parts.common.clicks import named_first
from pages.parts.common.literal import line
from pages.parts.common.rows import Row, rows
from pages.parts.common.words import ACTION_WORDS, ago, short, telling, time_left
from pages.parts.state import address, app, identity, widget_keys

T = TypeVar("T")

PAGE = 50
AGES = {"any age": 0, "over 10 minutes": 10, "over 1 hour": 60, "over 1 day": 1_440}
CURSOR = "after"
CHANGED = "(its record was changed)"


@dataclass(frozen=True)
class InboxPage:
    """The waiting reviews on this page of the list, oldest first, and whether there is a next page."""

    waiting: list[Waiting]
    more: bool
    narrowed: bool
    """Whether a filter is set."""


def draw_filters() -> InboxPage:
    """Draw the filters, and return the reviews they let through."""
    sought = _filters()
    found = app.console().queries.queue(limit=PAGE + 1, after=_cursor(), sought=sought)
    return InboxPage(found[:PAGE], more=len(found) > PAGE, narrowed=sought != Sought())


def inbox_list(found: InboxPage) -> None:
    """Draw the list."""
    waiting = found.waiting
    st.markdown(f"**Needs a decision** · {app.console().queries.queue_length()}")
    if waiting:
        made = [_row_of(one) for one in waiting]
        rows("Needs a decision", made, key="waiting", on_pick=_open_review, current=_selected(waiting))
    else:
        st.caption("Nothing here matches." if found.narrowed else "Nothing waits.")
    _pages(waiting, more=found.more)
    _other_groups()


def next_after(review: Review) -> bool:
    """Select the review after this one in the queue, or else the oldest; return false if no other waits."""
    move(review)
    return address.in_address(address.REVIEW) is not None


def move(review: Review, forward: bool = True) -> None:
    """Select the next review of the queue, or the one before; past an end, continue at the other."""
    waiting = app.console().queries.queue(limit=PAGE, after=_cursor(), sought=_sought())
    ids = [one.review_id for one in waiting if one.review_id != review.review_id]
    place = sum(1 for one in waiting if _age(one) < _age(review))
    step = place if forward else place - 1
    address.put_in_address(address.ACTION, None)
    address.put_in_address(address.REVIEW, ids[step % len(ids)] if ids else None)


def _age(review: Review | Waiting) -> tuple[str, str]:
    """Return the review's sort key in the queue; a review that has left the queue keeps its place."""
    return review.opened_at, review.review_id


def _selected(waiting: list[Waiting]) -> str | None:
    named = address.in_address(address.REVIEW)
    if named is None and address.in_address(address.ACTION) is None and waiting:
        return waiting[0].review_id
    return named


def _filters() -> Sought:
    agents, tools = ["", *app.console().queries.agents()], ["", *app.console().queries.tools()]
    st.text_input(
        "Search",
        key="q",
        bind="query-params",
        placeholder="thread, tool, text",
        icon=":material/search:",
        label_visibility="collapsed",
    )
    with st.container(horizontal=True, gap="xsmall"):
        st.selectbox(
            "Agent",
            agents,
            key="agent",
            bind="query-params",
            format_func=lambda one: one or "All agents",
            label_visibility="collapsed",
        )
        st.selectbox(
            "Tool",
            tools,
            key="tool",
            bind="query-params",
            format_func=lambda one: one or "All tools",
            label_visibility="collapsed",
        )
        st.selectbox("Age", list(AGES), key="age", bind="query-params", label_visibility="collapsed")
    return _sought()


def _sought() -> Sought:
    kept = st.session_state
    minutes = AGES.get(kept.get("age") or "", 0)
    return Sought(
        agent=kept.get("agent") or "",
        tool=kept.get("tool") or "",
        text=(kept.get("q") or "").strip(),
        opened_before=instant(datetime.now(UTC) - timedelta(minutes=minutes)) if minutes else "",
    )


def _row_of(review: Waiting) -> Row:
    return Row(
        review.review_id,
        CHANGED if review_is_damaged(review) else _title_of(review.actions),
        f"{review.agent} · {short(review.thread_id)} · {ago(review.opened_at)}{short_time_left(review)}",
    )


def _title_of(actions: Sequence[AskedAction]) -> str:
    first, *others = actions
    return row_title(f"{first.tool}  +{len(others)}" if others else first.tool, first.args)


def short_time_left(review: Waiting) -> str:
    """Return the time left to decide, as text, if it is under an hour; else ""."""
    if review.expires_at is None:
        return ""
    within_the_hour = datetime.fromisoformat(review.expires_at) - datetime.now(UTC) < timedelta(hours=1)
    return f" · {time_left(review.expires_at)} left" if within_the_hour else ""


def _open_review(review_id: str) -> None:
    address.put_in_address(address.ACTION, None)
    address.put_in_address(address.REVIEW, review_id)


def _open_action(named: str) -> None:
    address.put_in_address(address.REVIEW, None)
    address.put_in_address(address.ACTION, named)


def _cursor() -> tuple[str, str] | None:
    opened_at, _, review_id = (address.in_address(CURSOR) or "").partition("~")
    return (opened_at, review_id) if review_id else None


def _pages(waiting: list[Waiting], *, more: bool) -> None:
    with st.container(horizontal=True):
        if _cursor() is not None:
            st.button("First page", key="first-page", type="tertiary", on_click=_to_page, args=(None,))
        if more:
            last = waiting[-1]
            cursor = f"{last.opened_at}~{last.review_id}"
            st.button("Next page", key="next-page", type="tertiary", on_click=_to_page, args=(cursor,))


def _to_page(cursor: str | None) -> None:
    address.put_in_address(CURSOR, cursor)
    address.put_in_address(address.REVIEW, None)


def _other_groups() -> None:
    console = app.console()
    unknown = console.queries.unknown()
    if unknown:
        st.markdown(f"**Outcome unknown** · {len(unknown)}")
        made = [_unknown_row(one) for one in unknown]
        current = address.in_address(address.ACTION)
        rows("Outcome unknown", made, key="unknown", on_pick=_open_action, current=current)
    _fold("Ran without asking", console.queries.ran_without_asking(), _unasked)
    _fold("Running", console.queries.running(), _running)
    _fold("Done today", console.queries.done_today(), _done)


def _fold(title: str, found: Sequence[T], draw: Callable[[Sequence[T]], None]) -> None:
    """Draw a group of the list, folded; its rows are drawn once somebody opens it."""
    if not found:
        return
    fold = st.expander(f"{title} · {count(found)}", key=title, on_change="rerun")
    if fold.open:
        with fold:
            draw(found)


def row_title(tool: str, args: Mapping[str, object] | None) -> str:
    """Return an action's title in a list: its tool, and its first argument if it has one."""
    return f"{tool}  {telling(args)}".rstrip()


def count(found: Sequence[object]) -> str:
    """Return how many these are, as text, given that at most one page of them was fetched."""
    return str(len(found)) if len(found) < PAGE else f"{PAGE} or more"


def _unknown_row(action: Action) -> Row:
    named = f"{action.key.thread_id}/{action.key.tool_call_id}"
    return Row(named, *_lines(action))


def _lines(action: Action) -> tuple[str, str]:
    return row_title(action.tool, action.args), f"{action.agent} · {short(action.key.thread_id)}"


def _unasked(found: Sequence[Action]) -> None:
    for action in found:
        _unasked_row(action)


def _unasked_row(action: Action) -> None:
    named = action.key.thread_id, action.key.tool_call_id, action.key.attempt
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Mark as looked over", key=widget_keys.key("looked", *named), on_click=_look_over, args=(action,)
        )
        line("\n".join(_lines(action)))


@named_first
def _look_over(action: Action) -> None:
    app.console().given.look_over(action.key, by=identity.reviewer())


def _running(found: Sequence[Thread]) -> None:
    made = [
        Row(
            one.thread_id,
            masked(one.opening),
            f"{one.agent} · {short(one.thread_id)} · {ago(one.updated_at)}",
        )
        for one in found
    ]
    _open_thread(rows("Running", made, key="running"))


def _done(found: Sequence[Action]) -> None:
    threads = {"/".join(map(str, astuple(one.key))): one for one in found}
    made = [Row(name, _lines(one)[0], _end_of(one)) for name, one in threads.items()]
    picked = rows("Done today", made, key="done")
    _open_thread(threads[picked].key.thread_id if picked in threads else None)


def _end_of(action: Action) -> str:
    return f"{ACTION_WORDS[action.state]}, by {action.decided_by} · {short(action.key.thread_id)}"


def _open_thread(thread_id: str | None) -> None:
    if thread_id is not None:
        st.switch_page("chat.py", query_params={address.THREAD_PARAMETER: thread_id})
