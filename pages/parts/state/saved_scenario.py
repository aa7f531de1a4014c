"""What came of saving a thread as a scenario."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

SAVED = "scenario-saved"


def note_saving(thread_id: str, came: Path | str | None) -> None:
    """What came of saving the thread: the file, or why there is none; None, to save it once more."""
    st.session_state[SAVED] = (thread_id, came)


def saving(thread_id: str) -> Path | str | None:
    """What came of saving this thread, if it is the one that this session saved last."""
    saved, came = st.session_state.get(SAVED, ("", None))
    return came if saved == thread_id else None
