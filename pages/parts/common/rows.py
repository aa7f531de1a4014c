"""Rows to pick one from, as one element: a page of fifty is drawn as fast as a button.

They may hold anybody's text: the browser gets it as data and puts it on the page as plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from agent.review.text.deception import visible
from pages.parts import browser

HTML = "<ul></ul>"


_component = st.components.v2.component(
    "rows", html=HTML, css=browser.source("rows.css"), js=browser.source("rows.js")
)


@dataclass(frozen=True)
class Row:
    """One row: the name it is picked by, and its two lines of text."""

    name: str
    first: str
    second: str


def rows(
    label: str,
    made: Sequence[Row],
    *,
    key: str,
    on_pick: Callable[[str], None] = lambda _: None,
    current: str | None = None,
) -> str | None:
    """Draw the rows, whose names must all differ, and return the name of the row just clicked, or None.

    `on_pick` gets the same name before the page is drawn, as a callback; a caller may use the returned name to switch
    to another page, which a callback cannot.
    """

    def picked() -> None:
        if name := _picked(st.session_state[key]):
            on_pick(name)

    # A tuple: for a list, Streamlit would load pandas to see whether it is a table.
    shown = tuple((row.name, visible(row.first), visible(row.second)) for row in made)
    data = {"label": label, "rows": shown, "current": current}
    return _picked(_component(data=data, key=key, on_picked_change=picked))


def _picked(state: Mapping[str, object]) -> str | None:
    name = state.get("picked")
    return name if isinstance(name, str) else None
