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


def main() -> None:
    chosen = lesson(session.in_address(session.LESSON))
    name = _stage()
    session.put_in_address(session.LESSON, chosen.name)
    session.put_in_address(session.STAGE, name)
    _contents(chosen, name)
    left, right = st.columns(2, gap="medium")
    with left:
        steps(chosen, name)
    with right:
        stage_view(STAGES.of(chosen, name))


def _stage() -> str:
    """The name of this learner's stages."""
    known = session.in_address(session.STAGE) or st.session_state.get(session.STAGE)
    name = st.session_state[session.STAGE] = str(known or secrets.token_urlsafe(8))
    return name


def _contents(chosen: Lesson, name: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="contents"):
        for number, one in enumerate(COURSE, start=1):
            st.button(
                f"{number} · {one.title.partition(':')[0]}",
                key=session.key("lesson", one.name),
                type="primary" if one is chosen else "secondary",
                icon=":material/check_circle:" if STAGES.finished(one, name) else None,
                help=one.title,
                on_click=session.put_in_address,
                args=(session.LESSON, one.name),
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
