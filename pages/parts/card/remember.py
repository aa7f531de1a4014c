"""The part of a card that makes a remembered rule from its call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from agent.review.actions import Action, Review
from agent.review.arguments.args import show
from agent.review.errors import ReviewError
from agent.review.rules import Foresight, PastCall, given
from agent.review.text.counts import counted
from pages.parts.common.clicks import named_first
from pages.parts.common.folds import MOST_ROWS, in_rows
from pages.parts.common.literal import line, literal
from pages.parts.common.words import clock, option, short, zone
from pages.parts.state import app, flash, identity, widget_keys

SCOPES = {"thread": "In this thread", "agent": "In every thread of this agent"}
LASTING = {"15 minutes": "For 15 minutes", "today": "Until the end of today", "30 days": "For 30 days"}
MATCHED = {"bound": "exactly this", "free": "anything"}
TOO_MANY = f"No rule can be made for a call with more than {MOST_ROWS} arguments. Decide on each such call."
FILLED_IN = "{}, filled in with the tool's default"
SHOWN = 5
"""The most past calls to show of those that the rule would have let run."""


def remember(review: Review, action: Action) -> None:
    """Draw the form of a rule that lets calls like this one run without asking, with its effect on past calls."""
    with st.expander(
        "Remember…", key=widget_keys.action_key("remember", review, action), on_change="rerun"
    ) as opened:
        if not opened.open:
            return
        if in_rows(action.args)[1]:
            st.caption(TOO_MANY)
            return
        if reason := app.console().rules.forbidden(action):
            line(reason)
            return
        st.caption("This call still waits for your decision. Later calls like it then run without asking.")
        choices = _choices(review, action)
        foresight = _foresight(action, choices)
        st.button(
            "Remember this",
            key=widget_keys.action_key("save-rule", review, action),
            icon=":material/bookmark_add:",
            disabled=foresight is None,
            on_click=_save,
            args=(action, choices),
        )


def _choices(review: Review, action: Action) -> dict[str, Any]:
    def one_of(name: str, label: str, options: dict[str, str]) -> str:
        chosen = st.segmented_control(
            label,
            list(options),
            default=next(iter(options)),
            format_func=lambda one: option(options[one]),
            key=widget_keys.action_key(name, review, action),
            label_visibility="collapsed",
            required=True,
        )
        return str(chosen)

    free, itself = [], given(action)
    for place, name in enumerate(action.args or {}):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            line(name if name in itself else FILLED_IN.format(name), width="content")
            if one_of(f"match-{place}", "How this argument is matched", MATCHED) == "free":
                free.append(name)
    return {
        "free": free,
        "scope": one_of("rule-scope", "Where", SCOPES),
        "lasting": one_of("rule-lasting", "How long", LASTING),
        "by": identity.reviewer(),
        "shown_digest": action.shown_digest,
    }


def _foresight(action: Action, choices: dict[str, Any]) -> Foresight | None:
    """Show what the rule would have allowed, and return it; if it cannot be made, show why and return None."""
    try:
        found = app.console().rules.foresee(
            action.key.thread_id, action.key.tool_call_id, **choices, zone=zone()
        )
    except ReviewError as error:
        line(str(error))
        return None
    st.caption(
        f"It would last until {clock(found.rule.expires_at)}. Of the last {counted(found.looked_at, 'call')} of this tool that "
        f"{'was' if found.looked_at == 1 else 'were'} asked about, it would have let {len(found.matches)} run without asking."
    )
    _past("Without asking", found.matches[:SHOWN])
    _past("Still asked about, the nearest first", found.near_misses)
    return found


def _past(title: str, calls: Sequence[PastCall]) -> None:
    if not calls:
        return
    st.caption(title)
    for one in calls:
        with st.container(border=True, gap="xsmall"):
            why = "; ".join(f"{d.subject} {d.why}" for d in one.differences)
            line(f"{clock(one.at)} · {short(one.thread_id)}{f' · {why}' if why else ''}")
            literal(show(dict(one.args)))


@named_first
def _save(action: Action, choices: dict[str, Any]) -> None:
    try:
        rule = app.console().rules.make(action.key.thread_id, action.key.tool_call_id, **choices, zone=zone())
    except ReviewError as error:
        flash.flash_error("Nothing was remembered.", error)
        return
    flash.flash("toast", f"Remembered until {clock(rule.expires_at)}.")
