"""The promises of the design, held against any order of what people, clocks, deaths and restarts can do to the console."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agent.bootstrap import Opened, open_console
from agent.console import Console
from agent.review.actions import Action, ActionState, Key
from agent.review.errors import ReviewError
from agent.review.events import Event, EventKind
from agent.review.threads import Status
from tests.conftest import SetClock, start_deciding, until
from tests.engine.crashes import die
from tests.own_settings import OwnSettings

THREADS = ("t-1", "t-2")
GOOD_FOR = timedelta(hours=1)
"""How long an approval stays good."""
LASTS = {"15 minutes": timedelta(minutes=15), "30 days": timedelta(days=30)}
RESTS = {Status.IDLE, Status.WAITING, Status.UNKNOWN_OUTCOME}
LEAVE = (EventKind.DECISION_MADE, EventKind.RULE_APPLIED)
RULE_ENDS = (EventKind.RULE_REVOKED, EventKind.RULE_EXPIRED)


@dataclass(frozen=True)
class Death:
    """Of the process, in the middle of a step."""

    before: int
    """Which of the step's commits."""
    minutes: int
    """How long it takes until the next process is there."""


@dataclass(frozen=True)
class Step:
    """What happens next. All of it is drawn whatever stands: which thread or rule is meant, is `nth` of those there are."""

    kind: str
    nth: int
    name: str
    files: list[tuple[str, str]]
    reads: bool
    decisions: list[str]
    again: bool
    free: str
    scope: str
    lasting: str
    minutes: int

    def pick(self, options: Sequence[Any]) -> Any:
        return options[self.nth % len(options)]


FILES = st.tuples(st.sampled_from(["a.txt", "A.txt"]), st.sampled_from(["x", "y"]))
FREE = st.sampled_from(["", "path", "content"])
KINDS = (
    *["propose"] * 5,
    *["answer"] * 5,
    *("close", "remember", "remember", "revoke", "set the clock", "restart"),
)
STEPS = st.builds(
    Step,
    kind=st.sampled_from(KINDS),
    nth=st.integers(0, 59),
    name=st.sampled_from(THREADS),
    files=st.lists(FILES, min_size=1, max_size=2),
    reads=st.booleans(),
    decisions=st.lists(st.sampled_from(["approve", "edit", "reject"]), min_size=2, max_size=2),
    again=st.booleans(),
    free=FREE,
    scope=st.sampled_from(["thread", "agent"]),
    lasting=st.sampled_from(list(LASTS)),
    minutes=st.sampled_from([5, 16, 70, 25 * 60, -5, -30, -26 * 60]),
)
DEATHS = st.one_of(
    st.none(), st.none(), st.builds(Death, st.integers(1, 16), st.sampled_from([0, 0, 16, 70]))
)

Args = dict[str, str]
Does = Callable[[Opened], None]


@dataclass(frozen=True)
class Leave:
    """A person's approval of exactly these arguments."""

    args: Args
    given: datetime


@dataclass
class Remembered:
    """A rule as the test knows it from what was asked for, not from what the console made of it."""

    bound: Args
    free: frozenset[str]
    thread_id: str | None
    made: datetime
    until: datetime
    over: bool = False

    def allows(self, thread_id: str, args: Args, now: datetime) -> bool:
        holds = not self.over and self.made <= now < self.until and self.thread_id in (None, thread_id)
        others = {name: value for name, value in args.items() if name not in self.free}
        return holds and others == self.bound


@dataclass
class Known:
    """What the test knows to have been allowed, and has seen to stand still."""

    approved: dict[str, list[Leave]] = field(default_factory=dict)
    rules: dict[str, Remembered] = field(default_factory=dict)
    waiting: dict[Key, tuple[Any, ...]] = field(default_factory=dict)
    effects: int = 0


