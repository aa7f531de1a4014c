"""Files that are locked, full, read-only or damaged: nothing runs unrecorded, and what can still work does."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, Literal

from tests.conftest import until
from tests.faults import moments
from tests.faults.bench import PATIENCE, Bench, FalseNotExecuted, Fault, Reply, Server
from tests.faults.person import ONE, STORIES, Person, check_chain
from tests.faults.races import paused

Illness = Literal["locked", "full", "read-only"]
BUSY = 200
"""Milliseconds a server waits for a lock here; the lock is held for longer."""
REMEDIES = ("try again", "Try again", "Retry", "Restore", "Free ", "Allow ")


def ledger(illness: Illness) -> Callable[[Bench], None]:
    """A message and a decision while the ledger cannot be written: nothing is done, everything can be read."""

    def suffer(bench: Bench) -> None:
        server = bench.server()
        waiting, _ = paused(bench, server, bench.chance.choice(STORIES))
        done = finished(bench, server)
        asked = Person(bench, server, ONE)
        with ill(bench, server, "ledger", illness):
            for reply in (asked.send(), waiting.decide(waiting.rest() or {})):
                if illness == "full" and reply is not None and reply.taken:
                    continue  # what it takes to record this found room in the file as it is
                check_refused(reply)
                if waiting.effects_by_call() and not begun(server, waiting):
                    raise Fault("something ran unrecorded")
            check_readable(server, done, waiting)
        for person in (waiting, asked):
            person.may_fail = True
            person.finish()
            person.check()
        check_chain(server)

    return suffer


def begun(server: Server, person: Person) -> bool:
    """Whether the record says that a tool of the thread was started: a full file may have had room for that."""
    reply = server.get("audit", thread_id=person.thread_id, kind="ExecutionStarted")
    return reply is not None and bool(reply.body["events"])


def ledger_in_a_tool(illness: Illness) -> Callable[[Bench], None]:
    """The ledger cannot take how a tool ended: the action is unknown, and never told as not done."""

    def suffer(bench: Bench) -> None:
        server = bench.server()
        person, review = paused(bench, server, ONE)
        server.order(moment=moments.EFFECT, how="hold")
        decided_later(person, review)
        until(server.reached, PATIENCE)
        told = len(server.log.read_text())
        with ill(bench, server, "ledger", illness):
            until(lambda: "could not be recorded" in server.log.read_text()[told:] or ended(person), PATIENCE)
        thread = person.rest() or {}
        if thread["status"] != "unknown_outcome" and illness != "full":  # full, there was room as it is
            raise Fault(f"an end that could not be recorded: {thread}")
        check_not_denied(person)
        # That room may have been for the tool's end, and for no more of the run.
        person.may_fail = illness == "full"
        person.finish()
        person.check()
        check_chain(server)

    return suffer


def checkpoints(illness: Illness) -> Callable[[Bench], None]:
    """A run fails for want of its checkpoints and says what to do; once they are well it goes on from where it stood."""

    def suffer(bench: Bench) -> None:
        server = bench.server()
        person, _ = paused(bench, server, bench.chance.choice(STORIES))
        done = finished(bench, server)
        with ill(bench, server, "checkpoints", illness):
            person.decide(person.rest() or {})
            check_failed(person, illness)
            check_readable(server, done, person)
        person.may_fail = True
        person.finish()
        person.check()
        check_chain(server)

    return suffer


def checkpoints_in_a_tool(illness: Illness) -> Callable[[Bench], None]:
    """The checkpoint of a tool's end cannot be written: tried again, the run takes the recorded result."""

    def suffer(bench: Bench) -> None:
        server = bench.server()
        person, review = paused(bench, server, ONE)
        server.order(moment=moments.EFFECT, how="hold")
        decided_later(person, review)
        until(server.reached, PATIENCE)
        with ill(bench, server, "checkpoints", illness):
            check_failed(person, illness)
        person.may_fail = True
        person.finish()
        person.check()
        check_chain(server)

    return suffer


def world(illness: Illness) -> Callable[[Bench], None]:
    """A tool cannot act: it has failed, the agent is told so, and the turn goes on."""

    def suffer(bench: Bench) -> None:
        server = bench.server()
        person, _ = paused(bench, server, ONE)
        with ill(bench, server, "world", illness):
            person.decide(person.rest() or {})
            person.rest()
        if not person.effects_by_call():
            person.settled = {"a": "failed"}
        person.check()
        check_chain(server)

    return suffer


# Illness


@contextmanager
def ill(bench: Bench, server: Server, file: str, illness: Illness) -> Iterator[None]:
    """One file of the folder is ill for every connection of the server, then well again."""
    if illness == "locked":
        with closing(sqlite3.connect(bench.data / f"{file}.sqlite", isolation_level=None)) as other:
            other.execute("PRAGMA busy_timeout = 30000")
            other.execute("BEGIN IMMEDIATE")
            server.order(busy=BUSY)
            yield
            other.execute("ROLLBACK")
    else:
        server.order(busy=BUSY, **{file: illness})
        yield
    server.order()


# Looking


def finished(bench: Bench, server: Server) -> Person:
    person = Person(bench, server, ONE)
    person.go()
    person.finish()
    return person


def decided_later(person: Person, review: dict[str, Any]) -> None:
    """A decision whose run is not waited for."""
    decisions = [{"type": "approve"}]
    reply = person.server.post(
        "review", later=True, thread_id=person.thread_id, review_id=review["review_id"], decisions=decisions
    )
    if reply is None or not reply.taken:
        raise Fault(f"{reply}")
    person.decided[review["review_id"]] = decisions


def ended(person: Person) -> bool:
    """Whether how its tool ended is on record."""
    return any(action["state"] == "done" for action in (person.thread() or {})["actions"])


def check_not_denied(person: Person) -> None:
    """Nowhere in its record does it stand that nothing was done."""
    reply = person.server.get("audit", thread_id=person.thread_id)
    if reply is None or "nothing was done" in str(reply.body):
        raise FalseNotExecuted(f"{person.thread_id}: {reply}")


def check_refused(reply: Reply | None) -> None:
    """Nothing was done, and the message says what to do."""
    if reply is None or reply.status != 503 or not any(words in reply.body["detail"] for words in REMEDIES):
        raise Fault(f"a file that cannot be used was answered with {reply}")


def check_failed(person: Person, illness: Illness) -> None:
    """The run has failed and says what to do."""
    thread = person.rest() or {}
    if illness == "full" and thread["status"] in ("idle", "waiting"):
        return  # there was room in the file as it is
    if thread["status"] != "failed" or not any(words in thread["error"] for words in REMEDIES):
        raise Fault(f"a run without its checkpoints stands as {thread['status']}: {thread.get('error')}")


def check_readable(server: Server, *people: Person) -> None:
    """All that is only looked at can be looked at."""
    paths = ["health", "reviews", "audit", *(f"threads/{person.thread_id}" for person in people)]
    for path in paths:
        reply = server.get(path)
        if reply is None or reply.status != 200:
            raise Fault(f"{path} cannot be read: {reply}")
