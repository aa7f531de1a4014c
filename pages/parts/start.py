"""Starting a thread: an agent, a model, a request; and the threads there are."""

from __future__ import annotations

import streamlit as st

from agent.review.errors import ReviewError
from pages.parts import session
from pages.parts.words import STATUS_COLOR, STATUS_WORDS, ago

WAIT = 1.5  # seconds


def start() -> None:
    console = session.console()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.subheader("Ask an agent to do something")
        agent = st.segmented_control(
            "Agent", console.agents(), default=console.agents()[0], key="agent", required=True
        )
        st.selectbox("Model", console.models(), key="model")
        st.caption("It stops before anything that its policy asks about. Try one of these:")
        for place, request in enumerate(console.agent(str(agent)).suggestions):
            st.button(request, key=session.key("suggestion", place), on_click=_send, args=(request,))
    with right:
        _threads()
    st.chat_input("Write to the agent", key="message", on_submit=_send_typed)


def _threads() -> None:
    threads = session.console().threads(limit=20)
    st.subheader("Threads")
    if not threads:
        st.caption("There is none yet.")
    for thread in threads:
        with st.container(border=True, gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    "Open",
                    key=session.key("open", thread.thread_id),
                    on_click=session.go_to_thread,
                    args=(thread.thread_id,),
                )
                st.code(thread.thread_id, language=None, width="content")
                st.badge(STATUS_WORDS[thread.status], color=STATUS_COLOR[thread.status])
                st.caption(f"{ago(thread.updated_at)} ago", width="content")
            st.text(thread.opening)


def _send_typed() -> None:
    _send(st.session_state["message"])


def _send(text: str) -> None:
    try:
        run = session.console().send(
            text, by=session.reviewer(), agent=st.session_state["agent"], model=st.session_state["model"]
        )
    except ReviewError as error:
        session.flash_error("The message was not sent.", error)
        return
    session.go_to_thread(run.thread_id)
    session.console().wait(run, WAIT)
