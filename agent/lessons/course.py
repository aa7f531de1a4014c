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
    """The lesson of this name, or the first where there is none."""
    return next((one for one in COURSE if one.name == name), COURSE[0])
