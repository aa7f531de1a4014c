"""Remembered rules: made on a card from the call in view, listed, revoked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from agent.review.actions import Action, Review
from agent.review.args import show
from agent.review.errors import ReviewError
from agent.review.rules import Foresight, Past, Rule, given
from pages.parts import session
from pages.parts.folds import MOST_ROWS, in_rows
from pages.parts.literal import line, literal
from pages.parts.named import named_first
from pages.parts.words import ago, clock, option, short, zone

SCOPES = {"thread": "In this thread", "agent": "In every thread of this agent"}
LASTING = {"15 minutes": "For 15 minutes", "today": "Until the end of today", "30 days": "For 30 days"}
MATCHED = {"bound": "exactly this", "free": "anything"}
TOO_MANY = f"No rule can be made here of a call with more than {MOST_ROWS} arguments."
FILLED_IN = "{}, filled in with the tool's default"
SHOWN = 5
"""Past calls that are shown of those a rule would have let run."""

# Making one.


def remember(review: Review, action: Action) -> None:
    """On a card: let calls like this one run without asking, after a look at what that would have meant so far."""
    with st.expander(
        "Remember…", key=session.action_key("remember", review, action), on_change="rerun"
    ) as opened:
        if not opened.open:
            return
        if in_rows(action.args)[1]:
            st.caption(TOO_MANY)
            return
        if reason := session.console().rules.forbidden(action):
            line(reason)
            return
        st.caption(
            "This call goes on waiting for your decision. Later calls like it then run without asking."
        )
        choices = _choices(review, action)
        foresight = _foresight(action, choices)
        st.button(
            "Remember this",
            key=session.action_key("save-rule", review, action),
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
            key=session.action_key(name, review, action),
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
        "by": session.reviewer(),
        "shown_digest": action.shown_digest,
    }


def _foresight(action: Action, choices: dict[str, Any]) -> Foresight | None:
    """Show what the rule would have allowed; None, and why, if no such rule can be made."""
    try:
        found = session.console().rules.foresee(
            action.key.thread_id, action.key.tool_call_id, **choices, zone=zone()
        )
    except ReviewError as error:
        line(str(error))
        return None
    st.caption(
        f"It would last until {clock(found.rule.expires_at)}. Of the last {found.looked_at} calls of this tool that "
        f"were asked about, it would have let {len(found.matches)} run without asking."
    )
    _past("Without asking", found.matches[:SHOWN])
    _past("Still asked about, the nearest first", found.near_misses)
    return found


def _past(title: str, calls: Sequence[Past]) -> None:
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
        rule = session.console().rules.make(
            action.key.thread_id, action.key.tool_call_id, **choices, zone=zone()
        )
    except ReviewError as error:
        session.flash_error("Nothing was remembered.", error)
        return
    session.flash("toast", f"Remembered until {clock(rule.expires_at)}.")


# Looking at them.


def rules(agent: str | None = None) -> None:
    """The list of rules, of all agents or of one: what each matches, who made it, until when, how often it was used."""
    st.markdown("**Remembered rules**")
    found = session.console().rules.all(agent)
    standing = [rule for rule in found if rule.ended is None]
    ended = [rule for rule in found if rule.ended is not None]
    if not standing:
        st.caption("Nothing is remembered now. A rule is made on a card, under “Remember…”.")
    for rule in standing:
        _rule(rule)
    if ended:
        with st.expander(f"Ended · {len(ended)}", key=session.key("ended-rules", agent)):
            for rule in ended:
                _rule(rule)


def _rule(rule: Rule) -> None:
    with st.container(border=True, gap="xsmall", key=session.key("rule", rule.rule_id)):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            literal(rule.tool, width="content")
            _standing(rule)
            where = "every thread" if rule.thread_id is None else f"thread {short(rule.thread_id)}"
            line(f"{rule.agent} · {where} · {rule.rule_id}", width="content")
            if rule.ended is None:
                st.button(
                    "Revoke",
                    key=session.key("revoke", rule.rule_id),
                    on_click=_revoke,
                    args=(rule,),
                )
        if rule.bound:
            st.caption("Exactly these arguments")
            literal("\n".join(f"{name}: {show(value)}" for name, value in rule.bound.items()))
        if rule.free:
            st.caption("Any value of these")
            literal("\n".join(rule.free))
        st.caption("No other argument" if rule.bound or rule.free else "No argument at all")
        line(f"{rule.made_by} made it {ago(rule.made_at)} ago · {_uses(rule)} · {_until(rule)}")


def _standing(rule: Rule) -> None:
    if rule.ended is not None:
        st.badge(str(rule.ended), color="gray", icon=":material/bookmark_remove:")
    elif reason := session.console().rules.disabled(rule):
        st.badge("allows nothing now", color="yellow", icon=":material/pause:")
        line(reason, width="content")
    else:
        st.badge("in force", color="green", icon=":material/bookmark:")


def _uses(rule: Rule) -> str:
    if rule.last_used_at is None:
        return "never used"
    return f"used {rule.uses}×, last {ago(rule.last_used_at)} ago"


def _until(rule: Rule) -> str:
    if rule.ended_at is None:
        return f"until {clock(rule.expires_at)}"
    return f"{rule.ended} by {rule.ended_by} {ago(rule.ended_at)} ago"


@named_first
def _revoke(rule: Rule) -> None:
    try:
        session.console().rules.revoke(rule.rule_id, by=session.reviewer())
    except ReviewError as error:
        session.flash_error("The rule was not revoked.", error)
        return
    session.flash("toast", "Revoked. Calls like it are asked about again.")
