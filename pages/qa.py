"""The page for people who test agents: run scenarios, and read pasted payloads."""

from __future__ import annotations

import streamlit as st

from pages.parts.qa.payload import payload
from pages.parts.qa.scenario_list import scenario_list

VIEWS = ("Scenarios", "Paste a payload")


def main() -> None:
    st.radio("View", VIEWS, key="qa-view", label_visibility="collapsed", bind="query-params", horizontal=True)
    if st.session_state["qa-view"] == VIEWS[1]:
        payload()
    else:
        scenario_list()


main()
