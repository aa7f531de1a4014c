"""The answer to a question of the agent's own: as text, as yes or no, as JSON, or one of the answers it offers."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.review.actions import Action, Review
from agent.review.arguments.args import dumps
from agent.review.questions import QUESTION, Offered, offered
from pages.parts.card import draft as drafts
from pages.parts.card.draft import WRITTEN, Choice
from pages.parts.common.literal import line
from pages.parts.state import widget_keys

FORMS = {"text": "Text", "yes": "Yes", "no": "No", "json": "JSON"}
SENDS = {True: "What will be sent to the agent, as text", False: "What will be sent to the agent, as JSON"}


def answer(review: Review, action: Action, choice: Choice) -> bool:
    """Draw the answers that a question offers and the forms of one's own; return whether there is a text to write."""
    if action.tool != QUESTION:
        return True
    for place, one in enumerate(offered(action)):
        _offer(review, action, choice, place, one)
    name = widget_keys.action_key("form", review, action)

    def keep() -> None:
        _keep(review, action, form=st.session_state[name] or "text")

    st.segmented_control(
        "Send it as",
        list(FORMS),
        format_func=lambda one: FORMS[one],
        default=choice.form if choice.form in FORMS else "text",
        key=name,
        on_change=keep,
    )
    return choice.form in WRITTEN


def _offer(review: Review, action: Action, choice: Choice, place: int, one: Offered) -> None:
    sent = dumps(one.value)

    def keep() -> None:
        _keep(review, action, form="json", reply=sent)
        # The form and the text below are drawn from the draft only where their widgets hold nothing else.
        for field, value in (("form", "json"), ("reply", sent)):
            st.session_state[widget_keys.action_key(field, review, action)] = value

    # The label is the agent's own, so it is drawn as literal text and not as the button's Markdown.
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Choose",
            key=widget_keys.field_key("offered", review, action, str(place)),
            type="primary" if (choice.form, choice.reply) == ("json", sent) else "secondary",
            on_click=keep,
        )
        line(one.label if one.label == one.value else f"{one.label} · sends {sent}")


def _keep(review: Review, action: Action, **changes: Any) -> None:
    drafts.save(review, drafts.on_screen(review).with_choice(action, **changes))


def lacks_words(action: Action, choice: Choice) -> bool:
    """Return whether nothing was written yet where something must be."""
    return (action.tool != QUESTION or choice.form in WRITTEN) and not choice.reply.strip()
