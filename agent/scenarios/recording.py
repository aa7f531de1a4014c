"""Record a thread as a scenario: its messages and decisions, the model's replies, and its results as expectations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from agent.bootstrap import Opened
from agent.console import Console
from agent.review.errors import NotIsolated, NotReplayable
from agent.review.events import Event, EventKind
from agent.review.replies import RecordedCall, RecordedReply
from agent.review.text.secrets import masked
from agent.review.threads import Status
from agent.scenarios.comparing import Came, Ran, Told
from agent.scenarios.forbidden import forbids, shown
from agent.scenarios.format import (
    Awaited,
    Decision,
    Execution,
    ExpectedEnd,
    ExpectedResult,
    Never,
    Scenario,
    ScenarioStep,
)
from agent.scenarios.matching import Matcher
from agent.scenarios.reporting import place
from agent.scenarios.running import MANY, Report, looked, run

BROKEN = {
    EventKind.RUN_FAILED: "one of its runs failed",
    EventKind.RUN_STOPPED: "one of its runs was stopped",
    EventKind.OUTCOME_UNKNOWN: "one of its actions was cut off",
    EventKind.REVIEW_SUPERSEDED: "one of its reviews was answered elsewhere",
    EventKind.THREAD_STUCK: "it got stuck on another client's answer",
    EventKind.ACTION_LAPSED: "one of its approvals came too late",
    EventKind.RULE_APPLIED: "a remembered rule approved one of its actions, and a replay has no rules",
}
"""Events that a replay cannot reproduce, with the reason given for each."""
AGAIN = "Make the same request on a new thread, without what a replay cannot reproduce, and save that one."
OTHERWISE = "its replay on a fresh world has a different result"
FRESH = "Reset the demo world, make the same request on a new thread, and save that one."
NOTHING = "no further call ran"
WENT = {"done": "succeeded", "failed": "failed", "unknown": "has an unknown outcome"}
APPROVE_BY = "24h"
"""How long a review waits where scenarios run."""
ANYTHING = Matcher("any")


def record(opened: Opened, thread_id: str, *, name: str, never: Sequence[Never] = ()) -> Scenario:
    """Record a thread as a scenario, which passes now unless a call ran that `never` forbids.

    The results of forbidden calls are not expected. The thread is replayed twice, each time on a fresh world: what the
    tools return there is expected, or anything where the two replays differ. Secrets are masked, as in every export.

    Raises `NotReplayable` with the reason, `NotIsolated`, and `UnknownThread`.
    """
    console, agents = opened.console, opened.settings.review_agents
    thread = console.queries.view(thread_id).thread
    if not console.queries.agent(thread.agent).isolated:
        raise NotIsolated(thread.agent)
    if thread.status not in (Status.IDLE, Status.WAITING):
        raise NotReplayable(thread_id, f"it is {thread.status}", "Let it reach an answer or a review first.")
    came = looked(opened, thread_id)
    made = _without_expectations(console, thread_id, thread.agent, name)
    first, second = (_replayed(thread_id, made, came, agents) for _ in range(2))
    expected = _expected(first, second)
    if never:
        expected = _but(expected, [Never.model_validate(masked(one.model_dump())) for one in never])
    return made.model_copy(update={"expect": expected})


def _without_expectations(console: Console, thread_id: str, agent: str, name: str) -> Scenario:
    course = _Gathered(thread_id)
    for event in console.trail.events(thread_id=thread_id, limit=MANY):
        course.take(event)
    first, *steps = course.steps
    whole = {
        "scenario": name,
        "agent": agent,
        "model": "recorded",
        "message": first.message,
        "replies": [one.model_dump() for one in _replies(console, thread_id)],
        "steps": [one.model_dump(exclude_unset=True) for one in steps],
    }
    return Scenario.model_validate(masked(whole))


@dataclass
class _Gathered:
    """The steps of a thread, collected from its events in order; the first is the opening message."""

    thread_id: str
    steps: list[ScenarioStep] = field(default_factory=list)
    proposed: dict[str, tuple[str, Any]] = field(default_factory=dict)
    waiting: list[tuple[str, str]] = field(default_factory=list)
    """The call ids and tools of the open review."""
    decisions: list[Decision] = field(default_factory=list)

    def take(self, event: Event) -> None:
        """Take one event into account. Raises `NotReplayable` for one that a replay cannot reproduce."""
        data = event.data or {}
        match event.kind:
            case kind if kind in BROKEN:
                raise NotReplayable(self.thread_id, BROKEN[kind], AGAIN)
            case EventKind.MESSAGE_SENT:
                self.steps.append(ScenarioStep(message=str(data["text"])))
            case EventKind.ACTION_PROPOSED:
                self.proposed[str(event.tool_call_id)] = (str(event.tool), data["args"])
            case EventKind.REVIEW_OPENED:
                self.waiting = [(str(call_id), str(tool)) for call_id, tool in data["actions"]]
            case EventKind.DECISION_MADE:
                self._decide(event, data)
            case EventKind.REVIEW_CLOSED:
                self.steps.append(ScenarioStep(review=self._awaited(), close=str(data["reason"])))
            case EventKind.REVIEW_EXPIRED:
                self.steps.append(ScenarioStep(review=self._awaited(), wait=APPROVE_BY))

    def _decide(self, event: Event, data: Mapping[str, Any]) -> None:
        more: dict[str, Any] = {}
        if data["type"] == "edit":
            more["edited_action"] = {"name": event.tool, "args": data["after"]}
        elif data["reason"]:
            more["message"] = data["reason"]
        self.decisions.append(Decision(type=str(data["type"]), **more))
        if len(self.decisions) == len(self.waiting):
            self.steps.append(ScenarioStep(review=self._awaited(), decisions=self.decisions))
            self.decisions = []

    def _awaited(self) -> list[Awaited]:
        found = [self.proposed[call_id] for call_id, _ in self.waiting]
        return [Awaited(tool=tool, args=_exact(args)) for tool, args in found]


def _exact(args: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if args is None else {name: Matcher("exact", value) for name, value in args.items()}


def _replies(console: Console, thread_id: str) -> list[RecordedReply]:
    """Return the model's original replies, before any edit."""
    said = [one for one in console.queries.history(thread_id, limit=MANY) if one.type == "ai"]
    actions = console.queries.actions(thread_id)
    replies = []
    for message in said:
        if message.id.startswith("closing-"):  # the console's own words
            continue
        own = [one for one in actions if one.key.message_id == message.id and one.key.attempt == 1]
        calls = [
            RecordedCall(id=one.key.tool_call_id, tool=one.proposed_tool, args=one.proposed)
            for one in sorted(own, key=lambda one: one.position)
        ]
        replies.append(RecordedReply(text=message.content, calls=calls))
    return replies


