"""The course: a lesson's text and steps, beside the graphs and what goes over the wire."""

from __future__ import annotations

import secrets

import streamlit as st

from agent.lessons.course import COURSE, lesson
from agent.lessons.lesson import Lesson
from agent.lessons.playing import STAGES
from pages.parts import session
from pages.parts.lesson_stage import stage_view
from pages.parts.lesson_steps import steps

LESSON = "lesson"
STAGE = "stage"
"""In the address: whose stage of the lesson it is, so that a reload finds it again."""


def main() -> None:
    chosen = lesson(session.in_address(LESSON))
    name = session.in_address(STAGE) or secrets.token_urlsafe(8)
    session.put_in_address(LESSON, chosen.name)
    session.put_in_address(STAGE, name)
    _contents(chosen, name)
    left, right = st.columns(2, gap="medium")
    with left:
        steps(chosen, name)
    with right:
        stage_view(STAGES.of(chosen, name))


def _contents(chosen: Lesson, name: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="contents"):
        for number, one in enumerate(COURSE, start=1):
            st.button(
                f"{number} · {one.title.partition(':')[0]}",
                key=session.key("lesson", one.name),
                type="primary" if one is chosen else "secondary",
                help=one.title,
                on_click=session.put_in_address,
                args=(LESSON, one.name),
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
