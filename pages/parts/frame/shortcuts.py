"""The keyboard shortcuts: shown by `?` or a button, and switched off for good by anybody who does not want them."""

from __future__ import annotations

import streamlit as st

from pages.parts import browser
from pages.parts.common.words import KEYS
from pages.parts.state import identity

_component = st.components.v2.component("question_mark", js=browser.source("question_mark.js"))


def keys_button() -> bool:
    """Draw the button that shows the keys, and return whether it was pressed."""
    return st.button("Keys", key="keys", type="tertiary", icon=":material/keyboard:")


def keys(pressed: bool) -> None:
    """Show the keys if their button was pressed, or `?` while they are on."""
    asked = identity.keys_are_on() and _component(key="question-mark", on_asked_change=_asked).asked
    if pressed or asked:
        _told(identity.keys_are_on())


def _asked() -> None:
    """Do nothing: the redraw that follows shows the keys."""


@st.dialog("Keys")
def _told(on: bool) -> None:
    """Draw the keys and their switch; `on` is the switch's state when this dialog was opened."""
    st.table({"Key": list(KEYS), "What it does": list(KEYS.values())}, hide_index=True)
    st.toggle("Use these keys", value=on, key="use-keys", on_change=_switch)
    st.caption(
        "Letters only choose; a decision is sent with Ctrl or Cmd and Enter. This browser remembers the setting."
    )
    if identity.keys_are_on() != on:
        st.rerun()  # the buttons of the whole page carry the keys


def _switch() -> None:
    identity.switch_keys(on=bool(st.session_state["use-keys"]))
