"""A click does all that it does, whatever is clicked next."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def interrupted() -> None:
    """A page whose button is followed by another request while its callback is at work."""
    import streamlit as st
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    from pages.parts.frame import uninterrupted_callbacks  # noqa: F401

    def act() -> None:
        context = get_script_run_ctx()
        assert context is not None
        assert context.script_requests is not None
        context.script_requests.request_rerun(RerunData())
        st.session_state["begun"] = st.session_state.get("begun", 0) + 1
        st.query_params["begun"] = "yes"
        st.toast("Done.")
        st.session_state["done"] = st.session_state.get("done", 0) + 1

    st.session_state["drawn"] = st.session_state.get("drawn", 0) + 1
    st.button("Act", key="act", on_click=act)


def test_what_a_click_does_is_done_whole_and_once_though_another_comes_meanwhile() -> None:
    page = AppTest.from_function(interrupted).run()
    page.button(key="act").click().run()
    assert not page.exception
    assert page.session_state["begun"] == page.session_state["done"] == 1


def test_the_page_is_drawn_for_the_click_that_came_meanwhile() -> None:
    page = AppTest.from_function(interrupted).run()
    assert page.session_state["drawn"] == 1
    page.button(key="act").click().run()
    assert page.session_state["drawn"] == 2
