"""Notice that the page was hidden: behind another tab or window it is on screen and nobody sees it."""

from __future__ import annotations

import streamlit as st

from pages.parts import screen

JS = """
let stop = () => {}; // this is called again whenever the page is drawn
let since = document.hidden ? performance.now() : null;

export default function ({ setTriggerValue }) {
  stop();
  const turn = () => {
    if (document.hidden) since ??= performance.now();
    else if (since !== null) {
      setTriggerValue("seconds", (performance.now() - since) / 1000);
      since = null;
    }
  };
  document.addEventListener("visibilitychange", turn);
  stop = () => document.removeEventListener("visibilitychange", turn);
  return () => stop();
}
"""
_component = st.components.v2.component("hidden", js=JS)
KEY = "hidden"


@st.fragment
def hidden() -> None:
    """Count the time in which nobody saw the card on screen. Nothing else is drawn anew."""
    _component(key=KEY, on_seconds_change=_count)


def _count() -> None:
    seconds = st.session_state[KEY].get("seconds")
    if isinstance(seconds, int | float) and seconds > 0:
        screen.note_hidden(float(seconds))
