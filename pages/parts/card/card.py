"""The card: one review, what exactly would run, and what helps to judge it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent.console.views import CardView
from agent.review import retype
from agent.review.actions import Action, Review
from agent.review.arguments.args import show
from agent.review.damage import review_is_damaged
from agent.review.text import deception
from pages.parts.card import draft as drafts
from pages.parts.card.card_clicks import NextCard
from pages.parts.card.card_warnings import (
    denied_now,
    edited_before,
    expired_before,
    rejected_before,
    since_then,
)
from pages.parts.card.choice import FIELD, chosen
from pages.parts.card.copy_as import copy_as
from pages.parts.card.damaged import damaged
from pages.parts.card.decide import decisions, navigation
from pages.parts.card.draft import Choice, Draft
from pages.parts.card.remember import remember
from pages.parts.card.scroll_into_view import in_view
from pages.parts.card.stepper import stepper
from pages.parts.card.typed_ahead import Way, typed_ahead
from pages.parts.card.visibility import hidden
from pages.parts.common import literal as elements
from pages.parts.common.arguments import arguments
from pages.parts.common.folds import CLAIM, DESCRIPTION, SIBLINGS, as_proposed, differs, noted
from pages.parts.common.sheet import Node, across, badge, cautions, line, literal, said, sheet, tabs
from pages.parts.common.words import ACTION_WORDS, KEY, ago, clock, short, time_left
from pages.parts.state import app, identity, on_screen, widget_keys


def card(review: Review, *, next_card: NextCard = None, later: Callable[..., None] | None = None) -> None:
    """Draw the review and its decisions. Nothing runs from here: a click records, the server acts.

    `next_card` is called with the review once it is decided or closed, `later` to leave it waiting.
    """
    if review_is_damaged(review):
        damaged(review, next_card)
        return
    if identity.named():
        app.console().given.shown(review.review_id, to=identity.reviewer())
    draft = drafts.load(review)
    place = min(draft.at, len(review.actions) - 1)
    action = review.actions[place]
    on_screen.put_on_screen(review, action)
    view = app.console().queries.card(review, action)
    with st.container(gap=None):  # so that elements that are only scripts take no room
        navigation(review, action, next_card=next_card, later=later)
        hidden()
        _typed_ahead(view, draft.of(action))
    with st.container(border=True, key="card"):
        if len(review.actions) > 1:
            stepper(review, draft, place)
        with st.container(gap=None):
            in_view("card", widget_keys.action_key("card", review, action))
            _head(view)
        denied_now(view)
        rejected_before(action)
        expired_before(action)
        edited_before(view)
        since_then(view)
        choice = draft.of(action)
        incomplete = chosen(review, action, choice) if choice.type else False
        if choice.type == "edit":
            st.caption("As the agent proposed it")
        _what_would_run(review, action, draft)
        _context(view)
        decisions(view, draft, incomplete=incomplete, next_card=next_card)


def _typed_ahead(view: CardView, choice: Choice) -> None:
    review, action, policy = view.review, view.action, view.agent.policy
    asks = {**FIELD, "edit": None}  # letters typed for an edit would end up inside its JSON
    if retype.to_type(policy, action.tool, action.args) is None:
        asks.pop("approve")
    ways = [
        Way(
            letter,
            widget_keys.action_key(kind, review, action),
            kind in asks,
            widget_keys.action_key(name, review, action) if (name := asks.get(kind)) else None,
        )
        for kind, letter in KEY.items()
    ]
    typed_ahead(ways, keys=identity.keys_are_on(), chosen=bool(choice.type))


def _head(view: CardView) -> None:
    """Draw what is asked, by which agent and why, and in one sentence what it would do."""
    review, action = view.review, view.action
    place = review.actions.index(action) + 1
    told = [
        literal(action.tool),
        *([said(f"{place} of {len(review.actions)}")] if len(review.actions) > 1 else []),
        badge(action.tier),
        line(f"{review.agent} · {short(review.thread_id)}"),
        said(f"waiting {ago(review.opened_at)}{_time_left(review)}", clock(review.opened_at)),
    ]
    nodes = [across(*told), *([line(action.why)] if action.why else [])]
    if view.agent.gates_itself:
        nodes.append(said("This is an external agent that gates itself."))
    sheet([*nodes, *cautions("the tool's name", action.tool, "name"), *_summary(action)], key="head")


def _summary(action: Action) -> list[Node]:
    # It is made from the arguments, so what is odd in them is already marked there.
    odd = any(deception.cautions(name, show(value)) for name, value in (action.args or {}).items())
    return [line(action.summary), *([] if odd else cautions("the summary", action.summary))]


def _time_left(review: Review) -> str:
    return "" if review.expires_at is None else f" · closes in {time_left(review.expires_at)}"


def _what_would_run(review: Review, action: Action, draft: Draft) -> None:
    notes = noted(action)
    call = f"tool call {action.key.tool_call_id}\nattempt {action.key.attempt}\ndigest {action.call_digest}"
    views = {
        "Arguments": [*arguments(action.args), *([line(notes)] if notes else []), *_as_written(action)],
        "JSON": [literal(show(action.args))],
        "Raw call": [said("As the model proposed it"), literal(as_proposed(action)), literal(call)],
        "Copy as": copy_as(review, draft),
    }
    sheet([tabs("What would run", views)], key="call")


def _as_written(action: Action) -> list[Node]:
    """Return the arguments as the agent wrote them, if the tool gets others than those; empty otherwise."""
    return [said("As the agent wrote it"), literal(as_proposed(action))] if differs(action) else []


def _context(view: CardView) -> None:
    review, action, free = view.review, view.action, view.unasked
    if free:
        with _fold(SIBLINGS, f"Also in this turn, without asking · {len(free)}", review, action):
            for one in free:
                elements.literal(f"{one.tool} {show(one.args)}")
    if before := view.decided_before:
        same = show(before.proposed) == show(action.proposed)  # as text, 1 is neither 1.0 nor true
        edited = ", as edited" if (before.decision or {}).get("type") == "edit" else ""
        elements.line(
            f"{before.decided_by} decided on {'this same call' if same else before.proposed_tool} "
            f"{ago(before.decided_at or '')} ago: {ACTION_WORDS[before.state]}{edited}."
        )
    if description := action.notes.get("description"):
        with _fold(DESCRIPTION, "How the agent's own code describes it", review, action):
            elements.literal(str(description))
    if view.claim:
        with _fold(CLAIM, "The agent's claim, not checked", review, action):
            elements.literal(view.claim)
    remember(review, action)


def _fold(name: str, label: str, review: Review, action: Action) -> DeltaGenerator:
    """Draw a fold for information around the call; the decision records whether it was opened."""
    key = widget_keys.action_key(name, review, action)
    fold = st.expander(label, key=key, on_change="rerun")
    if fold.open:
        widget_keys.see_opened(key)
    return fold
