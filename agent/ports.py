"""What the use cases need from outside: a ledger, an engine, runs, a clock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from agent.review.actions import Action, ActionState, Key, Review, ReviewState, Waiting
from agent.review.agents import Agent
from agent.review.events import Anchor, Event, EventKind, UnsealedEvent
from agent.review.given import Face, Given
from agent.review.notes import Note, NoteVerdict
from agent.review.rules import Rule, RuleEnd
from agent.review.screening import ScreenedCall
from agent.review.shapes import Pause
from agent.review.threads import Halt, Message, Progress, Run, RunState, Status, Thread


class Clock(Protocol):
    def __call__(self) -> datetime:
        """The present instant, in UTC."""


# What an engine tells of a run while it goes on.


@dataclass(frozen=True)
class Token:
    """Some more of the agent's words."""

    message_id: str
    text: str


@dataclass(frozen=True)
class Said:
    """Messages that now stand in the conversation; one with a known id replaces the earlier one."""

    messages: Sequence[Message]


@dataclass(frozen=True)
class Proposed:
    """The calls of a turn, screened; seen before any of them runs."""

    calls: tuple[ScreenedCall, ...]


@dataclass(frozen=True)
class Paused:
    """The run has come to a pause; these interrupts wait for answers."""

    waiting: tuple[str, ...]
    asked: Mapping[str, tuple[ScreenedCall, ...]] = field(default_factory=dict)
    """What each interrupt asks about. One that is not named here asks about every call that is pending."""


@dataclass(frozen=True)
class Superseded:
    """The review that was decided had been answered by another client before the decision arrived."""

    review_id: str


@dataclass(frozen=True)
class Look:
    """Where a thread's checkpoint stands."""

    messages: Sequence[Message] = ()
    calls: tuple[ScreenedCall, ...] = ()
    waiting: tuple[str, ...] = ()
    """Ids of the interrupts that wait for an answer."""
    answered: tuple[str, ...] = ()
    """Ids of interrupts whose answer is saved, while the node that asked has not come to its end."""
    stuck: tuple[str, ...] = ()
    """Those of them whose answer made their node fail: it would fail again, whoever goes on."""
    unfinished: bool = False
    """Something can run before the next answer is given."""
    next: tuple[str, ...] = ()
    """The nodes that run or wait."""
    exists: bool = True
    """There is a checkpoint at all."""
    own: bool = True
    """This console wrote the last checkpoint, and not another client."""


@dataclass(frozen=True)
class CheckpointStep:
    """One checkpoint of a thread, as a timeline shows it."""

    checkpoint_id: str
    at: str
    step: int
    source: str
    next: tuple[str, ...]
    messages: int


@dataclass(frozen=True)
class Inside:
    """A thread as the engine holds it, for those who want to see how it works."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str, bool], ...]
    """From, to, and whether it is taken under a condition."""
    at: tuple[str, ...]
    """The nodes that run next, or wait."""
    payloads: Mapping[str, Any]
    """What each waiting interrupt carries, by its id."""
    pauses: Mapping[str, Pause]
    """The same, read: the shape each of them is answered in."""
    steps: tuple[CheckpointStep, ...]
    """The last checkpoints, newest first."""


@dataclass(frozen=True)
class Stood:
    """The last moment of a run: where its checkpoint stands now."""

    look: Look


Moment = Said | Proposed | Paused | Superseded | Stood


class Engine(Protocol):
    """Agents at work. Every method names the run or thread it is about; none keeps state between calls."""

    def agent(self, name: str) -> Agent:
        """The agent served under this name; raises `UnknownAgent`, or `AgentNotLoaded` with the reason."""

    def agents(self) -> Sequence[str]:
        """The names served, in the order of the configuration."""

    def tools(self) -> Sequence[str]:
        """The tools that the agents' policies name, each once, in order."""

    def broken(self) -> Mapping[str, str]:
        """The agents that are configured and could not be loaded, with the reason."""

    def models(self) -> Sequence[str]:
        """The models a thread can be started with, the default first."""

    def stream(self, run: Run, stop: threading.Event, hear: Callable[[Token], None]) -> Iterator[Moment]:
        """Deliver what the run brings and drive the agent until it pauses, answers or fails.

        `hear` is told the agent's words while it writes them, by whichever thread does; it must not raise.
        Ends without an exception on a pause, an answer, or at the next step after `stop` is set.
        Raises `RunCutOff` if an action's outcome became unknown or nothing here may go on, `CheckpointLost` if the
        thread's state is gone, and whatever the model raised.
        """

    def look(self, agent: str, thread_id: str) -> Look:
        """Where the thread's checkpoint stands now."""

    def waiting(self, agent: str, thread_id: str) -> tuple[str, ...]:
        """Ids of the interrupts that wait for an answer; where none does, without reading the conversation."""

    def forget(self, thread_id: str) -> None:
        """Delete the thread's checkpoints. What still runs on it anywhere can write no more. Twice is as once."""

    def inside(self, agent: str, thread_id: str, *, steps: int = 20) -> Inside:
        """The agent's graph and the thread's last checkpoints; read only. Raises `CheckpointLost`."""


