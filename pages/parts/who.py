"""“You are …”: the name a browser decides under, asked once, kept by the browser, recorded as unverified."""

from __future__ import annotations

import streamlit as st

from agent.review.threads import text_fault
from pages.parts import session
from pages.parts.cookies import cookies
from pages.parts.keys import keys, keys_button
from pages.parts.literal import line
from pages.parts.stop_all import stop_all

LONGEST = 80


def who() -> None:
    """Draw the name and the way to change it; ask for it where none was given."""
    with st.container(gap=None):  # what is only a script takes no room in it
        with st.container(
            horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"
        ):
            line(f"You are {session.reviewer()} (unverified)", width="content")
            with st.popover("Change", type="tertiary", key="change-name", on_change="rerun") as opened:
                if opened.open:
                    _name()
            pressed = keys_button()
            stop_all()
        keys(pressed)
        cookies()
    if not session.named():
        with st.container(border=True):
            st.markdown("**Who are you?** The record will show this name, as unverified, on what you decide.")
            with st.container(horizontal=True, vertical_alignment="bottom"):
                _name("first-")


def _name(prefix: str = "") -> None:
    name = f"{prefix}name"
    st.text_input("Your name", value=session.reviewer(), key=name, max_chars=LONGEST)
    st.button("Use this name", key=f"{prefix}use-name", on_click=_use, args=(name,))


def _use(name: str) -> None:
    chosen = str(st.session_state[name] or "").strip()
    if not chosen or text_fault(chosen) or not chosen.isprintable():
        session.flash(
            "error", "That is not a name. Use some letters, without line breaks or hidden characters."
        )
        return
    st.session_state[session.REVIEWER] = chosen
