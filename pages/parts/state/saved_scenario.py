"""The result of saving a thread as a scenario."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

SAVED = "scenario-saved"


def note_saving(thread_id: str, came: Path | str | None) -> None:
    """Note the result of saving the thread: the file, or why it was not saved; None to offer saving it again."""
    st.session_state[SAVED] = (thread_id, came)


def saving(thread_id: str) -> Path | str | None:
    """Return the result of saving this thread if this session saved it last, else None."""
    saved, came = st.session_state.get(SAVED, ("", None))
    return came if saved == thread_id else None
