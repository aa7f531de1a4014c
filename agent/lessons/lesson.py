"""The types that make up a lesson."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

from agent.lessons.stage import Stage


@dataclass(frozen=True)
class LessonStep:
    """One thing to do, and the code that does it."""

    text: str
    """What to do and what to look at, as trusted Markdown."""
    label: str
    """The button's label."""
    do: Callable[[Stage, str], None]
    """Runs the step with the text of its field, or "" without a field."""
    asks: str = ""
    """The label of the step's text field; "" for no field."""
    begin: str = ""
    """The initial text of that field."""
    shows: tuple[Callable[..., Any], ...] = ()
    """More code that this step runs, to be shown with it."""

    @property
    def code(self) -> str:
        """The source code of what runs."""
        return "\n".join(dedent(inspect.getsource(one)) for one in (*self.shows, self.do)).rstrip()


@dataclass(frozen=True)
class CheckFinding:
    """The result of one check."""

    holds: bool
    said: str
    """A sentence that is true if it holds."""


@dataclass(frozen=True)
class Lesson:
    name: str
    """Part of the lesson's address."""
    title: str
    text: str
    steps: Sequence[LessonStep]
    check: Callable[[Stage], list[CheckFinding]]
    """Checks what happened in the record, the world and the graphs."""
    ends: str
    """The point to remember."""
