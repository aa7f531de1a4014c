"""The export of a complete thread: one HTML or JSON file, made when it is downloaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from agent.review.thread_exports import WholeThread, as_html, as_json
from pages.parts.state import app

FORMS = {"html": ("text/html", as_html), "json": ("application/json", as_json)}


def export_thread(thread_id: str) -> None:
    """Draw the two download buttons."""
    with st.popover("Export", type="tertiary", key="export"):
        st.caption(
            "The conversation, every action and the record, for a bug report. What looks like a secret is masked."
        )
        for form, (mime, written) in FORMS.items():
            st.download_button(
                form.upper(),
                data=partial(_file, written, thread_id),
                file_name=f"thread-{thread_id}.{form}",
                mime=mime,
                key=f"export-{form}",
                on_click="ignore",
                icon=":material/download:",
            )


def _file(written: Callable[[WholeThread], str], thread_id: str) -> str:
    return written(app.console().queries.whole_thread(thread_id))
