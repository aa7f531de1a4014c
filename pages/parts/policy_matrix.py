"""An agent's policy as a table: what each tool may do, who decides what, and what harm it can do."""

from __future__ import annotations

from datetime import timedelta

import streamlit as st

from agent.review.agents import Agent
from agent.review.args import show
from agent.review.conditions import described
from agent.review.policy import Policy, Tier, ToolPolicy
from pages.parts.literal import line, literal
from pages.parts.words import TIER_COLOR, TIER_ELSEWHERE, TIER_ICON, TIER_WORDS

WIDTHS = [3, 4, 5, 5]


def matrix(agent: Agent) -> None:
    """One row for each tool; what is not in it is denied."""
    st.caption(f"Policy {agent.policy.version} · a tool that no entry names is denied")
    for name, entry in agent.policy.tools.items():
        with st.container(border=True):
            _row(agent.policy, name, entry)


def _row(policy: Policy, name: str, entry: ToolPolicy) -> None:
    tool, decides, why, harm = st.columns(WIDTHS, gap="small")
    with tool, st.container(gap="xsmall"):
        literal(name)
        st.badge(entry.tier, color=TIER_COLOR[entry.tier], icon=TIER_ICON[entry.tier])
    # Each cell names itself: on a narrow screen the cells stand below each other.
    with decides, st.container(gap="xsmall"):
        st.caption("Who decides")
        line(TIER_WORDS[entry.tier])
        if entry.may_ask:
            line(f"a person may {', '.join(entry.allowed)}{_clocks(policy, entry)}")
        elsewhere = TIER_ELSEWHERE[entry.tier]
        line(f"elsewhere: {elsewhere}{', by its arguments' if entry.cases else ''}")
    with why, st.container(gap="xsmall"):
        st.caption("Why")
        line(entry.why or "The policy does not say why.")
        for case in entry.cases:
            line(f"{case.tier} where {show(described(case.when))}: {case.why}")
    with harm, st.container(gap="xsmall"):
        st.caption("Harm, and how it is undone")
        line(harm_of(entry))
        if entry.precondition:
            line(f"Only if: {entry.precondition.words}")


def harm_of(entry: ToolPolicy) -> str:
    """What a call can do, and whether it can be undone."""
    if entry.tier is Tier.DENY:
        return "None: it never runs."
    if entry.effects is False:
        return "None: it changes nothing."
    if entry.effects is None:
        return "The policy does not say whether it changes anything."
    if entry.irreversible:
        typed = f" Its {entry.dangerous} has to be typed again." if entry.dangerous else ""
        return f"It cannot be undone.{typed}"
    return (
        f"It can be undone. {entry.undo}".strip()
        if entry.undo
        else "The policy does not say how it is undone."
    )


def _clocks(policy: Policy, entry: ToolPolicy) -> str:
    approve, execute = policy.approve_by_of(entry), policy.execute_by_of(entry)
    within = f" within {_span(approve)}" if approve else ""
    return within + (f"; an approval stays good for {_span(execute)}" if execute else "")


def _span(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    for size, unit in ((3_600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
