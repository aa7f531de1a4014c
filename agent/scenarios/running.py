"""Run one scenario. It acts only through the console's own use cases and bypasses nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from agent.bootstrap import Opened
from agent.console import Console, View
from agent.review.errors import ReviewError
from agent.review.events import EventKind
from agent.review.threads import Run, Status
from agent.sandbox import Scratch
from agent.scenarios.comparing import (
    Came,
    Mismatch,
    Ran,
    Told,
    Waits,
    as_it_stands,
    end_faults,
    waiting_faults,
)
from agent.scenarios.format import Scenario, ScenarioStep, span

SCENARIO_THREAD = "scenario"
MAX_RUN_SECONDS = 60.0
"""Seconds that one run may take before the scenario is abandoned."""
MANY = 100_000
NOT_RUN = "It is green once it runs to its end with the expected results."


@dataclass(frozen=True)
class Report:
    """The result of one scenario."""

    name: str
    path: str = ""
    faults: tuple[Mismatch, ...] = ()
    came: Came | None = None
    seconds: float = 0.0
    stopped: bool = False
    """True if a person stopped it, so that it neither passed nor failed."""

    @property
    def passed(self) -> bool:
        return not self.faults and not self.stopped


Follow = Callable[[int], None]


@dataclass
class _Course:
    """A running scenario."""

    scenario: Scenario
    scratch: Scratch
    stop: threading.Event
    faults: list[Mismatch] = field(default_factory=list)

    @property
    def opened(self) -> Opened:
        return self.scratch.opened

    @property
    def console(self) -> Console:
        return self.opened.console


class _GivenUp(Exception):
    """A run that takes too long, or a stop by a person."""


def run(
    scenario: Scenario,
    agents: Path,
    *,
    path: str = "",
    follow: Follow = lambda step: None,
    stop: threading.Event | None = None,
) -> Report:
    """Run a scenario with its own record, world and clock; `follow` is called with each step, 0 for the opening message.

    The run ends at the first step that is not as expected. A refusal is a fault in the report, never raised.
    """
    began, halt = time.monotonic(), stop or threading.Event()
    faults: list[Mismatch] = []
    came = None
    try:
        with Scratch(agents, scenario.agent, scenario.replies) as scratch:
            course = _Course(scenario, scratch, halt, faults)
            if _walk(course, follow):
                came = looked(scratch.opened)
                faults.extend(end_faults(scenario.expect, came))
    except ReviewError as error:
        faults.append(Mismatch(None, "it could not be run", "a run", str(error), NOT_RUN))
    except _GivenUp as given_up:
        if not halt.is_set():
            faults.append(Mismatch(None, "it was abandoned", "an end", str(given_up), NOT_RUN))
    return Report(scenario.scenario, path, tuple(faults), came, time.monotonic() - began, halt.is_set())


def _walk(course: _Course, follow: Follow) -> bool:
    """Send the opening message, then take the steps; return False if one of them was not as expected."""
    scenario, console = course.scenario, course.console
    follow(0)
    _finish(
        course,
        console.send(
            scenario.message,
            by="reviewer",
            thread_id=SCENARIO_THREAD,
            agent=scenario.agent,
            model=scenario.model,
        ),
    )
    for number, written in enumerate(scenario.steps, start=1):
        follow(number)
        step = as_it_stands(written, scenario.expect.never, waiting(console.queries.view(SCENARIO_THREAD)))
        if step is None:
            continue
        course.faults.extend(_reviewed(course, number, step))
        if not course.faults:
            course.faults.extend(_act(course, number, step))
        if course.faults:
            return False
    return True


def _reviewed(course: _Course, number: int, step: ScenarioStep) -> list[Mismatch]:
    """Compare the review that waits now with the expected one."""
    view = course.console.queries.view(SCENARIO_THREAD)
    if step.review is None:
        return []
    if not view.reviews:
        about = looked(course.opened)
        got = about.error or (f"the answer {about.answer!r}" if about.answer else str(view.thread.status))
        return [Mismatch(number, "a review", f"{len(step.review)} to decide", f"nothing waits: {got}")]
    return waiting_faults(number, step.review, waiting(view))


def _act(course: _Course, number: int, step: ScenarioStep) -> list[Mismatch]:
    """Do what the step says. An unexpected refusal is a fault, and so is a missing one."""
    expected = step.refused or "it is accepted"
    try:
        started = _started(course, step)
    except ReviewError as error:
        if step.refused == error.code:
            return []
        return [Mismatch(number, "what was done", expected, f"{error.code}: {error}")]
    if started is not None:
        _finish(course, started)
    return [Mismatch(number, "what was done", expected, "it was accepted")] if step.refused else []


def _started(course: _Course, step: ScenarioStep) -> Run | None:
    console = course.console
    if step.decisions is not None:
        made = [one.model_dump(exclude_unset=True) for one in step.decisions]
        return console.decide(
            SCENARIO_THREAD, made, by=step.by, review_id=_only(console.queries.view(SCENARIO_THREAD))
        )
    if step.close is not None:
        return console.close(SCENARIO_THREAD, by=step.by, reason=step.close)
    if step.message is not None:
        return console.send(step.message, by=step.by, thread_id=SCENARIO_THREAD)
    _pass_time(course, span(step.wait or "0s"))
    return None


def _only(view: View) -> str | None:
    """Return the id of the review that waits if it is the only one, which the step was compared with."""
    return view.reviews[0].review_id if len(view.reviews) == 1 else None


def _pass_time(course: _Course, time_passing: timedelta) -> None:
    """Move the clock, and wait for the runs that expiries start."""
    course.scratch.clock.move(time_passing)
    course.console.expire()
    for one in course.console.queries.running():
        if (run := course.console.queries.current_run(one.thread_id)) is not None:
            _finish(course, run)


def _finish(course: _Course, run: Run) -> None:
    """Wait until the run pauses or ends, in short steps, so that a person can stop it."""
    deadline = time.monotonic() + MAX_RUN_SECONDS
    while not course.console.wait(run, 0.2):
        if course.stop.is_set():
            raise _GivenUp("it was stopped")
        if time.monotonic() > deadline:
            raise _GivenUp(
                f"a run took longer than {MAX_RUN_SECONDS:g} s. Look at what its model is asked to do"
            )
    if course.stop.is_set():
        raise _GivenUp("it was stopped")


def looked(opened: Opened, thread_id: str = SCENARIO_THREAD) -> Came:
    """Return everything that happened on the thread, from the record and from the world."""
    console = opened.console
    view = console.queries.view(thread_id)
    messages = console.queries.history(thread_id, limit=MANY)
    tools = {call.id: call.name for message in messages for call in message.tool_calls}
    last = messages[-1] if messages else None
    answer = last.content if last and last.type == "ai" and not last.tool_calls else None
    return Came(
        status=str(view.thread.status),
        answer=answer if view.thread.status is Status.IDLE else None,
        executions=tuple(_executions(console, thread_id)),
        results=tuple(
            Told(tools.get(message.tool_call_id or "", ""), message.status, message.content)
            for message in messages
            if message.type == "tool"
        ),
        world=tuple(f"{change.kind} {change.subject}" for change in opened.world.changes(thread_id)),
        waits=waiting(view),
        contradictions=tuple(_contradictions(console, thread_id)),
        error=view.thread.error,
    )


def waiting(view: View) -> tuple[Waits, ...]:
    """Return the actions of the review that waits."""
    actions = view.reviews[0].actions if view.reviews else ()
    return tuple(Waits(one.tool, one.args, one.allowed) for one in actions)


def _executions(console: Console, thread_id: str) -> list[Ran]:
    """Return the calls that were started, in order, with the arguments on record."""
    found = []
    for event in console.trail.events(thread_id=thread_id, kind=EventKind.EXECUTION_STARTED, limit=MANY):
        action = console.queries.action(thread_id, str(event.tool_call_id))
        ended, result = (str(action.state), action.result) if action else ("unknown", None)
        found.append(Ran(str(event.tool), (event.data or {}).get("args"), ended, result))
    return found


def _contradictions(console: Console, thread_id: str) -> list[str]:
    faults = [
        fault for action in console.queries.actions(thread_id) for fault in console.trail.proof(action).faults
    ]
    chain = console.trail.verify().first_fault
    return [*faults, *([chain] if chain else [])]
