"""For those who test agents: scenarios run, and payloads read."""

from __future__ import annotations

import streamlit as st

from pages.parts.payload import payload
from pages.parts.scenario_list import scenario_list
from pages.parts.words import option

VIEWS = ("Scenarios", "Paste a payload")


def main() -> None:
    st.segmented_control(
        "View",
        VIEWS,
        default=VIEWS[0],
        key="qa-view",
        format_func=option,
        label_visibility="collapsed",
        required=True,
        bind="query-params",
    )
    if st.session_state["qa-view"] == VIEWS[1]:
        payload()
    else:
        scenario_list()


main()
