"""Compare what a scenario expects with what happened. Every fault names the step and both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.review.arguments.args import dumps
from agent.scenarios.forbidden import forbids, forbids_awaited, named, shown
from agent.scenarios.format import (
    Awaited,
    Decision,
    Execution,
    ExpectedEnd,
    ExpectedResult,
    Never,
    ScenarioStep,
)
from agent.scenarios.matching import Matcher, args_fit

END = None
"""The step of a fault that was found at the end."""


@dataclass(frozen=True)
class Waits:
    """An action that waits for a decision."""

    tool: str
    args: Mapping[str, Any] | None
    allowed: tuple[str, ...]


@dataclass(frozen=True)
class Ran:
    """A call that was started, with its arguments."""

    tool: str
    args: Mapping[str, Any] | None
    ended: str
    result: str | None


@dataclass(frozen=True)
class Told:
    """The result of a call that the model was sent."""

    tool: str
    status: str | None
    text: str


@dataclass(frozen=True)
class Came:
    """Everything that happened in a scenario, from the record and from the world."""

    status: str
    answer: str | None
    executions: tuple[Ran, ...]
    results: tuple[Told, ...]
    world: tuple[str, ...]
    waits: tuple[Waits, ...] = ()
    """The actions that still wait for a decision."""
    contradictions: tuple[str, ...] = ()
    """Contradictions in the record, which are faults whatever is expected."""
    error: str | None = None
    """Why the last run failed, if it did."""


@dataclass(frozen=True)
class Mismatch:
    """A difference from what is expected. `step` counts from 1; None is the end."""

    step: int | None
    about: str
    expected: str
    got: str
    green: str = (
        "It is green once this is as expected. If the actual result is right, change the scenario's file."
    )
    """What to do for the scenario to become green."""


def waiting_faults(step: int | None, expected: Sequence[Awaited], waits: Sequence[Waits]) -> list[Mismatch]:
    """Return the first difference between the review that waits at this step and the expected one."""
    return _in_order(
        step, "waits for a decision", [_awaited(one) for one in expected], [_waits(one) for one in waits],
        lambda place: _is_awaited(expected[place], waits[place]),
    )  # fmt: skip


def end_faults(expected: ExpectedEnd, came: Came) -> list[Mismatch]:
    """Return everything that is wrong at the end."""
    return [*_status(expected, came), *_lists(expected, came), *_never(expected.never, came)] + [
        Mismatch(END, "the record", "that it does not contradict itself", text)
        for text in came.contradictions
    ]


def as_it_stands(step: ScenarioStep, never: Sequence[Never], waits: Sequence[Waits]) -> ScenarioStep | None:
    """Adapt a step to calls that must not run and that the policy refuses or asks about by now.

    Drop those that no longer wait, and reject those that wait unexpectedly. Returns None if nothing is left to do.
    """
    if step.review is None or (step.decisions is not None and len(step.decisions) != len(step.review)):
        return step
    decisions = step.decisions or [Decision(type="reject")] * len(step.review)
    left = [
        (one, decision)
        for one, decision in zip(step.review, decisions, strict=True)
        if not forbids_awaited(never, one) or any(_is_awaited(one, waiting) for waiting in waits)
    ]
    if step.review and not left:
        return None
    for place, waiting in enumerate(waits):
        expected = any(_is_awaited(one, waiting) for one, _ in left)
        if forbids(never, waiting.tool, waiting.args) and not expected:
            left.insert(place, (Awaited(tool=waiting.tool), Decision(type="reject")))
    made = {"review": [one for one, _ in left]}
    return step.model_copy(update=made | ({"decisions": [one for _, one in left]} if step.decisions else {}))


def _status(expected: ExpectedEnd, came: Came) -> Iterator[Mismatch]:
    if came.status != expected.status and not _is_held(expected.never, came):
        why = f": {came.error}" if came.error else ""
        yield Mismatch(END, "status", str(expected.status), f"{came.status}{why}")
    if expected.review is not None:
        yield from waiting_faults(END, expected.review, came.waits)
    if isinstance(expected.answer, Matcher) and not expected.answer.fits(came.answer):
        yield Mismatch(END, "answer", str(expected.answer), dumps(came.answer))


def _is_held(never: Sequence[Never], came: Came) -> bool:
    """Return whether it stopped to ask only about calls that must not run, and so has not run them."""
    return bool(came.waits) and all(forbids(never, one.tool, one.args) for one in came.waits)


def _lists(expected: ExpectedEnd, came: Came) -> Iterator[Mismatch]:
    if (executions := expected.executions) is not None:
        # A call that must not run is reported by `_never`; here it would shift all later comparisons.
        ran = [one for one in came.executions if not forbids(expected.never, one.tool, one.args)]
        yield from _in_order(
            END, "ran", [_execution(one) for one in executions], [_ran(one) for one in ran],
            lambda place: _has_run(executions[place], ran[place]),
        )  # fmt: skip
    if (results := expected.results) is not None:
        yield from _in_order(
            END, "sent to the model", [_result(one) for one in results], [_told(one) for one in came.results],
            lambda place: _was_told(results[place], came.results[place]),
        )  # fmt: skip
    if (world := expected.world) is not None:
        yield from _in_order(
            END, "changed in the world", world, came.world, lambda place: world[place] == came.world[place]
        )


def _never(forbidden: Sequence[Never], came: Came) -> Iterator[Mismatch]:
    for never in forbidden:
        green = (
            f"It is green once {named(never)}{'' if never.args else ','} no longer runs. Let the policy refuse it or "
            "ask about it; where the scenario's file approves it, reject it there."
        )
        for ran in came.executions:
            if forbids([never], ran.tool, ran.args):
                yield Mismatch(END, "must not run", f"never {named(never)}", _ran(ran), green)


def _in_order(
    step: int | None, about: str, expected: Sequence[str], got: Sequence[str], fits: Callable[[int], bool]
) -> list[Mismatch]:
    """Return the first difference of two lists, or what one has beyond the other."""
    for place in range(min(len(expected), len(got))):
        if not fits(place):
            return [Mismatch(step, f"{about} ({place + 1})", expected[place], got[place])]
    if len(expected) == len(got):
        return []
    place = min(len(expected), len(got))
    more, came = ("; ".join(calls[place:]) or "nothing more" for calls in (expected, got))
    return [Mismatch(step, f"{about} ({place + 1})", more, came)]


def _is_awaited(expected: Awaited, waits: Waits) -> bool:
    return (
        expected.tool == waits.tool
        and (expected.args is None or args_fit(expected.args, waits.args, whole=True))
        and (expected.allowed is None or set(expected.allowed) == set(waits.allowed))
    )


def _has_run(expected: Execution, ran: Ran) -> bool:
    return (
        expected.tool == ran.tool
        and (expected.args is None or args_fit(expected.args, ran.args, whole=True))
        and expected.ended in (None, ran.ended)
        and (not isinstance(expected.result, Matcher) or expected.result.fits(ran.result))
    )


def _was_told(expected: ExpectedResult, told: Told) -> bool:
    return (
        expected.tool == told.tool
        and expected.status in (None, told.status)
        and (not isinstance(expected.text, Matcher) or expected.text.fits(told.text))
    )


def _call(tool: str, args: Mapping[str, Any] | None) -> str:
    return tool if args is None else f"{tool}({shown(args)})"


def _awaited(one: Awaited) -> str:
    return _call(one.tool, one.args) + (f" [{', '.join(one.allowed)}]" if one.allowed is not None else "")


def _waits(one: Waits) -> str:
    return f"{_call(one.tool, one.args)} [{', '.join(one.allowed)}]"


def _execution(one: Execution) -> str:
    return _call(one.tool, one.args) + (f" {one.ended}" if one.ended else "") + _gives(one.result)


def _ran(one: Ran) -> str:
    return f"{_call(one.tool, one.args)} {one.ended}{_gives(Matcher('exact', one.result))}"


def _result(one: ExpectedResult) -> str:
    return one.tool + (f" {one.status}" if one.status else "") + _gives(one.text)


def _told(one: Told) -> str:
    return f"{one.tool} {one.status}{_gives(Matcher('exact', one.text))}"


def _gives(matcher: Any) -> str:
    return f" → {matcher}" if isinstance(matcher, Matcher) else ""
