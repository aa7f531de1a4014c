"""A JSON editor: monospace, numbered lines, faulty lines and hidden characters marked, every keystroke kept.

The browser holds the text and the server checks it. It is never parsed as HTML.
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
    """Draw the field with `text`; `on_change` gets the new text shortly after typing pauses.

    `wrong` are the numbers of the lines to mark, from 1.
    """

    def changed() -> None:
        typed = st.session_state[key].get("text")
        if isinstance(typed, str):
            on_change(typed)

    _component(data={"text": text, "wrong": tuple(wrong), "label": label}, key=key, on_text_change=changed)
