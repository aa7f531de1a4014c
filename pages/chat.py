"""One thread: its conversation, the review it stopped at, and the demo world."""

from __future__ import annotations

import streamlit as st

from agent.console import View
from agent.review.agents import Agent
from agent.review.errors import ReviewError, UnknownThread
from agent.review.threads import Status
from pages.parts.card.card import card
from pages.parts.card.card_clicks import WAIT_FOR_RUN
from pages.parts.common.clicks import named_first
from pages.parts.common.literal import line, literal, whole
from pages.parts.common.words import STATUS_COLOR, STATUS_WORDS, option
from pages.parts.frame.auto_refresh import watch
from pages.parts.state import address, app, flash, identity, widget_keys
from pages.parts.thread.ask_again import closed
from pages.parts.thread.conversation import conversation
from pages.parts.thread.export import export_thread
from pages.parts.thread.input_form import input_form, output, typed_input
from pages.parts.thread.new_thread import again, start
from pages.parts.thread.notes import noted, notes
from pages.parts.thread.progress import progress
from pages.parts.thread.save_scenario import save_scenario
from pages.parts.thread.stuck import stuck
from pages.parts.thread.under_the_hood import under_the_hood
from pages.parts.thread.world import world_panel

CLOSED = {
    Status.RUNNING: "The agent is at work. You can write when it pauses.",
    Status.UNKNOWN_OUTCOME: "An action's outcome is unknown. It has to be settled before you can write.",
    Status.ARCHIVED: "The thread is archived and can only be read. Start a new one to go on.",
    Status.STUCK: "The thread is stuck on an answer its agent cannot take. Ask again, or close it, first.",
}
OWN_GATING = (
    "This is an external agent that gates itself: it alone decides what it asks about. "
    "What it does not ask about is recorded as not gated."
)
VIEWS = ("Conversation", "Under the hood")


def main() -> None:
    thread_id = address.in_address(address.THREAD_PARAMETER)
    if thread_id is None:
        start()
        return
    drawn = app.console().queries.pulse(thread_id)
    try:
        view = app.console().queries.view(thread_id)
    except UnknownThread as error:
        st.warning("There is no such thread.")
        line(str(error))
        st.button("Start a new thread", key="new", on_click=address.go_to_thread, args=(None,))
        return
    _header(view)
    if not _is_served(view):
        return
    if st.session_state.get("view") == VIEWS[1]:
        under_the_hood(view)
    else:
        _next_to_its_world(view)
        _message_box(view)
    watch(drawn, thread_id)


def _header(view: View) -> None:
    thread = view.thread
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.segmented_control(
            "View",
            VIEWS,
            default=VIEWS[0],
            key="view",
            format_func=option,
            label_visibility="collapsed",
            required=True,
        )
        line(f"{thread.agent} · {thread.model}", width="content")
        literal(thread.thread_id, width="content")
        st.badge(STATUS_WORDS[thread.status], color=STATUS_COLOR[thread.status])
        st.button(
            "Same request, new thread",
            key="again",
            type="tertiary",
            on_click=_again,
            args=(view,),
        )
        st.button("Other threads", key="new", type="tertiary", on_click=address.go_to_thread, args=(None,))
        notes(view)
        export_thread(view.thread.thread_id)
        save_scenario(view)
    noted(view.thread.thread_id)


def _next_to_its_world(view: View) -> None:
    """Draw the thread, with the demo world next to it if the agent acts on it."""
    if not app.is_isolated(view.thread.agent):
        _thread(view)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _thread(view)
    with right:
        world_panel(view.thread.thread_id, view.thread.agent)


def _is_served(view: View) -> bool:
    """Return whether the thread's agent is served; if not, draw the conversation to be read and nothing else."""
    try:
        app.console().queries.agent(view.thread.agent)
    except ReviewError as error:
        st.warning("This thread can be read, but not continued: its agent is not available.")
        line(str(error))
        conversation(view.thread.thread_id)
        return False
    return True


def _again(view: View) -> None:
    again(app.console().queries.opening(view.thread.thread_id), view.thread.agent, view.thread.model)


def _thread(view: View) -> None:
    thread = view.thread
    if app.gates_itself(thread.agent):
        st.caption(OWN_GATING)
    card_of = None if thread.status is Status.STUCK else next(iter(view.reviews), None)
    conversation(thread.thread_id, card_of.review_id if card_of else None)
    if thread.status is Status.RUNNING:
        progress(thread.thread_id)
    if len(view.reviews) > 1:
        st.caption(f"{len(view.reviews)} reviews wait on this thread; the oldest is shown.")
    if thread.status is Status.STUCK:
        stuck(thread.thread_id)
    elif card_of is not None:
        card(card_of)
    closed(thread.thread_id)
    if (agent := app.served(thread.agent)) is not None:
        output(agent, thread.thread_id)
    _trouble(view)


def _trouble(view: View) -> None:
    thread = view.thread
    if thread.status in (Status.FAILED, Status.STOPPED):
        failed = thread.status is Status.FAILED
        st.warning("This turn failed. Nothing is lost." if failed else "This turn was stopped.")
        if thread.error:
            line(thread.error)
        if failed and (traceback := app.console().trail.last_traceback(thread.thread_id)):
            with st.expander("Traceback"):
                whole(traceback)
        st.button("Try again" if failed else "Go on", key="retry", on_click=_retry, args=(thread.thread_id,))
    if thread.status is Status.UNKNOWN_OUTCOME:
        st.error(
            "The outcome of an action is unknown: its process was cut off while it ran. "
            "It may have taken effect. It will not be run again by itself."
        )
        for action in view.unknown:
            if st.button("Settle it", key=widget_keys.key("settle", action.key.tool_call_id)):
                named = f"{action.key.thread_id}/{action.key.tool_call_id}"
                st.switch_page("inbox.py", query_params={address.ACTION: named})


def _message_box(view: View) -> None:
    if view.reviews and view.thread.status is not Status.STUCK:
        return  # the decision bar takes its place until the agent has answered
    closed = CLOSED.get(view.thread.status)
    agent = app.served(view.thread.agent)
    if agent is not None and closed is None:
        input_form(agent)
        if not agent.needs.converses:
            st.button("Send the input", key="send-input", type="primary", on_click=_send, args=("", agent))
            return
    st.chat_input(
        closed or "Write to the agent",
        key="message",
        disabled=closed is not None,
        on_submit=_send,
        args=(None, agent),
    )


@named_first
def _send(text: str | None, agent: Agent | None) -> None:
    try:
        run = app.console().send(
            st.session_state["message"] if text is None else text,
            given=None if agent is None else typed_input(agent),
            by=identity.reviewer(),
            thread_id=address.in_address(address.THREAD_PARAMETER),
        )
    except ReviewError as error:
        flash.flash_error("The message was not sent.", error)
        return
    app.console().wait(run, WAIT_FOR_RUN)


@named_first
def _retry(thread_id: str) -> None:
    try:
        run = app.console().retry(thread_id, by=identity.reviewer())
    except ReviewError as error:
        flash.flash_error("It was not tried again.", error)
        return
    app.console().wait(run, WAIT_FOR_RUN)


main()
