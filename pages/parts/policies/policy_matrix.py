"""An agent's policy as a table: each tool's tier, who decides, why, and what harm a call can do."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import streamlit as st

from agent.review.agents import Agent
from agent.review.arguments.args import show
from agent.review.conditions import described
from agent.review.policy import Policy, Tier, ToolPolicy
from pages.parts.common.literal import line, literal
from pages.parts.common.words import TIER_COLOR, TIER_ELSEWHERE, TIER_ICON, TIER_WORDS

WIDTHS = [3, 4, 5, 5]


def matrix(agent: Agent) -> None:
    """Draw one row per tool, and what the tiers mean."""
    st.caption(
        "What this agent may run by itself, what a person is asked about first, and what never runs. "
        "A tool that is not listed here never runs."
    )
    for name, entry in agent.policy.tools.items():
        with st.container(border=True):
            _row(agent.policy, name, entry)
    st.caption(f"Version of this policy, as the record names it: {agent.policy.version}")
    with st.expander("What the tiers mean, and what other systems call them"):
        for tier in Tier:
            line(f"{tier}: {TIER_WORDS[tier]}. Other systems call it {TIER_ELSEWHERE[tier]}.")


def _row(policy: Policy, name: str, entry: ToolPolicy) -> None:
    tool, decides, why, harm = st.columns(WIDTHS, gap="small")
    with tool, st.container(gap="xsmall"):
        literal(name)
        st.badge(entry.tier, color=TIER_COLOR[entry.tier], icon=TIER_ICON[entry.tier])
    # Each cell has its own title: on a narrow screen the cells are stacked.
    with decides, st.container(gap="xsmall"):
        st.caption("Who decides")
        words = TIER_WORDS[entry.tier]
        line(f"It {words}{', except for some arguments' if entry.cases else ''}.")
        if entry.may_ask:
            line(f"A person may {_or(entry.allowed)}{_clocks(policy, entry)}.")
            if policy.ends_turn(name):
                line("If nobody decides in time, the turn ends.")
    with why, st.container(gap="xsmall"):
        st.caption("Why")
        line(entry.why or "The policy does not say why.")
        for case in entry.cases:
            line(
                f"{case.tier}: it {TIER_WORDS[case.tier]} where {show(described(case.when))}. {case.why}".strip()
            )
    with harm, st.container(gap="xsmall"):
        st.caption("Harm, and how it is undone")
        line(harm_of(entry))
        if entry.precondition:
            line(f"Only if: {entry.precondition.words}")


def harm_of(entry: ToolPolicy) -> str:
    """Return, as a sentence, what harm a call can do and how it is undone."""
    if entry.tier is Tier.DENY:
        return "None: it never runs."
    if entry.effects is False:
        return "None: it changes nothing."
    if entry.effects is None:
        return "The policy does not say whether it changes anything."
    if entry.irreversible:
        typed = f" The value of “{entry.dangerous}” has to be typed again." if entry.dangerous else ""
        return f"It cannot be undone.{typed}"
    return entry.undo or "The policy does not say how it is undone."


def _or(names: Sequence[str]) -> str:
    """Return the names as a list in words: `approve, edit or reject`."""
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _clocks(policy: Policy, entry: ToolPolicy) -> str:
    approve, execute = policy.approve_by_of(entry), policy.execute_by_of(entry)
    within = f" within {_span(approve)}" if approve else ""
    return within + (f", and an approval is valid for {_span(execute)}" if execute else "")


def _span(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    for size, unit in ((3_600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
