"""The protocols that the use cases depend on: a ledger, an engine, runs, a clock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from agent.review.actions import Action, ActionState, Key, Review, ReviewState, Waiting
from agent.review.agents import Agent, LoadFailure
from agent.review.events import Anchor, Event, EventKind, UnsealedEvent
from agent.review.given import Face, Given
from agent.review.notes import Note, NoteVerdict
from agent.review.rules import Rule, RuleEnd
from agent.review.screening import ScreenedCall
from agent.review.shapes import Pause
from agent.review.threads import Halt, Message, Progress, Run, RunState, Status, Thread


class Clock(Protocol):
    def __call__(self) -> datetime:
        """Return the present instant, in UTC."""


# What an engine reports about a run while it executes it.


@dataclass(frozen=True)
class Token:
    """The next piece of the agent's text, as it is streamed."""

    message_id: str
    text: str


@dataclass(frozen=True)
class Said:
    """Messages that are now in the conversation; one with a known id replaces the earlier one."""

    messages: Sequence[Message]


@dataclass(frozen=True)
class Proposed:
    """The tool calls of a turn, screened, before any of them runs."""

    calls: tuple[ScreenedCall, ...]


@dataclass(frozen=True)
class Paused:
    """The run has paused; these interrupts wait for answers."""

    waiting: tuple[str, ...]
    asked: Mapping[str, tuple[ScreenedCall, ...]] = field(default_factory=dict)
    """What each interrupt asks about. One that is not listed asks about every pending call."""


@dataclass(frozen=True)
class Superseded:
    """Another client answered the review before its decision was delivered."""

    review_id: str


@dataclass(frozen=True)
class Look:
    """The state of a thread's checkpoint."""

    messages: Sequence[Message] = ()
    calls: tuple[ScreenedCall, ...] = ()
    waiting: tuple[str, ...] = ()
    """Ids of the interrupts that wait for an answer."""
    answered: tuple[str, ...] = ()
    """Ids of interrupts whose answer is saved, but whose node has not finished."""
    stuck: tuple[str, ...] = ()
    """Those of `answered` whose answer made their node fail: it would fail again, whichever client resumes it."""
    unfinished: bool = False
    """Whether something can run before the next answer is given."""
    next: tuple[str, ...] = ()
    """The nodes that run or wait."""
    exists: bool = True
    """Whether there is a checkpoint at all."""
    output: Mapping[str, Any] | None = None
    """What the state holds besides the conversation, of what the agent gives back."""
    own: bool = True
    """Whether the last checkpoint was written by this console, not by another client."""


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
    """A thread as the engine holds it, for inspection."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str, bool], ...]
    """From, to, and whether the edge is conditional."""
    at: tuple[str, ...]
    """The nodes that run next, or wait."""
    payloads: Mapping[str, Any]
    """What each waiting interrupt carries, by its id."""
    pauses: Mapping[str, Pause]
    """The same payloads, parsed: what each asks, and in which shape it is answered."""
    steps: tuple[CheckpointStep, ...]
    """The last checkpoints, newest first."""


@dataclass(frozen=True)
class Stood:
    """The last report about a run: the state of its checkpoint now."""

    look: Look


@dataclass(frozen=True)
class Progressed:
    """Something that the agent's own code tells of its progress, as JSON."""

    text: str


Moment = Progressed | Said | Proposed | Paused | Superseded | Stood


class Engine(Protocol):
    """The executor of agents. Every method takes the run or thread it is about; none keeps state between calls."""

    def agent(self, name: str) -> Agent:
        """Return the agent served under this name. Raises `UnknownAgent`, or `AgentNotLoaded` with the reason."""

    def agents(self) -> Sequence[str]:
        """Return the names of the agents served, in the order of the configuration."""

    def tools(self) -> Sequence[str]:
        """Return the tools that the agents' policies name, each once, in order."""

    def broken(self) -> Mapping[str, LoadFailure]:
        """Return the agents that are configured but could not be loaded, with the reason."""

    def models(self) -> Sequence[str]:
        """Return the models a thread can be started with, the default first."""

    def stream(self, run: Run, stop: threading.Event, hear: Callable[[Token], None]) -> Iterator[Moment]:
        """Deliver the run's delivery and drive the agent until it pauses, answers or fails.

        `hear` is called with the agent's text while it is written, from whichever thread writes it; it must not raise.
        Ends without an exception on a pause, an answer, or at the next step after `stop` is set.
        Raises `RunCutOff` if an action's outcome became unknown or this process may not continue the run,
        `CheckpointLost` if the thread's state is gone, and whatever the model raised.
        """

    def look(self, agent: str, thread_id: str) -> Look:
        """Return the state of the thread's checkpoint now."""

    def waiting(self, agent: str, thread_id: str) -> tuple[str, ...]:
        """Return the ids of the interrupts that wait for an answer. If none does, the conversation is not read."""

    def forget(self, thread_id: str) -> None:
        """Delete the thread's checkpoints; idempotent. A run still active on it, anywhere, can write no more."""

    def inside(self, agent: str, thread_id: str, *, steps: int = 20) -> Inside:
        """Return the agent's graph and the thread's last checkpoints, read only. Raises `CheckpointLost`."""


