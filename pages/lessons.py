"""The course: a lesson's text and steps, next to the graphs and what goes over the wire."""

from __future__ import annotations

import secrets

import streamlit as st

from agent.lessons.course import COURSE, lesson
from agent.lessons.lesson import Lesson
from agent.lessons.playing import STAGES
from pages.parts.lessons.lesson_stage import stage_view
from pages.parts.lessons.lesson_steps import steps
from pages.parts.state import address, widget_keys


def main() -> None:
    chosen = lesson(address.in_address(address.LESSON))
    name = _stage()
    address.put_in_address(address.LESSON, chosen.name)
    address.put_in_address(address.STAGE, name)
    _contents(chosen, name)
    left, right = st.columns(2, gap="medium")
    with left:
        steps(chosen, name)
    with right:
        stage_view(STAGES.of(chosen, name))


def _stage() -> str:
    """Return the name of this learner's stages, made at the first visit."""
    known = address.in_address(address.STAGE) or st.session_state.get(address.STAGE)
    name = st.session_state[address.STAGE] = str(known or secrets.token_urlsafe(8))
    return name


def _contents(chosen: Lesson, name: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="contents"):
        for number, one in enumerate(COURSE, start=1):
            st.button(
                f"{number} · {one.title.partition(':')[0]}",
                key=widget_keys.key("lesson", one.name),
                type="primary" if one is chosen else "secondary",
                icon=":material/check_circle:" if STAGES.finished(one, name) else None,
                help=one.title,
                on_click=address.put_in_address,
                args=(address.LESSON, one.name),
            )
        st.button(
            "Reset this lesson",
            key="reset-lesson",
            type="tertiary",
            icon=":material/restart_alt:",
            on_click=STAGES.reset,
            args=(chosen, name),
        )


main()
