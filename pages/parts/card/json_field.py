"""A field for JSON: monospace, numbered lines, faults marked at theirs, hidden characters seen, every keystroke kept.

The text is the browser's to hold and the server's to judge: nothing in it is ever taken for HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from pages.parts import browser

HTML = """
<div class="json-field">
  <div class="json-lines" aria-hidden="true"></div>
</div>
"""


_component = st.components.v2.component(
    "json_field",
    html=HTML,
    css=browser.source("json_field.css"),
    js=browser.source("json_field.js"),
    isolate_styles=False,
)


def json_field(
    label: str, text: str, *, key: str, wrong: Sequence[int], on_change: Callable[[str], None]
) -> None:
    """Draw the field over `text`; `on_change` gets what was typed, a moment after it was.

    `wrong` are the lines, from 1, that are marked.
    """

    def changed() -> None:
        typed = st.session_state[key].get("text")
        if isinstance(typed, str):
            on_change(typed)

    _component(data={"text": text, "wrong": tuple(wrong), "label": label}, key=key, on_text_change=changed)