class RunCutOff(Exception):
    """The run may not go on: an action of it is executing elsewhere, say, or another client is at work."""


# The ledger: reads are free-standing, writes happen inside one transaction that either all counts or none.


@dataclass(frozen=True)
class Sought:
    """What a queue or a trail is narrowed to; a field that is empty narrows nothing."""

    agent: str = ""
    tool: str = ""
    thread_id: str = ""
    text: str = ""
    """Stands somewhere in the summary, the arguments, the tool or the thread id, in any case."""
    opened_before: str = ""


class Reads(Protocol):
    def thread(self, thread_id: str) -> Thread | None: ...
    def threads(self, *, limit: int = 50) -> list[Thread]: ...
    def messages(self, thread_id: str, *, before: int | None = None, limit: int = 50) -> list[Message]: ...
    def message(self, thread_id: str, message_id: str) -> Message | None: ...
    def message_count(self, thread_id: str) -> int: ...
    def actions(self, thread_id: str, *, states: Sequence[ActionState] = ()) -> list[Action]: ...
    def actions_of(self, thread_id: str, message_ids: Sequence[str]) -> list[Action]: ...
    def last_decided(
        self, thread_id: str, tool: str, *, kind: str | None = None, limit: int = 3
    ) -> list[Action]: ...
    def is_proposed(self, key: Key) -> bool: ...
    def latest_action(self, thread_id: str, tool_call_id: str) -> Action | None: ...
    def review(self, review_id: str) -> Review | None: ...
    def open_reviews(self, thread_id: str) -> list[Review]: ...
    def last_review(self, thread_id: str) -> Review | None: ...
    def opened_with(self, thread_id: str, review_id: str) -> Sequence[str] | None: ...
    def queue(
        self, *, limit: int = 50, after: tuple[str, str] | None = None, sought: Sought = ...
    ) -> list[Waiting]: ...
    def queue_length(self) -> int: ...
    def unknown(self, *, limit: int = 50) -> list[Action]: ...
    def not_looked_over(self, *, limit: int = 50) -> list[Action]: ...
    def decided_since(self, instant: str, *, limit: int = 50) -> list[Action]: ...
    def running(self, *, limit: int = 50) -> list[Thread]: ...
    def expired(self, now: str) -> list[Review]: ...
    def run(self, run_id: str) -> Run | None: ...
    def open_run(self, thread_id: str) -> Run | None: ...
    def last_run(self, thread_id: str) -> Run | None: ...
    def open_runs(self) -> list[Run]: ...
    def counts(self) -> Mapping[Status, int]: ...
    def events(
        self,
        *,
        thread_id: str | None = None,
        kind: EventKind | None = None,
        agent: str | None = None,
        tool: str | None = None,
        by: str | None = None,
        tool_call_id: str | None = None,
        since: str | None = None,
        after: int = 0,
        before: int | None = None,
        newest_first: bool = False,
        limit: int = 200,
    ) -> list[Event]: ...
    def event(self, seq: int) -> Event | None: ...
    def keyed_from(self) -> int: ...
    def trail(self, *, exact: bool = True) -> Iterator[Event]: ...
    def policy_version(self, agent: str) -> str | None: ...
    def last_seq(self, thread_id: str | None = None) -> int: ...
    def shown_at(self, review_id: str, reviewer: str) -> datetime | None: ...
    def halt(self) -> Halt | None: ...
    def head(self) -> Anchor | None: ...
    def beat(self, owner: str) -> int | None: ...
    def draft(self, review_id: str, reviewer: str) -> str | None: ...
    def rule(self, rule_id: str) -> Rule | None: ...
    def rules(self, *, agent: str | None = None, limit: int = 200) -> list[Rule]: ...
    def standing_rules(self, agent: str | None = None) -> list[Rule]: ...
    def actions_by_rule(self, rule_id: str, *, state: ActionState) -> list[Action]: ...
    def notes(self, thread_id: str) -> list[Note]: ...
    def verdicts(self, thread_ids: Sequence[str]) -> Mapping[str, NoteVerdict]: ...
    def threads_noted(self, verdict: NoteVerdict | None, *, limit: int = 50) -> list[Thread]: ...
    def given(self, thread_ids: Sequence[str], reviewer: str, face: Face) -> Mapping[str, Given]: ...


