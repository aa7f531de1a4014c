"""The simulation: what another policy would have asked about the actions on record, before anything is changed."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from agent.review.agents import Agent
from agent.review.policy import Tier
from agent.review.simulation import Judged, Simulation, line_of
from agent.review.text.counts import counted
from pages.parts.common.literal import line, literal
from pages.parts.common.words import clock, short, telling
from pages.parts.state import app, widget_keys

EXAMPLES = 10
DECIDED = {
    "approve": "a person approved it",
    "edit": "a person edited it",
    "reject": "a person rejected it",
    "respond": "a person answered it",
}
EVERYTHING = "ask-for-everything"


def simulation(agent: Agent) -> None:
    """Draw the tiers to try, how many past actions each policy would ask about, examples, and the line to write."""
    st.subheader("What would another policy have asked?")
    st.caption(
        "Nothing is saved here: policies live with the agent in Python. This judges the actions on record again."
    )
    tiers = _tiers(agent)
    everything = st.toggle("Ask for everything", key=EVERYTHING)
    found = app.console().queries.simulate(agent.name, tiers, ask_for_everything=everything)
    if not found.judged:
        st.caption("This agent has not proposed anything yet. Ask it for something in Chat, then come back.")
        return
    _counts(found)
    _warning(found)
    _examples(found)
    _lines(agent, tiers, everything)


def _tiers(agent: Agent) -> dict[str, Tier]:
    chosen: dict[str, Tier] = {}
    places = st.columns(len(agent.policy.tools), gap="small")
    for place, (name, entry) in enumerate(agent.policy.tools.items()):
        with places[place]:
            line(name)
            picked = st.selectbox(
                f"Tier to try for tool {place + 1}",
                list(Tier),
                index=list(Tier).index(entry.tier),
                key=widget_keys.key("tier", agent.name, name),
                label_visibility="collapsed",
            )
            chosen[name] = picked or entry.tier
    return chosen


def _counts(found: Simulation) -> None:
    total = len(found.judged)
    with st.container(horizontal=True, gap="large", key="simulated"):
        st.metric("Actions on record", total)
        st.metric("Asked at the time", found.recorded[Tier.ASK])
        st.metric("Asked under the current policy", found.now[Tier.ASK])
        st.metric(
            "Asked with this edit",
            found.edited[Tier.ASK],
            delta=found.edited[Tier.ASK] - found.now[Tier.ASK],
            delta_color="off",
        )
        st.metric("Denied with this edit", found.edited[Tier.DENY])
    if found.unreadable:
        st.caption(f"{counted(found.unreadable, 'more action')} cannot be judged, since the data was erased.")


def _warning(found: Simulation) -> None:
    """Warn about the calls that nobody would be asked about any more, and say which need a second look."""
    freed = found.freed
    if not freed:
        return
    decided = Counter(one.past.decided for one in freed)
    told = [
        f"a person rejected {decided['reject']}" if decided["reject"] else "",
        f"a person edited {decided['edit']} before it ran" if decided["edit"] else "",
        f"{undoable} cannot be undone" if (undoable := sum(one.irreversible for one in freed)) else "",
    ]
    of_these = ", ".join(filter(None, told))
    text = f"{len(freed)} of the actions on record would run without anybody being asked"
    st.warning(f"{text}. Of them, {of_these}." if of_these else f"{text}.", icon=":material/warning:")


def _examples(found: Simulation) -> None:
    if not found.changed:
        st.caption("With this edit, every one of them would be treated as it is now.")
        return
    st.markdown(f"**Treated differently** · {len(found.changed)}")
    for one in found.changed[:EXAMPLES]:
        line(_told(one))
    if len(found.changed) > EXAMPLES:
        st.caption(f"and {len(found.changed) - EXAMPLES} more")


def _told(one: Judged) -> str:
    args = one.past.args if one.past.args is not None else one.past.proposed
    first = telling(args if isinstance(args, dict) else {"": args})
    about = [short(one.past.thread_id), clock(one.past.at), DECIDED.get(one.past.decided, "")]
    if one.is_freed and one.irreversible:
        about.append("cannot be undone")
    return f"{one.now} → {one.edited} · {one.past.tool}  {first}\n{' · '.join(filter(None, about))}"


def _lines(agent: Agent, tiers: dict[str, Tier], everything: bool) -> None:
    edited = {
        name: Tier.ASK if everything and tiers[name] in (Tier.AUTO, Tier.LOG) else tiers[name]
        for name in agent.policy.tools
    }
    changed = {name: tier for name, tier in edited.items() if tier is not agent.policy.tools[name].tier}
    if not changed:
        return
    st.markdown("**To make this change**, write this in Python and restart the console:")
    for name, tier in changed.items():
        entry = agent.policy.tools[name]
        line(f"In {entry.where}:")
        literal(line_of(name, entry.tier, tier))
