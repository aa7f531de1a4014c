"""The lessons in their order."""

from __future__ import annotations

from agent.lessons import again, edit, pause, reject, several, stuck
from agent.lessons.lesson import Lesson

COURSE: tuple[Lesson, ...] = (
    pause.LESSON,
    edit.LESSON,
    reject.LESSON,
    several.LESSON,
    again.LESSON,
    stuck.LESSON,
)


def lesson(name: str | None) -> Lesson:
    """Return the lesson of this name, or the first if no lesson has it."""
    return next((one for one in COURSE if one.name == name), COURSE[0])


def after(one: Lesson) -> Lesson | None:
    """Return the next lesson, or None after the last."""
    place = COURSE.index(one) + 1
    return COURSE[place] if place < len(COURSE) else None
