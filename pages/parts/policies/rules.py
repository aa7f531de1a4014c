"""The list of remembered rules, with a button to revoke each."""

from __future__ import annotations

import streamlit as st

from agent.review.arguments.args import show
from agent.review.errors import ReviewError
from agent.review.rules import Rule
from pages.parts.common.clicks import named_first
from pages.parts.common.literal import line, literal
from pages.parts.common.words import ago, clock, short
from pages.parts.state import app, flash, identity, widget_keys


def rules(agent: str | None = None) -> None:
    """Draw the rules of all agents, or of one: what each matches, its maker, its expiry, and how often it was used."""
    st.markdown("**Remembered rules**")
    found = app.console().rules.all(agent)
    standing = [rule for rule in found if rule.ended is None]
    ended = [rule for rule in found if rule.ended is not None]
    if not standing:
        st.caption("Nothing is remembered now. A rule is made on a card, under “Remember…”.")
    for rule in standing:
        _rule(rule)
    if ended:
        with st.expander(f"Ended · {len(ended)}", key=widget_keys.key("ended-rules", agent)):
            for rule in ended:
                _rule(rule)


def _rule(rule: Rule) -> None:
    with st.container(border=True, gap="xsmall", key=widget_keys.key("rule", rule.rule_id)):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            literal(rule.tool, width="content")
            _standing(rule)
            where = "every thread" if rule.thread_id is None else f"thread {short(rule.thread_id)}"
            line(f"{rule.agent} · {where} · {rule.rule_id}", width="content")
            if rule.ended is None:
                st.button(
                    "Revoke",
                    key=widget_keys.key("revoke", rule.rule_id),
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
    elif reason := app.console().rules.disabled(rule):
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
        app.console().rules.revoke(rule.rule_id, by=identity.reviewer())
    except ReviewError as error:
        flash.flash_error("The rule was not revoked.", error)
        return
    flash.flash("toast", "Revoked. Calls like it are asked about again.")
