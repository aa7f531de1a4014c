"""“You are …”: the name a browser decides under, asked for once, kept by the browser, recorded as unverified."""

from __future__ import annotations

import streamlit as st

from agent.review.errors import InvalidMessage
from agent.review.people import MAX_NAME, check_name
from pages.parts.common.literal import line
from pages.parts.frame.cookies import cookies
from pages.parts.frame.shortcuts import keys, keys_button
from pages.parts.frame.stop_all import stop_all
from pages.parts.state import flash, identity

WHY = (
    "The record shows this name, as unverified, on what you do here. This browser keeps it and does not ask again. "
    "Nothing was done yet: use a name, then try again."
)


def who() -> None:
    """Draw the name and the way to change it; ask for it if something was about to be recorded without one."""
    with st.container(gap=None):  # so that elements that are only scripts take no room
        with st.container(
            horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"
        ):
            named = f"You are {identity.reviewer()} (unverified)"
            line(named if identity.named() else "You are not named yet", width="content")
            with st.popover("Change", type="tertiary", key="change-name", on_change="rerun") as opened:
                if opened.open:
                    _change()
            pressed = keys_button()
            stop_all()
        keys(pressed)
        cookies()
    if identity.name_is_asked():
        _ask()


@st.dialog("Who are you?", on_dismiss=identity.stop_asking)
def _ask() -> None:
    if identity.named():
        st.rerun()  # a dialog redraws only itself
    st.caption(WHY)
    with st.form("first", border=False):
        _field("first-name")
        sent = st.form_submit_button(
            "Use this name", key="first-use-name", type="primary", on_click=_try, args=("first-name",)
        )
    if sent and (fault := _take("first-name")):
        st.error("That is not a name.")
        line(fault)


def _change() -> None:
    _field("name")
    st.button("Use this name", key="use-name", on_click=_use, args=("name",))


def _field(key: str) -> None:
    st.text_input("Your name", value=identity.reviewer(), key=key, max_chars=MAX_NAME)


def _use(key: str) -> None:
    if fault := _take(key):
        flash.flash("error", "That is not a name.", fault)


def _try(key: str) -> None:
    _take(key)  # what is wrong with it is said where the dialog is drawn


def _take(key: str) -> str:
    """Confirm the typed name for this session, or return what is wrong with it; "" if nothing is."""
    try:
        identity.confirm_name(check_name(str(st.session_state[key] or "")))
    except InvalidMessage as error:
        return str(error)
    return ""
