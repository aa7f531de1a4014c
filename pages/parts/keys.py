"""The keys: told by `?` or a button, and switched off for good by who does not want them."""

from __future__ import annotations

import streamlit as st

from pages.parts import session
from pages.parts.words import KEYS

JS = """
export default function ({ setTriggerValue }) {
  const asked = event => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable=true]")) return;
    setTriggerValue("asked", true);
  };
  document.addEventListener("keydown", asked);
  return () => document.removeEventListener("keydown", asked);
}
"""
_component = st.components.v2.component("question_mark", js=JS)


def keys() -> None:
    """The button that tells of the keys; `?` does the same while they are on."""
    pressed = st.button("Keys", key="keys", type="tertiary", icon=":material/keyboard:")
    asked = session.keys_are_on() and _component(key="question-mark", on_asked_change=_asked).asked
    if pressed or asked:
        _told()


def _asked() -> None:
    """The page drawn next shows the keys; there is nothing to change before it."""


@st.dialog("Keys")
def _told() -> None:
    st.table({"Key": list(KEYS), "What it does": list(KEYS.values())}, hide_index=True)
    on = st.toggle("Use these keys", value=session.keys_are_on(), key="use-keys")
    st.caption(
        "Letters only choose; a decision is sent with Ctrl or Cmd and Enter. This browser remembers the switch."
    )
    if on != session.keys_are_on():
        session.switch_keys(on=on)
        st.rerun()
