"""Reviews that wait, over all threads, oldest first."""

from __future__ import annotations

import streamlit as st

from agent.review.actions import Review
from agent.review.args import show
from pages.parts import session
from pages.parts.words import ago

FIRST = 50


def main() -> None:
    waiting = session.console().queue(limit=FIRST)
    st.subheader(f"Needs a decision · {session.console().queue_length()}")
    if not waiting:
        st.caption("Nothing waits for a decision.")
        st.page_link("chat.py", label="Ask an agent to do something", icon=":material/forum:")
    for review in waiting:
        _row(review)


def _row(review: Review) -> None:
    first = review.actions[0]
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button("Open", key=session.key("open", review.review_id)):
                st.switch_page("chat.py", query_params={session.THREAD: review.thread_id})
            st.code(first.tool, language=None, width="content")
            if len(review.actions) > 1:
                st.badge(f"{len(review.actions)} actions", color="gray")
            st.text(f"{review.agent} · {review.thread_id} · waiting {ago(review.opened_at)}", width="content")
        st.text(_telling(first.args))


def _telling(args: dict[str, object] | None) -> str:
    """The first argument, shortened: enough to tell rows apart, never enough to decide on."""
    for value in (args or {}).values():
        text = " ".join(show(value).split())
        return text if len(text) <= 100 else text[:99] + "…"
    return ""


main()
