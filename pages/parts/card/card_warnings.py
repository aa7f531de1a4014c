"""The card's warnings: changes to policy and world since the proposal, and earlier decisions on the same call."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from agent.console.views import CardView
from agent.review.actions import Action
from agent.review.arguments.args import show
from agent.review.repeats import EXPIRED_BEFORE, MOST_REJECTIONS, REJECTED_BEFORE
from pages.parts.common.literal import line
from pages.parts.common.words import ago
from pages.parts.state import identity

CHANGED = "Since this was proposed, what it depends on has changed."
WOULD_FAIL = "As things stand now, it would fail."
UNREAD = "What it depends on could not be read, so nobody can say whether that has changed."

DENIED = "This cannot be approved any more."
EDITABLE = "With other arguments it may run."
REJECT_OR_CLOSE = "Reject it, or close it without deciding."
CLOSE = "Close it without deciding."

EDITED_AWAY = "{} edited this same call {} ago; the agent proposes the original again."

EXPIRED = "This same call waited before, and nobody decided on it in time."


def denied_now(view: CardView) -> None:
    """Warn if the policy now denies the call, so that it cannot be approved any more."""
    action, denial = view.action, view.denial
    if denial is None:
        return
    with st.container(gap="xsmall"):
        editable = "edit" in action.allowed and not denial.whole
        remedy = REJECT_OR_CLOSE if "reject" in action.allowed else CLOSE
        st.error(" ".join([DENIED, *([EDITABLE] if editable else []), remedy]), icon=":material/gpp_bad:")
        line(denial.reason)


def since_then(view: CardView) -> None:
    """Warn about facts that have changed since the proposal, and say if the call would fail now."""
    since = view.since
    if since.changed or since.fault:
        with st.container(gap="xsmall"):
            said = ([CHANGED] if since.changed else []) + ([WOULD_FAIL] if since.fault else [])
            st.warning(" ".join(said), icon=":material/update:")
            for fact in since.changed:
                line(f"{fact.name} was {show(fact.was)}, is {show(fact.now)}")
            if since.fault:
                line(since.fault)
    if since.unread:
        st.caption(UNREAD)
        line(since.unread)


def rejected_before(action: Action) -> None:
    """Warn if this call was already rejected in this turn."""
    times = action.notes.get(REJECTED_BEFORE)
    if times:
        st.warning(
            f"You are asked about this same call again: it was rejected in this turn, {times} of {MOST_REJECTIONS} "
            "times. After the last time, the turn ends.",
            icon=":material/repeat:",
        )


def expired_before(action: Action) -> None:
    """Warn if this same call was proposed before and expired; name that action."""
    before = action.notes.get(EXPIRED_BEFORE)
    if isinstance(before, Mapping):
        expired = ago(str(before.get("expired_at")))
        st.warning(f"{EXPIRED} It expired {expired} ago.", icon=":material/timer_off:")
        line(f"The earlier one is tool call {before.get('tool_call_id')}, attempt {before.get('attempt')}.")


def edited_before(view: CardView) -> None:
    """Warn if somebody in this thread edited this call before and it is proposed again; say what was approved."""
    edited = view.edited_away
    if edited is None:
        return
    who = "You" if identity.named() and edited.decided_by == identity.reviewer() else "Somebody else"
    st.warning(EDITED_AWAY.format(who, ago(edited.decided_at or "")), icon=":material/repeat:")
    line(f"Approved instead: {edited.summary}")
