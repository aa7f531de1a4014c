"""The arguments of a call, whole: a row for each, and where there are very many, one text for the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from agent.review.args import show, type_name
from agent.review.deception import cautions as caution
from pages.parts.folds import MOST_ROWS, in_rows
from pages.parts.literal import cautions, line, literal

NAME = "the argument's name"


def arguments(args: Mapping[str, Any] | None) -> None:
    """Draw name, type, length and exact value, with a warning where something in them is hidden or deceptive."""
    own, others = in_rows(args)
    for name, value in own.items():
        _row(name, show(value), type_name(value))
    if others:
        _others(others)
    if not own:
        st.caption("This call has no arguments.")


def _row(name: str, text: str, kind: str) -> None:
    left, right = st.columns([1, 4], vertical_alignment="top", gap="small")
    with left, st.container(gap=None):
        line(name)
        st.caption(f"{kind} · {len(text):,}")
    with right:
        cautions(NAME, name, "name")
        cautions(name, text)
        literal(text)


def _others(others: dict[str, Any]) -> None:
    text = show(others)
    odd = [name for name in others if caution(NAME, name, "name")]
    left, right = st.columns([1, 4], vertical_alignment="top", gap="small")
    with left, st.container(gap=None):
        line(f"{len(others):,} more arguments")
        st.caption(f"JSON · {len(text):,}")
    with right:
        for name in odd[:MOST_ROWS]:
            cautions(NAME, name, "name")
        if len(odd) > MOST_ROWS:
            st.caption(f"and {len(odd) - MOST_ROWS:,} more names like these")
        cautions("the other arguments", text)
        literal(text)
