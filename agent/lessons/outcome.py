"""Say what a step changed, by comparing graphs, console and world before and after it."""

from __future__ import annotations

from dataclasses import dataclass

from agent.lessons.stage import OURS, Stage, StepOutcome
from agent.review.actions import ActionState, Key

MAX_LINE = 160
"""The longest looked-up value, in characters, that is repeated with its name."""


@dataclass(frozen=True)
class Mark:
    """What existed at one point: counts, and the actions' states."""

    wires: dict[str, int]
    raised: dict[str, int]
    states: dict[Key, ActionState]
    refusals: int
    sent: int
    shown: int


def mark(stage: Stage) -> Mark:
    """Take a mark of what exists now."""
    return Mark(
        {**{title: len(thread.wire) for title, thread in stage.plain.items()}, OURS: len(stage.wire)},
        {title: len(thread.raised) for title, thread in stage.plain.items()},
        {one.key: one.state for one in stage.actions},
        len(stage.refusals),
        len(stage.world.outbox()),
        len(stage.shown),
    )


def since(before: Mark, stage: Stage) -> StepOutcome:
    """Return what was added since the mark `before`."""
    now = mark(stage)
    wires = [title for title, count in now.wires.items() if count > before.wires.get(title, 0)]
    said = [f"{title.partition(':')[0]}: {_did(title, before, stage)}." for title in wires]
    if more := now.sent - before.sent:
        said.append(f"{more} e-mail{'s' * (more > 1)} more in the outbox, {now.sent} in total.")
    if looked := "; ".join(_told(one.what, one.value) for one in stage.shown[before.shown :]):
        said.append(f"Looked up: {looked}.")
    return StepOutcome(" ".join(said) or "Nothing changed.", frozenset(wires))


def _did(title: str, before: Mark, stage: Stage) -> str:
    """Say what one agent did: its calls' states, errors and refusals, and the node it is at now."""
    inside = dict(stage.pictures())[title]
    place = f"is at {', '.join(inside.at)}" if inside.at else "has come to its end"
    return "; ".join([*(_ours(before, stage) if title == OURS else _raised(title, before, stage)), place])


def _ours(before: Mark, stage: Stage) -> list[str]:
    refused = [f"the answer was refused ({code})" for code in stage.refusals[before.refusals :]]
    fates = [f"{one.tool} {one.state}" for one in stage.actions if before.states.get(one.key) != one.state]
    return [*refused, *([", ".join(fates)] if fates else [])]


def _raised(title: str, before: Mark, stage: Stage) -> list[str]:
    raised = [one for one in stage.plain[title].raised[before.raised.get(title, 0) :] if one]
    counts = {error: raised.count(error) for error in raised}
    return [f"raised {error}{f', {count} times' * (count > 1)}" for error, count in counts.items()]


def _told(what: str, value: str) -> str:
    one_line = " ".join(value.split())
    return f"{what}: {one_line}" if len(one_line) <= MAX_LINE else what
