"""A figure: what was measured, against what, and what it had to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

HEAD = "| figure | this console | against | ratio | must be | |\n|---|--:|--:|--:|--:|---|"


@dataclass(frozen=True)
class Amount:
    """A measured quantity, in `unit`."""

    number: float
    unit: str

    def __str__(self) -> str:
        return f"{_short(self.number)} {self.unit}".rstrip()


@dataclass(frozen=True)
class Target:
    """The bound of a figure: of its ratio, or of the amount itself where it is held against nothing."""

    bound: float
    at_least: bool = False

    def reached(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {_short(self.bound)}"


@dataclass(frozen=True)
class Figure:
    """One line of the table. One without a target explains another; one that could not be measured says why."""

    name: str
    ours: Amount | None
    target: Target | None
    against: str = ""
    theirs: Amount | None = None
    why_not: str = ""

    @property
    def value(self) -> float | None:
        """What the target bounds: the ratio to what it is held against, or the amount itself."""
        if self.ours is None or (self.against and self.theirs is None):
            return None
        return self.ours.number / self.theirs.number if self.theirs else self.ours.number

    @property
    def verdict(self) -> str:
        if self.value is None:
            return f"not measured: {self.why_not}"
        if self.target is None:
            return "for comparison"
        return "reached" if self.target.reached(self.value) else "not reached"

    def row(self) -> str:
        against = f"{self.against}: {self.theirs}" if self.theirs else self.against
        ratio = f"{self.value:.3g}" if self.theirs and self.value is not None else ""
        cells = (self.name, self.ours or "", against, ratio, self._bound(), self.verdict)
        return "| " + " | ".join(map(str, cells)) + " |"

    def _bound(self) -> str:
        if self.target is None:
            return ""
        return str(self.target) if self.against or self.ours is None else f"{self.target} {self.ours.unit}"

    def kept(self) -> dict[str, Any]:
        """The figure as JSON keeps it."""
        return {
            "figure": self.name,
            "ours": self.ours and vars(self.ours),
            "against": self.against or None,
            "theirs": self.theirs and vars(self.theirs),
            "value": self.value,
            "target": self.target and vars(self.target),
            "verdict": self.verdict,
        }


def table(figures: list[Figure]) -> str:
    return "\n".join([HEAD, *(figure.row() for figure in figures)])


def most(bound: float) -> Target:
    return Target(bound)


def least(bound: float) -> Target:
    return Target(bound, at_least=True)


def _short(number: float) -> str:
    if number == 0 or abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}"
