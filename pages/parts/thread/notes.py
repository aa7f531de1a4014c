"""Testers' notes: on a thread, and as a filter of the list of threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from agent.console import View
from agent.review.errors import ReviewError
from agent.review.notes import MAX_LINK, MAX_NOTE, NoteVerdict
from agent.review.threads import Thread
from pages.parts.common.clicks import named_first
from pages.parts.common.literal import line
from pages.parts.common.words import Color, clock, option
from pages.parts.state import app, flash, identity, widget_keys

MARK: Mapping[NoteVerdict, tuple[Color, str]] = {
    NoteVerdict.PASS: ("green", ":material/thumb_up:"),
    NoteVerdict.FAIL: ("red", ":material/thumb_down:"),
    NoteVerdict.UNSURE: ("gray", ":material/question_mark:"),
}
ANY, NONE = "any note", "no note"
FIELDS = ("verdict", "text", "link")


def notes(view: View) -> None:
    """Draw the form for a note on this thread."""
    with st.popover("Note", type="tertiary", key="note"):
        st.segmented_control(
            "Verdict",
            [*NoteVerdict],
            key=_field("verdict", view.thread.thread_id),
            format_func=option,
            label_visibility="collapsed",
        )
        st.text_area("What you saw", key=_field("text", view.thread.thread_id), max_chars=MAX_NOTE)
        st.text_input(
            "Link, such as a ticket's", key=_field("link", view.thread.thread_id), max_chars=MAX_LINK
        )
        st.button("Save the note", key="note-save", on_click=_save, args=(view.thread.thread_id,))


def noted(thread_id: str) -> None:
    """Draw the thread's notes, newest first."""
    for note in reversed(app.console().notes.of(thread_id)):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            mark(note.verdict)
            line(f"{note.by}: {note.text}" if note.text else note.by, width="content")
            st.caption(clock(note.at), width="content")
            if note.link:
                line(note.link, width="content")


def mark(verdict: NoteVerdict) -> None:
    color, icon = MARK[verdict]
    st.badge(str(verdict), color=color, icon=icon)


def threads_by_verdict(limit: int) -> tuple[Sequence[Thread], Mapping[str, NoteVerdict]]:
    """Draw a choice of verdict; return the threads it leaves, and the verdict of each that has one."""
    console = app.console()
    chosen = st.radio(
        "By note",
        [ANY, *map(str, NoteVerdict), NONE],
        key="by-note",
        format_func=option,
        label_visibility="collapsed",
        bind="query-params",
        horizontal=True,
    )
    if chosen in (None, ANY):
        found = console.queries.threads(limit=limit)
    else:
        found = console.notes.threads(None if chosen == NONE else NoteVerdict(chosen), limit=limit)
    return found, console.notes.verdicts([thread.thread_id for thread in found])


def _field(name: str, thread_id: str) -> str:
    return widget_keys.key(f"note-{name}", thread_id)


@named_first
def _save(thread_id: str) -> None:
    given = {name: str(st.session_state[_field(name, thread_id)] or "") for name in FIELDS}
    if not given["verdict"]:
        flash.flash("error", "The note was not saved. Choose pass, fail or unsure first.")
        return
    try:
        app.console().notes.add(thread_id, by=identity.reviewer(), **given)
    except ReviewError as error:
        flash.flash_error("The note was not saved.", error)
        return
    for name in FIELDS:
        st.session_state[_field(name, thread_id)] = None if name == "verdict" else ""
    flash.flash("toast", "The note was saved.")
