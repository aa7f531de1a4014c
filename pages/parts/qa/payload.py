"""Pasted payloads: an interrupt's value drawn as a card, with the answer that would be sent. Nothing runs."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from agent.review import pasted as rules
from agent.review.actions import Action
from agent.review.arguments.args import dumps
from agent.review.errors import ArgumentsRefused, PayloadUnreadable, ReviewError
from agent.review.pasted import Pasted
from agent.review.shapes import Shape
from pages.parts.common.arguments import arguments
from pages.parts.common.literal import cautions, line, literal
from pages.parts.common.sheet import sheet
from pages.parts.common.words import COLOR, ICON, VERB
from pages.parts.state import widget_keys

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
NO_CONFIGS = (
    "It has no `review_configs`, so it does not say which decisions it allows. "
    "Paste it with them to see an answer."
)
ANSWERED = (
    "Its `allow_ignore` is not true, so a reject cannot be sent as `ignore`. "
    "It would be sent as a `response` that gives the reason."
)
WORDS = {
    "edit": "All arguments, as JSON",
    "reject": "Reason (the agent will read this)",
    "respond": "Your answer, as the tool's result",
}


def payload() -> None:
    """Draw the field to paste into, and below it what was read."""
    st.caption(
        "Paste an interrupt's value, a complete interrupt, or a list of them. It is read as this console would read it; "
        "nothing is run, sent or recorded."
    )
    with st.form("paste", border=False):
        text = st.text_area("Interrupt, as JSON", key="payload", height=160, placeholder=EXAMPLE)
        st.form_submit_button("Read it", key="read-payload", type="primary")
    if not (text or "").strip():
        return
    try:
        found = rules.read(str(text))
    except PayloadUnreadable as error:
        st.error("This could not be read.")
        line(str(error))
        return
    for place, one in enumerate(found):
        _card(one, place)


def _card(pasted: Pasted, place: int) -> None:
    with st.container(border=True, key=widget_keys.key("pasted", place)):
        name, what = SHAPES[pasted.pause.shape]
        st.badge(name, icon=":material/data_object:", color="blue")
        st.caption(what)
        if pasted.asks_nothing:
            st.info("It asks about nothing: its list of actions is empty, so there is nothing to decide.")
            return
        if pasted.lacks_configs:
            st.warning(NO_CONFIGS)
        decisions: list[dict[str, Any]] = []
        for number, action in enumerate(pasted.actions):
            with st.container(border=True):
                _action(action, widget_keys.key("pasted-action", place, number))
                decisions += _decided(pasted, number, widget_keys.key("pasted", place, number))
        if len(decisions) == len(pasted.actions):
            _answer(pasted, decisions)
        elif all(action.allowed for action in pasted.actions):
            st.caption("Choose a decision for each action to see the answer.")
        elif not pasted.lacks_configs:
            st.caption(
                "There is no answer to show: an action allows no decision, and every action needs one."
            )


def _action(action: Action, key: str) -> None:
    literal(action.tool, width="content")
    cautions("the tool's name", action.tool, "name")
    if description := action.notes.get("description"):
        st.caption("How the agent's own code describes it")
        literal(str(description))
    sheet(arguments(action.args), key=key)


def _decided(pasted: Pasted, number: int, key: str) -> list[dict[str, Any]]:
    """Draw the choice of decision, and return the decision in a list; empty if it is not chosen or not possible."""
    action = pasted.actions[number]
    if not action.allowed:
        if not pasted.lacks_configs:
            st.warning("No decision is allowed on this, as it was pasted. It could only be closed.")
        return []
    kind = st.segmented_control(
        "Decision",
        action.allowed,
        format_func=lambda one: f":{COLOR[one]}[{ICON[one]} {VERB[one].rstrip('…')}]",
        key=f"{key}:kind",
        label_visibility="collapsed",
    )
    if "reject" in action.allowed and pasted.answers_rejection(number):
        st.caption(ANSWERED)
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
