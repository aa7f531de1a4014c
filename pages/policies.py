"""Each agent's policy, its remembered rules, and what another policy would have asked."""

from __future__ import annotations

import streamlit as st

from pages.parts.policies.policy_matrix import matrix
from pages.parts.policies.rules import rules
from pages.parts.policies.simulation import simulation
from pages.parts.state import app


def main() -> None:
    agents = app.console().queries.agents()
    if not agents:
        st.caption("No agent is served.")
        return
    chosen = st.radio("Agent", agents, key="policy", bind="query-params", horizontal=True)
    agent = app.console().queries.agent(str(chosen))
    if agent.gates_itself:
        st.caption(
            "This is an external agent that gates itself, so no policy of this console applies to it. "
            "What it does not ask about is recorded as not gated."
        )
        return
    matrix(agent)
    rules(agent.name)
    simulation(agent)


main()
