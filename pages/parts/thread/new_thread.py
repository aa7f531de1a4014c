"""The form that starts a thread with an agent, a model and a request; and the list of threads."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.review.errors import ReviewError
from agent.review.text.secrets import masked
from pages.parts.card.card_clicks import WAIT_FOR_RUN
from pages.parts.common.clicks import named_first
from pages.parts.common.literal import in_row, line, whole
from pages.parts.common.words import STATUS_COLOR, STATUS_WORDS, ago, option
from pages.parts.state import address, app, flash, identity, widget_keys
from pages.parts.thread.input_form import input_form, typed_input
from pages.parts.thread.notes import mark, threads_by_verdict

SHOWN = 30
DEMO = "Tell Bob and Eve the meeting moved to 11, and archive the old invitation"


def start() -> None:
    """Draw the form for a new thread, next to the list of threads."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.subheader("Ask an agent to do something")
        _broken()
        if app.console().queries.agents():
            _form()
    with right:
        _threads()


def _form() -> None:
    console = app.console()
    agents = console.queries.agents()
    agent = st.segmented_control(
        "Agent", agents, default=agents[0], key="new-agent", format_func=option, required=True
    )
    if app.gates_itself(str(agent)):
        st.caption("This is an external agent: it has its own model and decides itself what it asks about.")
    else:
        st.selectbox("Model", console.queries.models(), key="new-model")
        st.caption("It stops before anything that its policy asks about. Try one of these:")
    for name in console.queries.agent(str(agent)).needs.missing_context:
        label = f"{option(name)} (this agent's context needs it)"
        st.text_input(label, key=widget_keys.key("context", agent, name))
    served = console.queries.agent(str(agent))
    input_form(served)
    for place, request in enumerate(console.queries.agent(str(agent)).suggestions):
        st.button(request, key=widget_keys.key("suggestion", place), on_click=_send, args=(request,))
    if served.needs.converses:
        st.chat_input("Write to the agent", key="message", on_submit=_send_typed)
    else:
        st.button("Send the input", key="send-input", type="primary", on_click=_send, args=("",))


def _broken() -> None:
    for name, failure in app.console().queries.broken_agents().items():
        st.warning("An agent could not be loaded. Fix it, then restart the console.")
        line(f"{name}: {failure}")
        with st.expander("Traceback"):
            whole(failure.traceback)


def demo() -> None:
    """Draw a button that starts a demo, if an agent is served; its request leads to a review."""
    if not app.console().queries.agents():
        return
    st.button("Start a demo", key="demo", type="primary", icon=":material/play_arrow:", on_click=_demo)


def again(text: str, agent: str, model: str) -> None:
    """Send the same request on a new thread."""
    _start(text, agent, model)


def _threads() -> None:
    st.subheader("Threads")
    threads, verdicts = threads_by_verdict(SHOWN)
    if not threads:
        st.caption("There are no threads to show.")
    for thread in threads:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                "Open",
                key=widget_keys.key("open", thread.thread_id),
                on_click=address.go_to_thread,
                args=(thread.thread_id,),
            )
            st.badge(STATUS_WORDS[thread.status], color=STATUS_COLOR[thread.status])
            if verdict := verdicts.get(thread.thread_id):
                mark(verdict)
            in_row(
                f"{masked(thread.opening)}\n{thread.agent} · {thread.thread_id} · {ago(thread.updated_at)} ago"
            )


@named_first
def _demo() -> None:
    console = app.console()
    try:
        run = console.send(DEMO, by=identity.reviewer(), agent=console.queries.agents()[0])
    except ReviewError as error:
        flash.flash_error("The demo was not started.", error)
        return
    console.wait(run, WAIT_FOR_RUN)
    address.put_in_address(address.REVIEW, None)


def _send_typed() -> None:
    _send(st.session_state["message"])


def _send(text: str) -> None:
    agent = st.session_state["new-agent"]
    _start(text, agent, st.session_state.get("new-model"), _context(agent))


def _context(agent: str) -> dict[str, Any]:
    """Return the context as it was typed: as text where the schema says so, else as JSON where it is that."""
    needs, found = app.console().queries.agent(agent).needs, {}
    for name in needs.missing_context:
        if typed := st.session_state.get(widget_keys.key("context", agent, name)):
            found[name] = needs.context_value(name, typed)
    return found


@named_first
def _start(text: str, agent: str, model: str | None, context: dict[str, Any] | None = None) -> None:
    try:
        run = app.console().send(
            text,
            by=identity.reviewer(),
            agent=agent,
            model=model,
            context=context or None,
            given=typed_input(app.console().queries.agent(agent)),
        )
    except ReviewError as error:
        flash.flash_error("The message was not sent.", error)
        return
    address.go_to_thread(run.thread_id)
    app.console().wait(run, WAIT_FOR_RUN)
