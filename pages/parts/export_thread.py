"""A whole thread to take along: one HTML file or JSON, made when it is asked for."""

from __future__ import annotations

import streamlit as st

from agent.review.thread_exports import as_html, as_json
from pages.parts import session


def export_thread(thread_id: str) -> None:
    """The two downloads."""
    console = session.console()
    with st.popover("Export", type="tertiary", key="export"):
        st.caption(
            "The conversation, every action and the record, for a bug report. What looks like a secret is masked."
        )
        st.download_button(
            "HTML",
            data=lambda: as_html(console.whole_thread(thread_id)),
            file_name=f"thread-{thread_id}.html",
            mime="text/html",
            key="export-html",
            on_click="ignore",
            icon=":material/download:",
        )
        st.download_button(
            "JSON",
            data=lambda: as_json(console.whole_thread(thread_id)),
            file_name=f"thread-{thread_id}.json",
            mime="application/json",
            key="export-json",
            on_click="ignore",
            icon=":material/download:",
        )