class RunCutOff(Exception):
    """The run may not continue: for example, an action of it is executing elsewhere, or another client is active."""


# The ledger: reads need no transaction; writes happen inside one, which is committed completely or not at all.


@dataclass(frozen=True)
class Sought:
    """Filters for the queue or the trail; an empty field does not filter."""

    agent: str = ""
    tool: str = ""
    thread_id: str = ""
    text: str = ""
    """Text to find in the summary, the arguments, the tool or the thread id, ignoring case."""
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
    """Writes, and reads that see this transaction's own writes. Everything is committed, or nothing."""

    def append(self, *facts: UnsealedEvent) -> None:
        """Append facts to the chained trail, in order."""

    def erase(self, seqs: Sequence[int]) -> None:
        """Remove the data of these events. An erasure event that names them has to be appended first."""

    def add_thread(self, thread: Thread) -> None: ...
    def set_thread(self, thread_id: str, status: Status, at: str, error: str | None = None) -> None: ...
    def put_messages(self, thread_id: str, messages: Sequence[Message], at: str) -> None:
        """Add messages at the end of the transcript; one whose id exists already replaces the earlier message."""

    def open(self, run: Run) -> bool:
        """Open the thread's one run; return false if one is open already."""

    def close(self, run_id: str, owner: str, state: RunState, at: str, error: str | None = None) -> bool:
        """Close an open run of this owner; return false if it is not open or was taken over."""

    def take_over(self, run_id: str, owner: str, fence: int) -> bool: ...
    def ask_stop(self, run_id: str, by: str) -> bool: ...
    def propose(self, action: Action) -> bool:
        """Add an action. Returns false, and changes nothing, if its key exists."""

    def move(self, key: Key, start: ActionState, end: ActionState, **changes: Any) -> bool:
        """Move an action by compare-and-set. Returns false, and changes nothing, unless it was in state `start`."""

    def withdraw(
        self, action: Action, result: str, at: str, by: str | None = None, *, rule_id: str | None = ...
    ) -> None:
        """Withdraw an approval whose execution has not started, and record it. `result` is sent to the model."""

    def look_over(self, key: Key, by: str) -> bool:
        """Mark an action as looked over. Returns true the first time only."""

    def open_review(self, review: Review, keys: Sequence[Key]) -> bool: ...
    def end_review(self, review_id: str, state: ReviewState, at: str, by: str, outcome: str) -> bool:
        """End an open review by compare-and-set; return false if it had ended already."""

    def first_shown(self, review_id: str, reviewer: str, at: str) -> bool:
        """Record that this reviewer sees this review. Returns true the first time only."""

    def add_rule(self, rule: Rule) -> None: ...
    def count_use(self, rule_id: str, at: str) -> bool:
        """Count one more action that the rule approved. Returns false, and changes nothing, if the rule has ended."""

    def end_rule(self, rule_id: str, end: RuleEnd, at: str, by: str) -> bool:
        """End a rule for good. Returns true the first time only."""

    def add_note(self, note: Note) -> None: ...
    def give(self, thread_id: str, reviewer: str, face: Face, reviews: Given) -> None:
        """Note which reviews the reviewer is given now, replacing those noted before."""

    def set_halt(self, halt: Halt | None) -> None: ...
    def set_beat(self, owner: str, beat: int) -> None: ...
    def set_draft(self, review_id: str, reviewer: str, body: str | None) -> None: ...


class Anchors(Protocol):
    """Notes of the trail's head, made now and then and kept outside the ledger's own folder."""

    def read(self) -> list[Anchor]:
        """Return the anchors noted so far. Raises `AnchorsUnavailable`."""

    def append(self, anchor: Anchor) -> None:
        """Note an anchor; it is on disk when this returns. Raises `AnchorsUnavailable`."""


class Ledger(Reads, Protocol):
    @property
    def chain_key(self) -> bytes:
        """The key of the trail's hashes."""

    def write(self) -> AbstractContextManager[Transaction]:
        """Open one serialized transaction. Raises `LedgerUnavailable` if it cannot begin or be committed."""

    def check(self) -> None:
        """Raise `LedgerUnavailable` if the ledger cannot be read."""

    def scrub(self) -> None:
        """Remove what is left of erased data from the ledger's own files."""

    def shut(self) -> None: ...


class Runs(Protocol):
    """The executor of runs."""

    @property
    def owner(self) -> str:
        """The name of this process, under which its runs are open."""

    def start(self, run: Run, after: threading.Event | None = None) -> None:
        """Execute an open run of this owner: once `after` is set, or after a short delay at the latest."""

    def stop(self, thread_id: str | None) -> None:
        """Stop the thread's run, or every run if `thread_id` is None, at its next step."""

    def wait(self, run_id: str, seconds: float | None) -> bool:
        """Wait until the run has ended; return false if it had not after `seconds`."""

    def progress(self, thread_id: str) -> Progress | None: ...
    def progressed(self, run_id: str) -> Sequence[str]:
        """Return what the agent's own code told of its progress in this run, also shortly after the run's end."""

    def lives(self, owner: str) -> bool:
        """Return whether another process of this name could still act; a frozen one counts as alive."""
