"""What a lesson is made of."""

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
    """What to do and what to look at, as Markdown of ours."""
    label: str
    """The button's."""
    do: Callable[[Stage, str], None]
    """Runs the step; the text is what was written in the field, "" where there is none."""
    asks: str = ""
    """The label of the field to write in; "" if there is none."""
    begin: str = ""
    """What stands in that field at first."""
    shows: tuple[Callable[..., Any], ...] = ()
    """Further code that this step runs, and that is worth reading beside it."""

    @property
    def code(self) -> str:
        """The source of what runs."""
        return "\n".join(dedent(inspect.getsource(one)) for one in (*self.shows, self.do)).rstrip()


@dataclass(frozen=True)
class CheckFinding:
    """One thing that the check looked at."""

    holds: bool
    said: str
    """A sentence that is true where it holds."""


@dataclass(frozen=True)
class Lesson:
    name: str
    """Stands in the address."""
    title: str
    text: str
    steps: Sequence[LessonStep]
    check: Callable[[Stage], list[CheckFinding]]
    """Looks at what happened: in the record, in the world, in the graphs."""
    ends: str
    """What there is to remember."""
