"""The stages open in this process: one per learner and lesson, of which the most recently used are kept."""

from __future__ import annotations

import threading
from collections import OrderedDict

from agent.lessons.lesson import CheckFinding, Lesson
from agent.lessons.outcome import mark, since
from agent.lessons.stage import Stage
from agent.review.errors import ReviewError

MOST = 40
"""The most stages open at once; a new one closes the least recently used."""

Place = tuple[str, str]


class Stages:
    """Stages by lesson and by the name in a learner's address."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._turn = most, threading.Lock()
        self._open: OrderedDict[Place, Stage] = OrderedDict()

    def of(self, lesson: Lesson, name: str) -> Stage:
        """Return the learner's stage of this lesson; open one if none is open."""
        with self._turn:
            place = (lesson.name, name)
            if place not in self._open:
                while len(self._open) >= self._most:
                    _close(self._open.popitem(last=False)[1])
                self._open[place] = Stage()
            self._open.move_to_end(place)
            return self._open[place]

    def reset(self, lesson: Lesson, name: str) -> None:
        """Close the stage; the next use opens a new one."""
        with self._turn:
            stage = self._open.pop((lesson.name, name), None)
        if stage is not None:
            _close(stage)

    def take(self, lesson: Lesson, name: str, number: int, given: str) -> ReviewError | None:
        """Take step `number`, counted from 0, if it is the next one; return the refusal, if any.

        A second click on the same step therefore does nothing.
        """
        stage = self.of(lesson, name)
        with stage.turn:
            if stage.done != number:
                return None
            before = mark(stage)
            try:
                lesson.steps[number].do(stage, given)
            except ReviewError as error:
                return error
            stage.outcomes.append(since(before, stage))
            return None

    def finished(self, lesson: Lesson, name: str) -> bool:
        """Return whether the learner has taken every step, on a stage that is still open."""
        with self._turn:
            stage = self._open.get((lesson.name, name))
        return stage is not None and stage.done == len(lesson.steps)

    def findings(self, lesson: Lesson, name: str) -> list[CheckFinding]:
        """Return what the check finds; nothing until every step was taken."""
        stage = self.of(lesson, name)
        with stage.turn:
            return lesson.check(stage) if stage.done == len(lesson.steps) else []

    def close(self) -> None:
        """Close every stage."""
        with self._turn:
            while self._open:
                _close(self._open.popitem()[1])


def _close(stage: Stage) -> None:
    with stage.turn:
        stage.close()


STAGES = Stages()
"""The stages of this process."""