class Promises(RuleBasedStateMachine):
    """Two threads of one agent, on the real console with real files; any step may be cut off by a death."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        home = Path(self.folder.name)
        (home / "agents.json").write_text('{"graphs": {"operations": "./agent/bootstrap.py:operations"}}')
        self.settings = OwnSettings(
            review_data=home / "data",
            review_agents=home / "agents.json",
            review_anchor=home / "anchors.jsonl",
            review_demo_delay=0,
        )
        self.clock, self.known, self.calls = SetClock(), Known(), 0
        self.opened = open_console(self.settings, clock=self.clock)

    @property
    def console(self) -> Console:
        return self.opened.console

    # What can happen.

    @initialize(file=FILES, free=FREE)
    def begin(self, file: tuple[str, str], free: str) -> None:
        """A call that waits, and a rule made of it: most of what can go wrong needs one of the two."""
        self._propose(THREADS[0], [file], False, None)
        self._remember(self._writes()[0], free, "agent", "30 days", None)

    @rule(step=STEPS, dies=DEATHS)
    def happens(self, step: Step, dies: Death | None) -> None:
        """One step. Were each kind a rule of its own, Hypothesis would leave most of them out of most runs."""
        waiting, unknown = self._with(Status.WAITING), self._with(Status.UNKNOWN_OUTCOME)
        match step.kind:
            case "answer" if unknown:
                name = step.pick(unknown)
                self._do(lambda opened: _settle(opened, name, step.again), dies)
            case "answer" if waiting:
                self._decide(step.pick(waiting), step.decisions, dies)
            case "propose" | "answer":
                self._propose(step.name, step.files, step.reads, dies)
            case "close":
                self._do(lambda opened: _close(opened.console, step.name), dies)
            case "remember":
                self._remember(step.pick(self._writes()), step.free, step.scope, step.lasting, dies)
            case "revoke":
                self._revoke(step.pick(list(self.known.rules)), dies)
            case "set the clock":
                self._set_the_clock(step.minutes, dies)
            case "restart":
                self.opened.close()
                self.opened = open_console(self.settings, clock=self.clock)
                self._come_to_rest()

    def _propose(self, thread: str, files: list[tuple[str, str]], reads: bool, dies: Death | None) -> None:
        calls = [self._call("write_file", {"path": path, "content": content}) for path, content in files]
        calls += [self._call("read_data", {"table": "notes"})] if reads else []
        text = "\n".join(f"/call#{name} {tool} {json.dumps(args)}" for name, tool, args in calls)
        thread = next(iter(self._free(thread)), thread)
        before = {name: self._allowing(thread, args) for name, _, args in calls}
        self._do(lambda opened: _send(opened.console, thread, text), dies)
        for name, tool, args in calls:
            action = self.console.queries.action(thread, name)
            if (
                action is not None
            ):  # else the thread was not free, or the process died before it took the message
                # Cut off before its verdict was saved, it is judged when the next process is there.
                allowing = before[name] or {None} if dies is None else before[name] | {None}
                assert action.rule_id in allowing | self._allowing(thread, args), action
                assert (action.review_id is None) == bool(action.rule_id or tool == "read_data"), action

    def _decide(self, thread: str, kinds: list[str], dies: Death | None) -> None:
        (review,) = self.console.queries.view(thread).reviews
        given = [_decision(kind, action) for kind, action in zip(kinds, review.actions, strict=False)]
        for action, one in zip(review.actions, given, strict=True):
            if one["type"] != "reject":
                args = one.get("edited_action", {}).get("args", action.args)
                leave = Leave(args, self.clock())
                self.known.approved.setdefault(action.key.tool_call_id, []).append(leave)
        self._do(lambda opened: _decide(opened.console, thread, given, review.review_id), dies)
        if dies is None:
            with pytest.raises(ReviewError):
                self.console.decide(thread, given, by="bob", review_id=review.review_id)

    def _set_the_clock(self, minutes: int, dies: Death | None) -> None:
        """Whatever is over by then is over for good, even if the clock goes back again."""
        self._move_clock(minutes)
        self._do(lambda opened: _sweep(opened.console), dies)
        _sweep(self.console)
        self._come_to_rest()

    def _remember(self, action: Action, free: str, scope: str, lasting: str, dies: Death | None) -> None:
        args, now = dict(action.args or {}), self.clock()
        thread, name = action.key.thread_id, action.key.tool_call_id
        choices = {"free": [free] if free else [], "scope": scope, "lasting": lasting, "by": "ana"}
        self._do(lambda opened: _remember(opened.console, thread, name, choices), dies)
        made = [one.rule_id for one in self.console.rules.all() if one.rule_id not in self.known.rules]
        assert len(made) <= 1
        for rule_id in made:
            bound = {key: value for key, value in args.items() if key != free}
            where = thread if scope == "thread" else None
            until_then = now + LASTS[lasting]
            self.known.rules[rule_id] = Remembered(bound, frozenset([free]), where, now, until_then)

    def _revoke(self, rule_id: str, dies: Death | None) -> None:
        self._do(lambda opened: _revoke(opened.console, rule_id), dies)
        ended = {one.rule_id for one in self.console.rules.all() if one.ended is not None}
        self.known.rules[rule_id].over |= rule_id in ended
        assert rule_id in ended or dies is not None

    # What must hold whatever happened.

    @invariant()
    def no_thread_is_stuck(self) -> None:
        for thread in self.console.queries.threads():
            view = self.console.queries.view(thread.thread_id)
            assert thread.status in RESTS, thread
            assert bool(view.unknown) == (thread.status is Status.UNKNOWN_OUTCOME)
            asked = [action.state for review in view.reviews for action in review.actions]
            assert set(asked) <= {ActionState.PENDING}
            assert bool(asked) == (thread.status is Status.WAITING) or view.unknown

    @invariant()
    def what_took_effect_was_allowed_and_took_effect_once(self) -> None:
        changes = self.opened.world.changes()
        assert max(Counter(change.ref.tool_call_id for change in changes).values(), default=0) <= 1
        for change in changes[self.known.effects :]:
            name, thread = change.ref.tool_call_id, change.ref.thread_id
            args = {"path": change.subject.removeprefix("files/"), "content": _content(change.after)}
            action = self.console.queries.action(thread, name)
            assert action is not None
            started = datetime.fromisoformat(str(action.started_at))
            given = self.known.approved.get(name, [])
            approved = any(one.args == args and started <= one.given + GOOD_FOR for one in given)
            by_rule = self.known.rules.get(str(action.rule_id))
            assert approved or (by_rule is not None and started < by_rule.until), change
        self.known.effects = len(changes)

    @invariant()
    def what_ran_is_what_was_approved(self) -> None:
        for thread in self.console.queries.threads():
            for action in self.console.queries.actions(thread.thread_id):
                proof = self.console.trail.proof(action)
                assert proof.faults == ()
                for started in _of(proof.events, EventKind.EXECUTION_STARTED):
                    assert (started.digest, (started.data or {})["args"]) == (action.call_digest, action.args)
                    leave = [event.seq for event in _of(proof.events, *LEAVE) if event.seq < started.seq]
                    assert leave or action.tier == "auto"

    @invariant()
    def what_waits_stands_still(self) -> None:
        for thread in self.console.queries.threads():
            for action in self.console.queries.actions(thread.thread_id, None):
                stands = (action.tier, action.allowed, action.args, action.shown_digest, action.rule_id)
                if action.state is ActionState.PENDING:
                    assert self.known.waiting.setdefault(action.key, stands) == stands

    @invariant()
    def a_rule_is_used_as_often_as_the_record_says_and_never_after_its_end(self) -> None:
        events = self.console.trail.events(limit=10_000)
        applied = [event for event in events if event.kind is EventKind.RULE_APPLIED]
        counted = Counter((event.data or {})["rule_id"] for event in applied)
        ended = {(event.data or {})["rule_id"]: event.seq for event in events if event.kind in RULE_ENDS}
        for one in self.console.rules.all():
            assert one.uses == counted[one.rule_id]
            assert (one.ended is not None) == (one.rule_id in ended)
        by_rule = {(event.thread_id, event.tool_call_id): (event.data or {})["rule_id"] for event in applied}
        for event in [*applied, *(e for e in events if e.kind is EventKind.EXECUTION_STARTED)]:
            name = by_rule.get((event.thread_id, event.tool_call_id))
            decided = event.tool_call_id in self.known.approved
            assert name is None or decided or event.seq < ended.get(name, event.seq + 1)

    @invariant()
    def the_record_is_whole(self) -> None:
        assert self.console.trail.verify().ok

    def teardown(self) -> None:
        try:
            for thread in self.console.queries.threads():
                self._bring_to_an_end(thread.thread_id)
                _send(self.console, thread.thread_id, "/say still here")
                assert self.console.queries.history(thread.thread_id)[-1].content == "still here"
        finally:
            self.opened.close()
            self.folder.cleanup()

    # How it is done.

    def _do(self, does: Does, dies: Death | None) -> None:
        """Let it happen, here or in a process that dies on the way, and wait until nothing runs."""
        if dies is None:
            does(self.opened)
        else:
            self.opened.close()
            die(self.settings, self.clock, does, dies.before, "before")
            self._move_clock(dies.minutes)
            self.opened = open_console(self.settings, clock=self.clock)
            _sweep(self.console)
        self._come_to_rest()

    def _move_clock(self, minutes: int) -> None:
        self.clock.move(minutes=minutes)
        for one in self.known.rules.values():
            one.over |= one.until <= self.clock()

    def _come_to_rest(self) -> None:
        until(lambda: not self.console._ledger.open_runs())

    def _call(self, tool: str, args: Args) -> tuple[str, str, Args]:
        self.calls += 1
        return f"c{self.calls}", tool, args

    def _allowing(self, thread: str, args: Args) -> set[str | None]:
        """The rules that allow this call, if it is proposed now."""
        now = self.clock()
        return {name for name, one in self.known.rules.items() if one.allows(thread, args, now)}

    def _with(self, *statuses: Status) -> list[str]:
        return sorted(
            thread.thread_id for thread in self.console.queries.threads() if thread.status in statuses
        )

    def _free(self, first: str) -> list[str]:
        """The threads that take a message now, `first` before the others."""
        busy = self._with(Status.WAITING, Status.UNKNOWN_OUTCOME)
        return [name for name in sorted(THREADS, key=lambda one: one != first) if name not in busy]

    def _writes(self) -> list[Action]:
        found = [action for name in THREADS for action in self.console.queries.actions(name)]
        return [action for action in found if action.tool == "write_file"]

    def _bring_to_an_end(self, thread: str) -> None:
        for _ in range(10):
            match self.console.queries.view(thread).thread.status:
                case Status.WAITING:
                    (review,) = self.console.queries.view(thread).reviews
                    rejections = [{"type": "reject"}] * len(review.actions)
                    with suppress(ReviewError):
                        _wait(self.console, start_deciding(self.console, thread, rejections, by="ana"))
                case Status.UNKNOWN_OUTCOME:
                    _settle(self.opened, thread, again=False)
                case _:
                    return
            self.console.expire()
            self._come_to_rest()
        raise AssertionError(f"{thread} never came to an end")


def _of(events: Sequence[Event], *kinds: EventKind) -> Iterator[Event]:
    return (event for event in events if event.kind in kinds)


def _content(after: Any) -> str:
    return str(after["content"] if isinstance(after, Mapping) else after)


def _decision(kind: str, action: Action) -> dict[str, Any]:
    made: dict[str, Any] = {"type": kind, "shown_digest": action.shown_digest}
    if kind == "edit":
        made["edited_action"] = {"name": action.tool, "args": {**(action.args or {}), "content": "edited"}}
    return made


# What a person does, where being refused is no fault: the thread may not be free, the review may have expired.


def _wait(console: Console, run: Any) -> None:
    assert console.wait(run, 30)


def _send(console: Console, thread: str, text: str) -> None:
    with suppress(ReviewError):
        _wait(console, console.send(text, by="ana", thread_id=thread))


def _decide(console: Console, thread: str, given: list[Any], review_id: str) -> None:
    with suppress(ReviewError):
        _wait(console, console.decide(thread, given, by="ana", review_id=review_id))


def _close(console: Console, thread: str) -> None:
    with suppress(ReviewError):
        _wait(console, console.close(thread, by="ana"))


def _settle(opened: Opened, thread: str, again: bool) -> None:
    """Say what the world shows of each cut-off call."""
    console = opened.console
    for action in console.queries.view(thread).unknown:
        name = action.key.tool_call_id
        did = any(change.ref.tool_call_id == name for change in opened.world.changes(thread))
        run = console.settle(
            thread, name, "happened" if did else "ask_again" if again else "failed", by="ana"
        )
        if run is not None:
            _wait(console, run)


def _remember(console: Console, thread: str, name: str, choices: dict[str, Any]) -> None:
    with suppress(ReviewError):
        console.rules.make(thread, name, **choices)


def _revoke(console: Console, rule_id: str) -> None:
    with suppress(ReviewError):
        console.rules.revoke(rule_id, by="bob")


def _sweep(console: Console) -> None:
    console.expire()
    console.rules.end_expired()


TestPromises = Promises.TestCase
TestPromises.settings = settings(
    max_examples=6,
    stateful_step_count=18,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a failure would take minutes
)
