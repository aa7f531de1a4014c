"""Many threads in a ledger, as runs leave them: written through the ledger's own transactions, many to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.demos import mail
from agent.demos.world import World
from agent.engine.proposals import propose
from agent.ledger.keys import RecordKeys
from agent.ledger.sqlite import SqliteLedger
from agent.ports import Ledger, Transaction
from agent.review.actions import ActionState, Review, ReviewState
from agent.review.agents import Agent
from agent.review.deliveries import Send
from agent.review.events import EventKind, UnsealedEvent, instant
from agent.review.screening import Proposal, ScreenedCall, screen
from agent.review.threads import Message, Run, RunState, Status, Thread, ToolCall
from tests.bench.scale import Scale

BATCH = 1_000
"""Threads written in one transaction."""
SPAN = timedelta(days=365)
TOOL = "send_email"
ASKED = "Please write to them."
OWNER = "1-seeder"
LONG = "long-conversation"
"""The thread with many messages."""
KEY = b"k" * 32
SECRET = RecordKeys.of(KEY).digest
EVENTS_OF_WAITING = 6
EVENTS_OF_DECIDED = 10
"""Events that a thread leaves which waits, and one whose turn is over."""
DONE = "seeded"


class Seeder:
    """Writes threads of one agent, each a moment after the one before."""

    def __init__(self, ledger: Ledger, agent: Agent, secret: bytes) -> None:
        self._ledger, self._agent, self._secret = ledger, agent, secret
        self._moment = datetime.now(UTC) - timedelta(days=1)
        self._written = 0
        self._judged = screen(agent, "m", [Proposal("c", TOOL, _args("nobody"))])[0]

    def waiting(self, count: int) -> None:
        """Threads that wait for a decision, each on one action."""
        self._write(count, decided=False)

    def decided(self, events: int) -> None:
        """Threads that are over, until the trail has this many events."""
        while (missing := events - self._ledger.last_seq()) > 0:
            self._write(min(BATCH, -(-missing // EVENTS_OF_DECIDED)), decided=True)

    def conversation(self, thread_id: str, messages: int) -> None:
        """A thread of this many messages, all turns over."""
        with self._ledger.write() as tx:
            now = self._tick()
            tx.add_thread(self._thread(thread_id, Status.IDLE, now))
            tx.put_messages(thread_id, list(_spoken(messages)), now)
            tx.append(self._fact(EventKind.THREAD_STARTED, thread_id, now))

    def _write(self, count: int, *, decided: bool) -> None:
        end = self._written + count
        while self._written < end:
            with self._ledger.write() as tx:
                for number in range(self._written, min(self._written + BATCH, end)):
                    self._numbered(tx, number, decided)
                    self._written += 1

    def card(self, review_id: str, actions: int, argument: int) -> None:
        """A thread that waits on so many actions, each with an argument of so many characters."""
        body = "word " * (argument // 5)
        judged = [replace(self._call(f"person-{n}", f"c{n}"), message_id=review_id) for n in range(actions)]
        calls = [replace(one, args={**(one.args or {}), "body": body}) for one in judged]
        with self._ledger.write() as tx:
            self._one(tx, f"thread-{review_id}", review_id, calls)

    def _numbered(self, tx: Transaction, number: int, decided: bool) -> None:
        name = f"{number:07d}"
        review = self._one(tx, f"seeded-{name}", f"r-{name}", [self._call(f"person-{name}")])
        if decided:
            self._decide(tx, review)

    def _one(self, tx: Transaction, thread_id: str, review_id: str, calls: Sequence[ScreenedCall]) -> Review:
        """A thread that waits, with all that its run has recorded."""
        now, message_id = self._tick(), f"{thread_id}-m"
        tx.add_thread(self._thread(thread_id, Status.WAITING, now))
        run = self._run(thread_id, message_id, now)
        tx.open(run)
        tx.append(
            self._fact(EventKind.THREAD_STARTED, thread_id, now),
            self._fact(EventKind.MESSAGE_SENT, thread_id, now, text=ASKED),
            self._fact(EventKind.RUN_STARTED, thread_id, now, run_id=run.run_id),
        )
        proposed = [replace(call, message_id=message_id) for call in calls]
        keys = [propose(tx, run, call, place, self._secret, now).key for place, call in enumerate(proposed)]
        said = tuple(ToolCall(call.tool_call_id, call.tool, call.args) for call in calls)
        asked = Message(f"{thread_id}-h", "human", ASKED)
        tx.put_messages(thread_id, [asked, Message(message_id, "ai", "", said)], now)
        expires_at = instant(self._moment + SPAN)
        tx.open_review(Review(review_id, thread_id, run.agent, ReviewState.OPEN, now, expires_at), keys)
        tx.close(run.run_id, run.owner, RunState.PAUSED, now)
        tx.append(
            replace(self._fact(EventKind.REVIEW_OPENED, thread_id, now), review_id=review_id),
            self._fact(EventKind.RUN_ENDED, thread_id, now, run_id=run.run_id, ended="paused"),
        )
        return tx.open_reviews(thread_id)[0]

    def _decide(self, tx: Transaction, review: Review) -> None:
        now, thread_id, action = self._tick(), review.thread_id, review.actions[0]
        approve = {"type": "approve", "message": None, "comment": None}
        changes = {"decision": approve, "decided_by": "ana", "decided_at": now}
        tx.move(action.key, ActionState.PENDING, ActionState.APPROVED, **changes)
        tx.end_review(review.review_id, ReviewState.DECIDED, now, "ana", "approve")
        tx.move(action.key, ActionState.APPROVED, ActionState.EXECUTING, started_at=now, owner=OWNER)
        tx.move(action.key, ActionState.EXECUTING, ActionState.DONE, ended_at=now, result="Sent.")
        tx.set_thread(thread_id, Status.IDLE, now)
        kinds = (
            EventKind.DECISION_MADE,
            EventKind.RUN_STARTED,
            EventKind.EXECUTION_STARTED,
            EventKind.EXECUTION_FINISHED,
        )
        facts = [self._fact(kind, thread_id, now, args=action.args) for kind in kinds]
        tx.append(*(replace(fact, tool_call_id="c", tool=TOOL) for fact in facts))

    def _call(self, name: str, call_id: str = "c") -> ScreenedCall:
        """The judged call, as another thread would have it: only its words differ."""
        args = _args(name)
        summary = self._judged.summary.replace(_args("nobody")["to"], args["to"])
        return replace(self._judged, tool_call_id=call_id, args=args, proposed=args, summary=summary)

    def _run(self, thread_id: str, message_id: str, now: str) -> Run:
        delivery = Send(message_id, "Please write to them.")
        return Run(
            f"run-{thread_id}", thread_id, self._agent.name, "demo", delivery, "1-seeder", 1, now, "ana"
        )

    def _thread(self, thread_id: str, status: Status, now: str) -> Thread:
        return Thread(thread_id, self._agent.name, "demo", status, now, now, "ana", ASKED)

    def _fact(self, kind: EventKind, thread_id: str, now: str, **data: object) -> UnsealedEvent:
        return UnsealedEvent(
            kind=kind, at=now, thread_id=thread_id, agent=self._agent.name, by="ana", data=data
        )

    def _tick(self) -> str:
        self._moment += timedelta(milliseconds=10)
        return instant(self._moment)


def _args(name: str) -> dict[str, str]:
    return {"to": f"{name}@example.com", "subject": "Notes", "body": "The notes of the meeting."}


def _spoken(count: int) -> Iterator[Message]:
    for number in range(count):
        kind = "ai" if number % 2 else "human"
        yield Message(f"said-{number}", kind, f"Message {number} of a long conversation.")


def keep(folder: Path, elsewhere: Path) -> None:
    """Let the seeded data folders of this folder stand elsewhere, where a later run finds them again."""
    for name in ("small", "served", "page", "large", "cards"):
        (elsewhere / name).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(elsewhere / name)


def small(scale: Scale, folder: Path) -> Path:
    """A data folder with few waiting; made once for all subjects."""
    return _made(folder / "small", lambda seeder: _fill(seeder, scale.few_waiting, 0, scale.few_messages))


def served(scale: Scale, folder: Path) -> Path:
    """A data folder with as many waiting as an Agent Server can have."""
    return _made(folder / "served", lambda seeder: _fill(seeder, scale.served_waiting, 0, scale.few_messages))


def page(scale: Scale, folder: Path) -> Path:
    """A data folder whose queue is one page long."""
    return _made(folder / "page", lambda seeder: _fill(seeder, scale.page_of_waiting, 0, scale.few_messages))


def large(scale: Scale, folder: Path) -> Path:
    """A data folder with everything at its largest."""
    return _made(folder / "large", lambda seeder: _fill(seeder, scale.waiting, scale.events, scale.messages))


def cards(folder: Path, sizes: Mapping[str, tuple[int, int]]) -> Path:
    """A data folder with one waiting review of each name, of so many actions with arguments of so many characters."""

    def fill(seeder: Seeder) -> None:
        for name, (actions, argument) in sizes.items():
            seeder.card(name, actions, argument)

    return _made(folder / "cards", fill)


def _fill(seeder: Seeder, waiting: int, events: int, messages: int) -> None:
    seeder.waiting(waiting)
    seeder.conversation(LONG, messages)
    seeder.decided(events)


def _made(folder: Path, fill: Callable[[Seeder], None]) -> Path:
    if not (folder / DONE).exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "anchors.jsonl.key").write_bytes(KEY)
        ledger = SqliteLedger(folder / "ledger.sqlite", chain_key=RecordKeys.of(KEY).chain)
        with closing(World(folder / "world.sqlite")) as world:
            fill(Seeder(ledger, mail.define(world), SECRET))
        ledger.shut()
        (folder / DONE).touch()
    return folder
