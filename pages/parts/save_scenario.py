"""Saving a thread as a scenario: what happened is what is expected from now on, but for what must not happen."""

from __future__ import annotations

import streamlit as st

from agent import bootstrap
from agent.console import View
from agent.review.actions import State
from agent.review.errors import ReviewError
from agent.review.secrets import masked
from agent.review.threads import Status, text_fault
from agent.scenarios import shelf
from pages.parts import session
from pages.parts.literal import line

RAN = (State.DONE, State.FAILED)
LONGEST = 200
SAVED = "scenario-saved"
"""The file this session saved last, for the button that downloads it."""


def save_scenario(view: View) -> None:
    """The way to save this thread, where it is one that can be replayed."""
    thread = view.thread
    if session.gates_itself(thread.agent) or thread.status not in (Status.IDLE, Status.WAITING):
        return
    with st.popover("Save as a scenario", type="tertiary", key="scenario"):
        st.caption(
            "The model's replies, the decisions and what came of them, to be replayed whenever you like, "
            "on a world of its own. Secrets are masked."
        )
        st.text_input(
            "What it shows",
            masked(thread.opening)[:LONGEST],
            key=session.key("scenario-name", thread.thread_id),
            max_chars=LONGEST,
        )
        st.multiselect(
            "Ran, and must not run",
            sorted({one.tool for one in session.console().actions(thread.thread_id) if one.state in RAN}),
            key=session.key("scenario-never", thread.thread_id),
            placeholder="Nothing: all went well",
            help="The scenario is red until the agent, or its policy, no longer lets these run.",
        )
        st.button("Save it", key="scenario-save", type="primary", on_click=_save, args=(thread.thread_id,))


def saved_just_now() -> None:
    """What was saved by the last click, with the ways on."""
    path = st.session_state.pop(SAVED, None)
    if path is None:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="saved"):
        line(f"Saved as {path.name}", width="content")
        st.download_button(
            "Download it",
            path.read_bytes(),
            file_name=path.name,
            mime="application/yaml",
            key="scenario-download",
            on_click="ignore",
        )
        st.page_link("qa.py", label="Run it on the QA page", icon=":material/science:")


def _save(thread_id: str) -> None:
    name = str(st.session_state[session.key("scenario-name", thread_id)] or "").strip()
    never = tuple(st.session_state[session.key("scenario-never", thread_id)])
    if not name or text_fault(name):
        session.flash("error", "It was not saved. Write in a few words what it shows.")
        return
    try:
        st.session_state[SAVED] = shelf.save_thread(bootstrap.opened(), thread_id, name=name, never=never)
    except ReviewError as error:
        session.flash_error("It was not saved.", error)
        return
    session.flash("toast", "The thread was saved as a scenario.")
