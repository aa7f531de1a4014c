"""Many threads in a ledger, as runs leave them: written through the ledger's own transactions, many to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.demos import mail
from agent.demos.world import World
from agent.engine.proposing import propose
from agent.ledger.sqlite import SqliteLedger
from agent.ports import Ledger, Send, Transaction, deliveries
from agent.review.actions import Action, Review, ReviewState, State
from agent.review.agents import Agent
from agent.review.events import Fact, Kind, instant
from agent.review.screening import Call, Proposal, screen
from agent.review.threads import Message, Run, RunState, Status, Thread, ToolCall
from tests.bench.scale import Scale

BATCH = 1_000
"""Threads written in one transaction."""
SPAN = timedelta(days=365)
TOOL = "send_email"
LONG = "long-conversation"
"""The thread with many messages."""
SECRET = b"k" * 32
EVENTS_OF_DECIDED = 10
"""Events that a thread leaves whose turn is over."""
DONE = "seeded"


class Seeder:
    """Writes threads of one agent, each a moment after the one before."""

    def __init__(self, ledger: Ledger, agent: Agent, secret: bytes) -> None:
        self._ledger, self._agent, self._secret = ledger, agent, secret
        self._moment = datetime.now(UTC) - timedelta(days=1)
        self._written = 0
        self._judged = screen(agent, "m", [Proposal("c", TOOL, _args(""))])[0]

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
            tx.append(self._fact(Kind.THREAD_STARTED, thread_id, now))

    def _write(self, count: int, *, decided: bool) -> None:
        end = self._written + count
        while self._written < end:
            with self._ledger.write() as tx:
                for number in range(self._written, min(self._written + BATCH, end)):
                    self._one(tx, number, decided)
                    self._written += 1

    def _one(self, tx: Transaction, number: int, decided: bool) -> None:
        now, thread_id = self._tick(), f"seeded-{number:07d}"
        status = Status.IDLE if decided else Status.WAITING
        tx.add_thread(self._thread(thread_id, status, now))
        run = self._run(thread_id, f"m-{number}", now)
        tx.open(run)
        tx.append(
            self._fact(Kind.THREAD_STARTED, thread_id, now),
            self._fact(Kind.MESSAGE_SENT, thread_id, now, text="Please write to them."),
            self._fact(Kind.RUN_STARTED, thread_id, now, run_id=run.run_id),
        )
        action = propose(tx, run, self._call(number), 0, self._secret, now)
        calls = (ToolCall("c", TOOL, action.args),)
        asked = Message(f"{thread_id}-h", "human", "Please write to them.")
        tx.put_messages(thread_id, [asked, Message(f"m-{number}", "ai", "", calls)], now)
        review = Review(f"r-{number:07d}", thread_id, run.agent, ReviewState.OPEN, now, self._later(SPAN))
        tx.open_review(review, [action.key])
        tx.close(run.run_id, run.owner, RunState.PAUSED, now)
        tx.append(
            replace(self._fact(Kind.REVIEW_OPENED, thread_id, now), review_id=review.review_id),
            self._fact(Kind.RUN_ENDED, thread_id, now, run_id=run.run_id, ended="paused"),
        )
        if decided:
            self._decide(tx, action, review)

    def _decide(self, tx: Transaction, action: Action, review: Review) -> None:
        now, thread_id = self._tick(), review.thread_id
        decision = {"type": "approve", "message": None, "comment": None}
        tx.move(
            action.key, State.PENDING, State.APPROVED, decision=decision, decided_by="ana", decided_at=now
        )
        tx.end_review(review.review_id, ReviewState.DECIDED, now, "ana", "approve")
        tx.move(action.key, State.APPROVED, State.EXECUTING, started_at=now, owner="1-seeder")
        tx.move(action.key, State.EXECUTING, State.DONE, ended_at=now, result="Sent.")
        kinds = (Kind.DECISION_MADE, Kind.RUN_STARTED, Kind.EXECUTION_STARTED, Kind.EXECUTION_FINISHED)
        facts = [self._fact(kind, thread_id, now, args=action.args) for kind in kinds]
        tx.append(*(replace(fact, tool_call_id="c", tool=TOOL) for fact in facts))

    def _call(self, number: int) -> Call:
        """The judged call, as another thread would have it: only its words differ."""
        args = _args(f"person-{number:07d}")
        summary = self._judged.summary.replace(_args("")["to"], args["to"])
        return replace(self._judged, message_id=f"m-{number}", args=args, proposed=args, summary=summary)

    def _run(self, thread_id: str, message_id: str, now: str) -> Run:
        delivery = deliveries.dump_python(Send(message_id, "Please write to them."), mode="json")
        return Run(
            f"run-{thread_id}", thread_id, self._agent.name, "demo", delivery, "1-seeder", 1, now, "ana"
        )

    def _thread(self, thread_id: str, status: Status, now: str) -> Thread:
        return Thread(thread_id, self._agent.name, "demo", status, now, now, "ana", "Please write to them.")

    def _fact(self, kind: Kind, thread_id: str, now: str, **data: object) -> Fact:
        return Fact(kind=kind, at=now, thread_id=thread_id, agent=self._agent.name, by="ana", data=data)

    def _tick(self) -> str:
        self._moment += timedelta(milliseconds=10)
        return instant(self._moment)

    def _later(self, span: timedelta) -> str:
        return instant(self._moment + span)


def _args(name: str) -> dict[str, str]:
    return {"to": f"{name or 'nobody'}@example.com", "subject": "Notes", "body": "The notes of the meeting."}


def _spoken(count: int) -> Iterator[Message]:
    for number in range(count):
        kind = "ai" if number % 2 else "human"
        yield Message(f"said-{number}", kind, f"Message {number} of a long conversation.")


def small(scale: Scale, folder: Path) -> Path:
    """A data folder with few waiting; made once for all subjects."""
    return _made(folder / "small", lambda seeder: _fill(seeder, scale.few_waiting, 0, scale.few_messages))


def page(scale: Scale, folder: Path) -> Path:
    """A data folder whose queue is one page long."""
    return _made(folder / "page", lambda seeder: _fill(seeder, scale.page_of_waiting, 0, scale.few_messages))


def large(scale: Scale, folder: Path) -> Path:
    """A data folder with everything at its largest."""
    return _made(folder / "large", lambda seeder: _fill(seeder, scale.waiting, scale.events, scale.messages))


def _fill(seeder: Seeder, waiting: int, events: int, messages: int) -> None:
    seeder.waiting(waiting)
    seeder.conversation(LONG, messages)
    seeder.decided(events)


def _made(folder: Path, fill: Callable[[Seeder], None]) -> Path:
    if not (folder / DONE).exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "digest.key").write_bytes(SECRET)
        ledger = SqliteLedger(folder / "ledger.sqlite")
        with closing(World(folder / "world.sqlite")) as world:
            fill(Seeder(ledger, mail.define(world), SECRET))
        ledger.shut()
        (folder / DONE).touch()
    return folder
