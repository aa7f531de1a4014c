"""Sheets: many texts drawn as one element, so that a card is drawn as fast as a button.

Most functions make one piece of a sheet. Whatever an agent or a person wrote goes to the browser as data and is shown
literally, as in `literal`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from agent.review.text.deception import visible
from agent.review.text.lookalikes import Kind
from pages.parts import browser
from pages.parts.common.literal import digest, fold_label, is_long, warning_of
from pages.parts.state import widget_keys

Node = dict[str, Any]
"""A piece of a sheet, as the browser gets it: its kind under `is`, and its texts."""

_component = st.components.v2.component(
    "sheet", html='<div class="sheet"></div>', css=browser.source("sheet.css"), js=browser.source("sheet.js")
)


def literal(text: str) -> Node:
    """Make a value from an agent or a person; a long one is folded, and sent to the browser once it is opened."""
    if not is_long(text):
        return {"is": "code", "text": visible(text)}
    name = digest(text)
    shown = visible(text) if widget_keys.was_opened(name) else None
    return {"is": "fold", "name": name, "label": fold_label(text), "text": shown}


def line(text: str) -> Node:
    """Make a sentence that holds such values, folded if it is long."""
    return literal(text) if is_long(text) else {"is": "line", "text": visible(text)}


def said(text: str, more: str | None = None) -> Node:
    """Make a short text of the console's own; `more` is shown on hover."""
    return {"is": "said", "text": text, "more": more}


def badge(text: str) -> Node:
    return {"is": "badge", "text": text}


def cautions(name: str, text: str, kind: Kind = "text") -> list[Node]:
    """Make a warning of what is hidden or deceptive in the text, naming its argument; empty if nothing is."""
    found = warning_of(name, text, kind)
    if found is None:
        return []
    warning, told = found
    return [{"is": "warning", "text": warning}, {"is": "line", "text": told}]


def across(*nodes: Node) -> Node:
    """Put pieces side by side."""
    return {"is": "across", "nodes": nodes}


def row(name: str, more: str, nodes: Sequence[Node]) -> Node:
    """Put pieces next to their name; `more` is shown below the name."""
    return {"is": "row", "name": visible(name), "more": more, "nodes": nodes}


def tabs(label: str, of: Mapping[str, Sequence[Node]]) -> Node:
    """Put pieces in tabs, by label; one tab is in view at a time."""
    return {"is": "tabs", "label": label, "tabs": list(of.items())}


def sheet(nodes: Sequence[Node], *, key: str) -> None:
    """Draw the pieces. An opened fold is noted, and its text is then sent to the browser."""

    def opened() -> None:
        name = st.session_state[key].get("opened")
        if isinstance(name, str) and name in set(_folds(nodes)):
            widget_keys.see_opened(name)

    _component(data=list(nodes), key=key, on_opened_change=opened)


def _folds(part: Any) -> list[str]:
    """Return the names of all folds in a part of a sheet."""
    if isinstance(part, dict):
        return [part["name"]] if part.get("is") == "fold" else _folds(list(part.values()))
    return [name for one in part for name in _folds(one)] if isinstance(part, list | tuple) else []
