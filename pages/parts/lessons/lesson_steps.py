"""A lesson's text, its steps with the code that runs, and its check."""

from __future__ import annotations

from itertools import zip_longest

import streamlit as st

from agent.lessons.course import after
from agent.lessons.lesson import Lesson, LessonStep
from agent.lessons.playing import STAGES
from agent.lessons.stage import StepOutcome
from agent.review.text.deception import visible
from pages.parts.common.literal import line
from pages.parts.state import address, flash, widget_keys


def steps(lesson: Lesson, name: str) -> None:
    """Draw the text, every step up to the next one to take, and, once all are taken, what the check finds."""
    st.subheader(lesson.title)
    st.markdown(lesson.text)
    outcomes = STAGES.of(lesson, name).outcomes
    for number, (step, outcome) in enumerate(zip_longest(lesson.steps[: len(outcomes) + 1], outcomes)):
        _step(lesson, name, number, step, outcome)
    if len(outcomes) == len(lesson.steps):
        _check(lesson, name)
        _next(lesson)
    else:
        st.caption(f"Step {len(outcomes) + 1} of {len(lesson.steps)}")


def _step(lesson: Lesson, name: str, number: int, step: LessonStep, outcome: StepOutcome | None) -> None:
    taken = outcome is not None
    field = widget_keys.key("written", lesson.name, name, number)
    with st.container(border=True):
        st.markdown(step.text)
        with st.expander("The code that runs", expanded=not taken):
            st.code(visible(step.code), language="python", wrap_lines=True)
        if step.asks:
            st.text_area(step.asks, step.begin, key=field, disabled=taken)
        if outcome is not None:
            st.badge("done", color="green", icon=":material/check:")
            line(outcome.said)
            return
        st.button(step.label, key="step", type="primary", on_click=_take, args=(lesson, name, number, field))


def _take(lesson: Lesson, name: str, number: int, field: str) -> None:
    written = str(st.session_state.get(field) or "")
    refused = STAGES.take(lesson, name, number, written)
    if refused is not None:
        flash.flash_error("This was refused, and nothing was changed.", refused)


def _check(lesson: Lesson, name: str) -> None:
    findings = STAGES.findings(lesson, name)
    with st.container(border=True, key="check"):
        st.markdown("**What happened**, according to the record, the world and the graphs")
        for finding in findings:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                if finding.holds:
                    st.badge("true", color="green", icon=":material/check_circle:")
                else:
                    st.badge("not true", color="red", icon=":material/cancel:")
                line(finding.said, width="content")
        if all(finding.holds for finding in findings):
            st.success(lesson.ends)
        else:
            st.warning("Not everything turned out as the lesson describes. Reset it, and try it another way.")


def _next(lesson: Lesson) -> None:
    following = after(lesson)
    if following is None:
        st.caption("This was the last lesson.")
        return
    st.button(
        f"Next lesson: {following.title.partition(':')[0]}",
        key="next-lesson",
        type="primary",
        icon=":material/arrow_forward:",
        on_click=address.put_in_address,
        args=(address.LESSON, following.name),
    )