def _replayed(thread_id: str, made: Scenario, came: Came, agents: Path) -> Came:
    """Replay the thread. Raises `NotReplayable` if more than the tools' results differs from the thread."""
    same = ExpectedEnd(
        status=Status(came.status),
        executions=[_execution(one) for one in came.executions],
        results=[_result(one) for one in came.results],
    )
    report = run(made.model_copy(update={"expect": same}), agents)
    if report.faults or report.came is None:
        raise NotReplayable(thread_id, f"{OTHERWISE}. {_difference(came, report)}", FRESH)
    return report.came


def _difference(came: Came, report: Report) -> str:
    """Return the first difference between thread and replay, as a sentence without a full stop."""
    if report.came is not None:
        for one, other in zip_longest(map(_went, came.executions), map(_went, report.came.executions)):
            if one != other:
                return f"In the thread {one or NOTHING}; in the replay {other or NOTHING}"
    fault = report.faults[0]
    return f"{place(fault).capitalize()} ({fault.about}): in the thread {fault.expected}; in the replay {fault.got}"


def _went(ran: Ran) -> str:
    """Say how one call ended, with its arguments."""
    given = f" with {shown(masked(ran.args))}" if ran.args else ""
    return f"{ran.tool}{given} {WENT.get(ran.ended, ran.ended)}"


def _expected(first: Came, second: Came) -> ExpectedEnd:
    """Return the results of both replays as expectations; anything, where they differ."""
    executions = [
        _execution(one, result=_both(one.result, other.result))
        for one, other in zip(first.executions, second.executions, strict=True)
    ]
    results = [
        _result(one, text=_both(one.text, other.text))
        for one, other in zip(first.results, second.results, strict=True)
    ]
    waits = [
        {"tool": one.tool, "args": _exact(one.args), "allowed": list(one.allowed)} for one in first.waits
    ]
    return ExpectedEnd(
        status=Status(first.status),
        review=[Awaited.model_validate(one) for one in waits] or None,
        answer=None if first.answer is None else _both(first.answer, second.answer),
        executions=executions,
        results=results,
        world=list(first.world) if first.world == second.world else None,
    )


def _but(expected: ExpectedEnd, never: list[Never]) -> ExpectedEnd:
    """Forbid `never`, and drop every expectation that depends on whether such a call runs."""
    allowed = [one for one in expected.executions or () if not forbids(never, one.tool, _exactly(one))]
    less = {"executions": allowed, "results": None, "world": None, "answer": None, "never": never}
    return expected.model_copy(update=less)


def _exactly(ran: Execution) -> dict[str, Any]:
    return {name: matcher.value for name, matcher in (ran.args or {}).items()}


def _execution(ran: Ran, **more: Matcher) -> Execution:
    return Execution.model_validate(
        {"tool": ran.tool, "args": _exact(masked(ran.args)), "ended": ran.ended, **more}
    )


def _result(told: Told, **more: Matcher) -> ExpectedResult:
    return ExpectedResult.model_validate({"tool": told.tool, "status": told.status, **more})


def _both(one: str | None, other: str | None) -> Matcher:
    return Matcher("exact", one) if one == other else ANYTHING
