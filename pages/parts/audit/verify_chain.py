"""The record as a whole: whether it was tampered with, the line to keep elsewhere, and the downloads."""

from __future__ import annotations

import streamlit as st

from agent.review.errors import ReviewError
from agent.review.events import kept_anchor
from agent.review.exports import as_csv
from agent.review.text.counts import are, counted
from agent.review.verify_chain import Verification
from pages.parts.common.literal import line, literal
from pages.parts.common.words import clock
from pages.parts.state import app, flash

KEPT = "kept-anchor"


def chain() -> None:
    """Show what this session's last check found, with the buttons to check again and to download the record."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        found: Verification | None = st.session_state.get("verified")
        if found is None:
            st.badge("not checked yet", color="gray", icon=":material/link:")
        elif found.ok:
            st.badge(
                f"{counted(found.count, 'event')}, chain intact, checked {st.session_state['verified-at']}",
                color="green",
                icon=":material/verified:",
            )
            if found.unkeyed:
                st.caption(
                    f"The first {counted(found.unkeyed, 'event')} {are(found.unkeyed)} from before the record had a key, and "
                    "unchanged since it got one."
                )
        else:
            st.badge("the chain is broken", color="red", icon=":material/link_off:")
            line(found.first_fault or "")
        st.button("Check the chain", key="verify", on_click=_verify)
        _kept_elsewhere()
        _downloads()


def _kept_elsewhere() -> None:
    """Show the line that fixes the chain's end, to be printed, and a field to check such a line later."""
    with st.popover("A line to keep elsewhere…", icon=":material/print:"):
        st.caption(
            "This line stands for the whole record up to now. Print it, or send it to somebody who cannot reach "
            "this machine: whoever rewrites the record cannot rewrite that copy, so the check finds the change."
        )
        head = app.console().trail.head()
        literal(str(head) if head else "Nothing has been recorded yet.")
        st.text_input("A line you kept, to check the record against", key=KEPT)
        st.button("Check against it", key="verify-kept", on_click=_verify)


def _verify() -> None:
    line_kept = (st.session_state.get(KEPT) or "").strip()
    try:
        kept = [kept_anchor(line_kept)] if line_kept else []
    except ValueError as error:
        flash.flash("warning", str(error))
        return
    st.session_state.pop("verified", None)
    try:
        st.session_state["verified"] = app.console().trail.verify(kept=kept)
    except ReviewError as error:  # for example, anchors that cannot be read
        flash.flash_error("The chain could not be checked.", error)
    st.session_state["verified-at"] = clock(app.console().queries.now())


def _downloads() -> None:
    console = app.console()
    st.download_button(
        "JSONL",
        data=lambda: "".join(console.trail.exported(values=bool(st.session_state.get("values")))),
        file_name="audit.jsonl",
        mime="application/jsonl",
        key="export-jsonl",
        on_click="ignore",
        icon=":material/download:",
    )
    st.download_button(
        "CSV",
        data=lambda: "".join(as_csv(console.trail.whole())),
        file_name="audit.csv",
        mime="text/csv",
        key="export-csv",
        on_click="ignore",
        icon=":material/download:",
    )
