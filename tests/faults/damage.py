"""Files that are damaged, or cannot be used from the start: the message says so, and other threads are untouched."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from tests.faults.bench import Bench, Fault, Reply, Server
from tests.faults.person import ONE, Person, check_chain
from tests.faults.storage import REMEDIES, check_readable, check_refused, finished


def read_only_at_start(bench: Bench) -> None:
    """A server that starts on a ledger it cannot write shows what there is, and takes nothing."""
    server = bench.server()
    done = finished(bench, server)
    server.stop()
    server.order(ledger="read-only")
    server.start()
    check_readable(server, done)
    check_refused(Person(bench, server, ONE).send())
    server.order()
    done.check()


def no_database_at_start(bench: Bench) -> None:
    """A server whose ledger is no database ends with one message and leaves the file as it is."""
    # Aside: another server on the folder would have the whole pages of the file in its write-ahead log.
    with bench.aside() as aside:
        server = aside.server()
        done = finished(aside, server)
        server.stop()
        path = aside.data / "ledger.sqlite"
        whole = path.read_bytes()
        path.write_bytes(b"not a database " * 300)
        check_start_refused(server)
        path.write_bytes(whole)
        aside.server()
        done.check()
        aside.close()


def corrupt_checkpoints(bench: Bench) -> None:
    """Damaged pages under one thread's checkpoints stop that thread alone, and it says so."""
    with bench.aside() as aside:
        server = aside.server()
        victim, others = fill(aside, server)
        server.stop()
        damage(aside.data / "checkpoints.sqlite", ["checkpoints", "writes"], victim.thread_id, others)
        server.start()
        reply = server.post("chat", message="/say and now", thread_id=victim.thread_id)
        check_says_so(victim, reply)
        check_untouched(aside, server, others)


def corrupt_ledger(bench: Bench) -> None:
    """Damaged pages under one thread's messages stop that thread alone, and it says so."""
    with bench.aside() as aside:
        server = aside.server()
        victim, others = fill(aside, server)
        server.stop()
        damage(aside.data / "ledger.sqlite", ["messages"], victim.thread_id, others)
        server.start()
        reply = server.get(f"threads/{victim.thread_id}")
        if reply is None or reply.status != 503:
            raise Fault(f"a damaged transcript was shown: {reply}")
        check_refused(reply)
        check_untouched(aside, server, others)


def corrupt_trail(bench: Bench) -> None:
    """Where the record itself is damaged, verifying says so; threads can still be looked at."""
    with bench.aside() as aside:
        server = aside.server()
        victim, others = fill(aside, server)
        server.stop()
        damage(aside.data / "ledger.sqlite", ["events"], victim.thread_id, others)
        server.start()
        check_refused(server.get("audit/verify"))
        for person in (victim, *others):
            if not person.thread():
                raise Fault(f"{person.thread_id} cannot be looked at")


def fill(bench: Bench, server: Server) -> tuple[Person, list[Person]]:
    """A thread of long messages, which has pages of its own, and others before and after it."""
    before = finished(bench, server)
    victim = finished(bench, server)
    for _ in range(10):
        server.post("chat", message=f"/say {'long ' * 180}", thread_id=victim.thread_id)
    return victim, [before, finished(bench, server)]


def damage(path: Path, tables: Sequence[str], thread_id: str, others: Sequence[Person]) -> None:
    """Blank every leaf of these tables that holds rows of this thread and of no other."""
    marks = ", ".join("?" * len(tables))
    with closing(sqlite3.connect(path)) as conn:
        (size,) = conn.execute("PRAGMA page_size").fetchone()
        leaves = conn.execute(
            f"SELECT pageno FROM dbstat WHERE name IN ({marks}) AND pagetype = 'leaf'", tables
        ).fetchall()
    pages = bytearray(path.read_bytes())
    foreign = [other.thread_id.encode() for other in others]
    blanked = 0
    for (number,) in leaves:
        place = slice((number - 1) * size, number * size)
        page = pages[place]
        if thread_id.encode() in page and not any(other in page for other in foreign):
            pages[place] = bytes(size)
            blanked += 1
    if not blanked:
        raise Fault(f"{path.name} has no page of {thread_id} alone")
    path.write_bytes(pages)


def check_says_so(victim: Person, reply: Reply | None) -> None:
    if reply is None:
        raise Fault("a damaged thread brought the server down")
    said = f"{reply.body.get('error')} {reply.body.get('detail')}"
    if reply.body.get("answer") == "and now" or not any(words in said for words in REMEDIES):
        raise Fault(f"{victim.thread_id} is damaged and answers {reply}")


def check_untouched(bench: Bench, server: Server, others: Sequence[Person]) -> None:
    """Other threads, old and new, go on as if nothing were wrong."""
    for person in (*others, finished(bench, server)):
        person.check()
    check_chain(server)


def check_start_refused(server: Server) -> None:
    before = len(server.log.read_text())
    server.launch()
    code = server.await_end()
    said = server.log.read_text()[before:]
    if code != 2 or not any(words in said for words in REMEDIES) or "Traceback" in said:
        raise Fault(f"it ended with {code} and said:\n{said}")
