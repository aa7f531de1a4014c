"""A message shown at the top of the page drawn next."""

from __future__ import annotations

import streamlit as st

from agent.review.errors import ReviewError
from agent.review.text.deception import visible

FLASH = "flash"
SHOWN_FLASH = "flash-shown"


def flash(kind: str, headline: str, detail: str = "") -> None:
    """Show this message at the top of the page drawn next. `headline` is ours; `detail` may hold anybody's text."""
    st.session_state[FLASH] = (kind, headline, detail)


def take_back(headline: str) -> None:
    """Withdraw the message with this headline if it has not been shown yet."""
    if st.session_state.get(FLASH, ("", ""))[1] == headline:
        del st.session_state[FLASH]


def flash_error(headline: str, error: ReviewError) -> None:
    flash("error", headline, str(error))


def keep_flash() -> None:
    """Keep the shown message over an automatic redraw: a person may still be reading it."""
    shown = st.session_state.get(SHOWN_FLASH)
    if shown is not None and shown[0] != "toast" and FLASH not in st.session_state:
        st.session_state[FLASH] = shown


def show_flash() -> None:
    kept = st.session_state.pop(FLASH, None)
    st.session_state[SHOWN_FLASH] = kept
    if kept is None:
        return
    kind, headline, detail = kept
    if kind == "toast":
        st.toast(headline, icon=":material/send:")
        return
    box = {"error": st.error, "warning": st.warning}.get(kind, st.info)
    box(headline)
    if detail:
        st.text(visible(detail))
