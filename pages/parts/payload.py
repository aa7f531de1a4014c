"""Paste a payload: an interrupt's value as its card, and the answer it would be sent. Nothing runs."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from agent.review import pasted as rules
from agent.review.actions import Action
from agent.review.args import dumps
from agent.review.errors import ArgumentsRefused, ReviewError
from agent.review.pasted import Pasted
from agent.review.shapes import Shape
from pages.parts import session
from pages.parts.arguments import arguments
from pages.parts.literal import cautions, line, literal
from pages.parts.words import COLOR, ICON, VERB

SHAPES: dict[Shape, tuple[str, str]] = {
    "batched": ("batched", "LangChain's human-in-the-loop middleware, one interrupt for all calls"),
    "per_call": ("per call", "LangChain's middleware, one interrupt for each call"),
    "legacy": ("legacy", "the Agent Inbox's older shape"),
    "typed": ("typed", "a question with a schema for its answer"),
    "free": ("free", "no known shape: shown as it is, and answered with JSON or text"),
}
"""Each shape's name, and what it is."""
EXAMPLE = """{"action_requests": [{"name": "send_email", "args": {"to": "alice@example.com"}}],
 "review_configs": [{"action_name": "send_email", "allowed_decisions": ["approve", "reject"]}]}"""
WORDS = {
    "edit": "All arguments, as JSON",
    "reject": "Reason (the agent will read this)",
    "respond": "Your answer, as the tool's result",
}


def payload() -> None:
    """The box to paste into, and below it what was read."""
    st.caption(
        "Paste an interrupt's value, a whole interrupt, or a list of them. It is read as this console would read it; "
        "nothing is run, sent or recorded."
    )
    text = st.text_area("Interrupt, as JSON", key="payload", height=160, placeholder=EXAMPLE)
    if not (text or "").strip():
        return
    try:
        found = rules.read(str(text))
    except ArgumentsRefused as error:
        st.error("This is not JSON that can be shown exactly.")
        line(str(error))
        return
    for place, one in enumerate(found):
        _card(one, place)


def _card(pasted: Pasted, place: int) -> None:
    with st.container(border=True, key=session.key("pasted", place)):
        name, what = SHAPES[pasted.pause.shape]
        st.badge(name, icon=":material/data_object:", color="blue")
        st.caption(what)
        decisions: list[dict[str, Any]] = []
        for number, action in enumerate(pasted.actions):
            with st.container(border=True):
                _action(action)
                decisions += _decided(action, session.key("pasted", place, number))
        if len(decisions) < len(pasted.actions):
            st.caption("Choose a decision for each action to see the answer.")
            return
        _answer(pasted, decisions)


def _action(action: Action) -> None:
    literal(action.tool, width="content")
    cautions("the tool's name", action.tool, "name")
    if description := action.notes.get("description"):
        st.caption("How the agent's own code describes it")
        literal(str(description))
    arguments(action.args)


def _decided(action: Action, key: str) -> list[dict[str, Any]]:
    """The decision that was chosen, if one was and it can be made."""
    if not action.allowed:
        st.warning("No decision is allowed on this, as it was pasted. It could only be closed.")
        return []
    kind = st.segmented_control(
        "Decision",
        action.allowed,
        format_func=lambda one: f":{COLOR[one]}[{ICON[one]} {VERB[one].rstrip('…')}]",
        key=f"{key}:kind",
        label_visibility="collapsed",
    )
    if kind is None:
        return []
    text = ""
    if kind in WORDS:
        begin = dumps(action.args) if kind == "edit" else ""
        text = str(st.text_area(WORDS[kind], begin, key=f"{key}:{kind}") or "")
    try:
        return [rules.decision(kind, action, text)]
    except ArgumentsRefused as error:
        line(str(error))
        return []


def _answer(pasted: Pasted, decisions: list[dict[str, Any]]) -> None:
    try:
        answer = rules.answer(pasted, decisions)
    except ReviewError as error:
        line(str(error))
        return
    st.caption("The answer that would be sent")
    literal(f"Command(resume={json.dumps(answer, ensure_ascii=False, indent=2)})")
