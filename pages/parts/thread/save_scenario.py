"""The form that saves a thread as a scenario: it expects what happened, except what must not happen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from agent import bootstrap
from agent.console import View
from agent.review.actions import Action, ActionState
from agent.review.arguments.args import dumps
from agent.review.arguments.argument_faults import cut
from agent.review.errors import ReviewError
from agent.review.text.secrets import masked
from agent.review.threads import Status, Thread, text_fault
from agent.scenarios import shelf
from agent.scenarios.forbidden import exactly
from agent.scenarios.format import Never
from pages.parts.common.literal import line
from pages.parts.common.words import telling
from pages.parts.qa.scenario_list import SCENARIO, run_scenarios
from pages.parts.state import app, saved_scenario, widget_keys

RAN = (ActionState.DONE, ActionState.FAILED)
MAX_TITLE = 200
MANY = 8
"""Calls and tools that are offered before the list scrolls."""
HEIGHT = 280  # pixels, of a list that scrolls
MOST = 50
"""The last calls, which are offered one by one; of earlier ones, only their tools are."""


@dataclass(frozen=True)
class Offer:
    """Something to forbid: the name of its checkbox, its text, and what it means in a scenario."""

    name: str
    text: str
    meant: Never


def save_scenario(view: View) -> None:
    """Draw the form that saves this thread, if it can be replayed; after saving, the file and what to do with it."""
    thread = view.thread
    if not app.is_isolated(thread.agent) or thread.status not in (Status.IDLE, Status.WAITING):
        return
    popover = st.popover("Save as a scenario", type="tertiary", key="scenario", on_change="rerun")
    if not popover.open:
        return
    with popover:
        came = saved_scenario.saving(thread.thread_id)
        if isinstance(came, Path) and came.exists():
            _saved(came, thread.thread_id)
            return
        st.caption(
            "Saves the model's replies, the decisions and their results, to be replayed at any time "
            "on a world of its own. Secrets are masked."
        )
        offers = _offers(thread.thread_id)
        _boxes(thread.thread_id, offers)
        _field(thread, offers)
        st.button("Save it", key="scenario-save", type="primary", on_click=_save, args=(thread, offers))
        if isinstance(came, str):
            st.error("It was not saved.")
            line(came)


def _offers(thread_id: str) -> list[Offer]:
    """Return each call that ran, named by its first argument, and then each of their tools with any arguments."""
    ran = [one for one in app.console().queries.actions(thread_id) if one.state in RAN]
    different = {dumps([one.tool, one.args]): one for one in reversed(ran) if one.args}
    calls = list(reversed(different.values()))[-MOST:]
    alike = Counter((one.tool, telling(one.args)) for one in calls)
    offered = [
        Offer(
            widget_keys.key(one.key.message_id, one.key.tool_call_id, one.key.attempt),
            _called(one, whole=alike[one.tool, telling(one.args)] > 1),
            exactly(one.tool, one.args or {}),
        )
        for one in calls
    ]
    tools = sorted({one.tool for one in ran})
    return [*offered, *(Offer(f"any {tool}", f"any {tool}", Never(tool=tool)) for tool in tools)]


def _boxes(thread_id: str, offers: list[Offer]) -> None:
    """Draw a checkbox for each."""
    if not offers:
        return
    st.markdown("**Did anything run that must not?** Then the scenario is red until it no longer runs.")
    with st.container(height=HEIGHT if len(offers) > MANY else "content", border=False, gap="xsmall"):
        for place, offer in enumerate(offers, start=1):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                # A label is Markdown, so what the agent wrote is drawn next to it instead.
                st.checkbox(
                    f"Number {place} must not run",
                    key=_box(thread_id, offer),
                    label_visibility="collapsed",
                )
                line(offer.text, width="content")


def _box(thread_id: str, offer: Offer) -> str:
    return widget_keys.key("scenario-never", thread_id, offer.name)


def _ticked(thread_id: str, offers: list[Offer]) -> list[Offer]:
    return [one for one in offers if st.session_state.get(_box(thread_id, one))]


def _called(action: Action, *, whole: bool) -> str:
    if whole:  # another call has the same short text
        return f"{action.tool} → {cut(dumps(masked(action.args)), MAX_TITLE)}"
    return f"{action.tool} → {telling(action.args)}"


def _field(thread: Thread, offers: list[Offer]) -> None:
    """Draw the field for the scenario's name. Until somebody writes there, it holds the proposed name."""
    field, proposed = _fields(thread)
    proposal = _proposal(thread, offers)
    if st.session_state.get(field) in (None, st.session_state.get(proposed)):
        st.session_state[field] = proposal
    st.session_state[proposed] = proposal
    st.text_input("What it shows", key=field, max_chars=MAX_TITLE)


def _fields(thread: Thread) -> tuple[str, str]:
    """Return the keys of the name field and of the name proposed last."""
    return widget_keys.key("scenario-name", thread.thread_id), widget_keys.key(
        "scenario-proposed", thread.thread_id
    )


def _proposal(thread: Thread, offers: list[Offer]) -> str:
    must_not = ", ".join(one.text for one in _ticked(thread.thread_id, offers))
    return (f"{must_not} must not run" if must_not else str(masked(thread.opening)))[:MAX_TITLE]


def _saved(path: Path, thread_id: str) -> None:
    st.markdown("**Saved.** It can be replayed now.")
    line(path.name)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        goes = st.button(
            "Run it on the QA page",
            key="scenario-run",
            type="primary",
            icon=":material/play_arrow:",
            on_click=run_scenarios,
            args=([path],),
        )
        st.download_button(
            "Download it",
            path.read_bytes,
            file_name=path.name,
            mime="application/yaml",
            key="scenario-download",
            on_click="ignore",
        )
        st.button(
            "Save it another way",
            key="scenario-again",
            type="tertiary",
            on_click=saved_scenario.note_saving,
            args=(thread_id, None),
        )
    if goes:  # the click has started it; the page only shows it
        st.switch_page("qa.py", query_params={SCENARIO: path.name})


def _save(thread: Thread, offers: list[Offer]) -> None:
    # From the boxes and the field at the time of the click: the page may not have been drawn since they were changed.
    field, proposed = _fields(thread)
    name = str(st.session_state.get(field) or "").strip()
    if name == st.session_state.get(proposed):
        name = _proposal(thread, offers)
    never = [one.meant for one in _ticked(thread.thread_id, offers)]
    if not name or text_fault(name):
        saved_scenario.note_saving(thread.thread_id, "Write in a few words what it shows.")
        return
    try:
        path = shelf.save_thread(bootstrap.opened(), thread.thread_id, name=name, never=never)
    except ReviewError as error:
        saved_scenario.note_saving(thread.thread_id, str(error))
        return
    saved_scenario.note_saving(thread.thread_id, path)
