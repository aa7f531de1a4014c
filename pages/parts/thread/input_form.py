"""What an external agent takes in besides messages: a field for each, and what its state gives back."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from agent.review.agents import Agent
from agent.review.arguments.args import parse, show
from pages.parts.common.literal import line, literal
from pages.parts.state import app, widget_keys

PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_ ]*")
"""A label is Markdown, so it may hold only a plain name."""
OUTPUT = "What its state holds besides the conversation"


def input_form(agent: Agent) -> None:
    """Draw a field for each further input of the agent; one that stays empty is not sent."""
    for place, name in enumerate(agent.needs.further_input, start=1):
        form = "as text" if _is_text(agent, name) else "as JSON"
        plain = PLAIN.fullmatch(name) is not None
        if not plain:
            line(name)
        st.text_input(f"{name if plain else f'Input {place}'} ({form})", key=_key(agent, name))


def typed_input(agent: Agent) -> dict[str, Any] | None:
    """Return what was typed, or None if nothing was. Raises `ArgumentsRefused` for JSON that is none."""
    found = {}
    for name in agent.needs.further_input:
        if typed := st.session_state.get(_key(agent, name)):
            found[name] = typed if _is_text(agent, name) else parse(typed)
    return found or (None if agent.needs.converses else {})


def output(agent: Agent, thread_id: str) -> None:
    """Draw what the agent's state holds besides the conversation, where it takes in more than that, too."""
    if not agent.needs.further_input:
        return
    if found := app.console().queries.output(thread_id):
        with st.expander(OUTPUT):
            literal(show(dict(found)))


def _key(agent: Agent, name: str) -> str:
    return widget_keys.key("input", agent.name, name)


def _is_text(agent: Agent, name: str) -> bool:
    field = agent.needs.input_schema.get("properties", {}).get(name, {})
    return field.get("type", "string") == "string" and not {"$ref", "anyOf", "oneOf", "enum"} & field.keys()
