"""Typing ahead: letters typed after a choice, before its field is drawn, go into that field and act as no shortcut.

Letters are shortcuts that choose, and drawing the field takes time: the words of a reason must not approve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.parts import browser
from pages.parts.state import widget_keys

_component = st.components.v2.component("typed_ahead", js=browser.source("typed_ahead.js"))


@dataclass(frozen=True)
class Way:
    """One way to decide: its letter, the key of its button, whether it asks for words, and the key of their field.

    Words typed for a way without a field are dropped.
    """

    letter: str
    button: str
    asks: bool
    field: str | None = None


def typed_ahead(ways: Sequence[Way], *, keys: bool, chosen: bool) -> None:
    """Catch what is typed after a choice. While `keys` are on, letters choose nothing once something is `chosen`."""
    choices = [
        {
            "key": one.letter.lower(),
            "button": widget_keys.selector(one.button),
            "asks": one.asks,
            "field": one.field and widget_keys.selector(one.field),
        }
        for one in ways
    ]
    _component(data={"choices": tuple(choices), "keys": keys, "chosen": chosen}, key="ahead", width=1)