class Transaction(Reads, Protocol):
    """Reads that see this transaction's own writes, and the writes. All is committed, or nothing is."""

    def append(self, *facts: UnsealedEvent) -> None:
        """Add facts to the chained trail, in order."""

    def erase(self, seqs: Sequence[int]) -> None:
        """Take the data out of these events. An event of erasure that names them has to be appended before."""

    def add_thread(self, thread: Thread) -> None: ...
    def set_thread(self, thread_id: str, status: Status, at: str, error: str | None = None) -> None: ...
    def put_messages(self, thread_id: str, messages: Sequence[Message], at: str) -> None:
        """Add messages at the end of the transcript; one whose id is there already replaces that one."""

    def open(self, run: Run) -> bool:
        """Open the thread's one run; false if one is open already."""

    def close(self, run_id: str, owner: str, state: RunState, at: str, error: str | None = None) -> bool:
        """Close an open run of this owner; false if it is not open or was taken over."""

    def take_over(self, run_id: str, owner: str, fence: int) -> bool: ...
    def ask_stop(self, run_id: str, by: str) -> bool: ...
    def propose(self, action: Action) -> bool:
        """Add an action; false if its key is known, and then nothing changes."""

    def move(self, key: Key, start: ActionState, end: ActionState, **changes: Any) -> bool:
        """Compare-and-set: false, and nothing changed, unless the action stood in `start`."""

    def withdraw(
        self, action: Action, result: str, at: str, by: str | None = None, *, rule_id: str | None = ...
    ) -> None:
        """Withdraw an approval that nothing has started on, and record it. `result` is what the model is sent."""

    def look_over(self, key: Key, by: str) -> bool:
        """True the first time; an action is looked over once."""

    def open_review(self, review: Review, keys: Sequence[Key]) -> bool: ...
    def end_review(self, review_id: str, state: ReviewState, at: str, by: str, outcome: str) -> bool:
        """Compare-and-set from open; false if it had ended already."""

    def first_shown(self, review_id: str, reviewer: str, at: str) -> bool:
        """True the first time this reviewer sees this review."""

    def add_rule(self, rule: Rule) -> None: ...
    def count_use(self, rule_id: str, at: str) -> bool:
        """Count one more action that the rule approved; false, and nothing changed, if it has been ended."""

    def end_rule(self, rule_id: str, end: RuleEnd, at: str, by: str) -> bool:
        """True the first time: a rule ends once, for good."""

    def add_note(self, note: Note) -> None: ...
    def give(self, thread_id: str, reviewer: str, face: Face, reviews: Given) -> None:
        """Note what the reviewer is given now, in the place of what was given before."""

    def set_halt(self, halt: Halt | None) -> None: ...
    def set_beat(self, owner: str, beat: int) -> None: ...
    def set_draft(self, review_id: str, reviewer: str, body: str | None) -> None: ...


class Anchors(Protocol):
    """Where the trail's head is noted now and then, outside the ledger's own folder."""

    def read(self) -> list[Anchor]:
        """The anchors noted so far. Raises `AnchorsUnavailable`."""

    def append(self, anchor: Anchor) -> None:
        """Note an anchor, on disk when this returns. Raises `AnchorsUnavailable`."""


class Ledger(Reads, Protocol):
    @property
    def chain_key(self) -> bytes:
        """What the trail's hashes are made with."""

    def write(self) -> AbstractContextManager[Transaction]:
        """One serialized transaction. Raises `LedgerUnavailable` if it cannot be begun or committed."""

    def check(self) -> None:
        """Raise `LedgerUnavailable` if the ledger cannot be read."""

    def scrub(self) -> None:
        """Leave nothing of what was erased behind in the ledger's own files."""

    def shut(self) -> None: ...


class Runs(Protocol):
    """Where runs are executed."""

    @property
    def owner(self) -> str:
        """The name of this process, under which its runs are open."""

    def start(self, run: Run, after: threading.Event | None = None) -> None:
        """Execute an open run of this owner; where it is `after` something, a moment later at the latest."""

    def stop(self, thread_id: str | None) -> None:
        """Let the thread's run, or every run for None, stop at its next step."""

    def wait(self, run_id: str, seconds: float | None) -> bool:
        """Wait until the run has ended; false if it had not after `seconds`."""

    def progress(self, thread_id: str) -> Progress | None: ...
    def lives(self, owner: str) -> bool:
        """Whether another process under this name could still act: frozen counts as alive."""
