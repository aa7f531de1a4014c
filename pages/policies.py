"""What each agent may do unasked, what is asked about, why; what is remembered; and what another policy would have asked."""

from __future__ import annotations

import streamlit as st

from pages.parts import session
from pages.parts.policy_matrix import matrix
from pages.parts.rules import rules
from pages.parts.simulation import simulation


def main() -> None:
    agents = session.console().queries.agents()
    if not agents:
        st.caption("No agent is served.")
        return
    chosen = st.radio("Agent", agents, key="policy", bind="query-params", horizontal=True)
    agent = session.console().queries.agent(str(chosen))
    if agent.own_gating:
        st.caption(
            "This agent is of another make and gates itself, so no policy of this console applies to it. "
            "What it does not ask about is recorded as not gated."
        )
        return
    matrix(agent)
    rules(agent.name)
    simulation(agent)


main()
