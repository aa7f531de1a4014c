"""The inbox's list: what needs a decision first, then what is unknown, ran unasked, runs, is done."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import streamlit as st

from agent.ports import Sought
from agent.review.actions import Action, Review
from agent.review.args import show
from agent.review.events import instant
from agent.review.secrets import masked
from pages.parts import session
from pages.parts.literal import line
from pages.parts.words import ACTION_WORDS, ago, short, time_left

PAGE = 50
AGES = {"any age": 0, "over 10 minutes": 10, "over 1 hour": 60, "over 1 day": 1_440}
CURSOR = "after"
LONGEST = 40  # characters of a telling argument; what cannot be broken is then no wider than a row


def inbox_list() -> list[Review]:
    """Draw the list; gives the waiting reviews on this page of it, oldest first."""
    sought = _filters()
    found = session.console().queue(limit=PAGE + 1, after=_cursor(), sought=sought)
    waiting = found[:PAGE]
    st.markdown(f"**Needs a decision** · {session.console().queue_length()}")
    if not waiting:
        st.caption("Nothing here matches." if sought != Sought() else "Nothing waits.")
    for review in waiting:
        _review_row(review, selected=review.review_id == _selected(waiting))
    _pages(waiting, more=len(found) > PAGE)
    _others()
    return waiting


def next_after(review: Review) -> None:
    """Select the review that waits behind this one, or the oldest."""
    move(review, 1)


def move(review: Review, by: int = 1) -> None:
    """Select the review `by` places further in the queue, around its end."""
    waiting = session.console().queue(limit=PAGE, after=_cursor(), sought=_sought())
    ids = [one.review_id for one in waiting if one.review_id != review.review_id]
    place = sum(1 for one in waiting if _age(one) < _age(review))
    step = place if by > 0 else place - 1
    session.put_in_address(session.ACTION, None)
    session.put_in_address(session.REVIEW, ids[step % len(ids)] if ids else None)


def _age(review: Review) -> tuple[str, str]:
    """The queue's order: a review that has left it still has its place there."""
    return review.opened_at, review.review_id


def _selected(waiting: list[Review]) -> str | None:
    named = session.in_address(session.REVIEW)
    if named is None and session.in_address(session.ACTION) is None and waiting:
        return waiting[0].review_id
    return named


def _filters() -> Sought:
    agents = ["", *session.console().agents()]
    tools = [
        "",
        *sorted({tool for name in agents[1:] for tool in session.console().agent(name).policy.tools}),
    ]
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


def _review_row(review: Review, *, selected: bool) -> None:
    first = review.actions[0]
    more = f"  +{len(review.actions) - 1}" if len(review.actions) > 1 else ""
    left = short_time_left(review)
    text = (
        f"{first.tool}{more}  {telling(first.args)}\n"
        f"{review.agent} · {short(review.thread_id)} · {ago(review.opened_at)}{left}"
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Open",
            key=session.key("open", review.review_id),
            type="primary" if selected else "secondary",
            on_click=_open_review,
            args=(review.review_id,),
        )
        line(text)


def short_time_left(review: Review) -> str:
    """The time left to decide, where it is under an hour."""
    if review.expires_at is None:
        return ""
    within_the_hour = datetime.fromisoformat(review.expires_at) - datetime.now(UTC) < timedelta(hours=1)
    return f" · {time_left(review.expires_at)} left" if within_the_hour else ""


def telling(args: Mapping[str, object] | None) -> str:
    """The first argument, shortened, without secrets: enough to tell rows apart, never enough to decide on."""
    for value in masked(args or {}).values():
        text = " ".join(show(value).split())
        return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return ""


def _open_review(review_id: str) -> None:
    session.put_in_address(session.ACTION, None)
    session.put_in_address(session.REVIEW, review_id)


def _open_action(action: Action) -> None:
    session.put_in_address(session.REVIEW, None)
    session.put_in_address(session.ACTION, f"{action.key.thread_id}/{action.key.tool_call_id}")


def _cursor() -> tuple[str, str] | None:
    opened_at, _, review_id = (session.in_address(CURSOR) or "").partition("~")
    return (opened_at, review_id) if review_id else None


def _pages(waiting: list[Review], *, more: bool) -> None:
    with st.container(horizontal=True):
        if _cursor() is not None:
            st.button("First page", key="first-page", type="tertiary", on_click=_to_page, args=(None,))
        if more:
            last = waiting[-1]
            cursor = f"{last.opened_at}~{last.review_id}"
            st.button("Next page", key="next-page", type="tertiary", on_click=_to_page, args=(cursor,))


def _to_page(cursor: str | None) -> None:
    session.put_in_address(CURSOR, cursor)
    session.put_in_address(session.REVIEW, None)


def _others() -> None:
    console = session.console()
    unknown, unasked, running = console.unknown(), console.ran_without_asking(), console.running()
    done = console.done_today()
    if unknown:
        st.markdown(f"**Outcome unknown** · {len(unknown)}")
    for action in unknown:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                "Settle", key=session.key("settle", *_named(action)), on_click=_open_action, args=(action,)
            )
            line(f"{action.tool}  {telling(action.args)}\n{action.agent} · {short(action.key.thread_id)}")
    if unasked:
        with st.expander(f"Ran without asking · {len(unasked)}"):
            for action in unasked:
                _unasked_row(action)
    if running:
        with st.expander(f"Running · {len(running)}"):
            for thread in running:
                line(f"{thread.agent} · {short(thread.thread_id)} · {masked(thread.opening)}")
    if done:
        with st.expander(f"Done today · {len(done)}"):
            for action in done:
                line(
                    f"{action.tool}  {telling(action.args)}\n{ACTION_WORDS[action.state]}, by {action.decided_by}"
                )


def _unasked_row(action: Action) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Looked over", key=session.key("looked", *_named(action)), on_click=_look_over, args=(action,)
        )
        line(f"{action.tool}  {telling(action.args)}\n{action.agent} · {short(action.key.thread_id)}")


def _look_over(action: Action) -> None:
    session.console().look_over(action.key, by=session.reviewer())


def _named(action: Action) -> tuple[str, str, int]:
    return action.key.thread_id, action.key.tool_call_id, action.key.attempt
