"""Somebody with access to the files changes the record: `verify` names the first fault."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from agent.bootstrap import open_console
from agent.console import Console
from tests.faults.bench import Bench, Fault, Server
from tests.faults.storage import finished

COLUMNS = (
    "at, kind, thread_id, agent, by, review_id, tool_call_id, tool, digest, salt, data, commitment, hash"
)

Tampering = Callable[[sqlite3.Connection, int], int]
"""Changes the row of that number, and gives the number of the first event that is then wrong."""


def edit_data(conn: sqlite3.Connection, seq: int) -> int:
    conn.execute("""UPDATE events SET data = json_set(data, '$.text', 'another') WHERE seq = ?""", (seq,))
    return seq


def edit_who(conn: sqlite3.Connection, seq: int) -> int:
    conn.execute("UPDATE events SET by = 'somebody else' WHERE seq = ?", (seq,))
    return seq


def remove(conn: sqlite3.Connection, seq: int) -> int:
    conn.execute("DELETE FROM events WHERE seq = ?", (seq,))
    return seq


def remove_and_close_the_gap(conn: sqlite3.Connection, seq: int) -> int:
    remove(conn, seq)
    _shift(conn, seq, -1)
    return seq


def insert(conn: sqlite3.Connection, seq: int) -> int:
    _shift(conn, seq, 1)
    conn.execute(
        f"INSERT INTO events (seq, {COLUMNS}) SELECT ?, {COLUMNS} FROM events WHERE seq = ?", (seq + 1, seq)
    )
    return seq + 1


def swap(conn: sqlite3.Connection, seq: int) -> int:
    conn.execute("UPDATE events SET seq = -1 WHERE seq = ?", (seq,))
    conn.execute("UPDATE events SET seq = ? WHERE seq = ?", (seq, seq + 1))
    conn.execute("UPDATE events SET seq = ? WHERE seq = -1", (seq + 1,))
    return seq


def cut(conn: sqlite3.Connection, seq: int) -> int:
    conn.execute("DELETE FROM events WHERE seq >= ?", (seq,))
    return seq


def _shift(conn: sqlite3.Connection, behind: int, by: int) -> None:
    """Move every later row, by way of numbers that nothing has."""
    conn.execute("UPDATE events SET seq = -(seq + ?) WHERE seq > ?", (by, behind))
    conn.execute("UPDATE events SET seq = -seq WHERE seq < 0")


def tampered(how: Tampering) -> Callable[[Bench], None]:
    """The ledger's rows are changed in a copy of the folder: the first that is wrong is found."""

    def tamper(bench: Bench) -> None:
        finished(bench, bench.server())
        with bench.aside() as aside:
            copy_ledger(bench, aside)
            with looking(aside) as console:
                console.anchor(every=1)
                count = console.verify().count
            with closing(sqlite3.connect(aside.data / "ledger.sqlite")) as conn:
                unlock(conn)
                first = how(conn, bench.chance.randint(2, count - 1))
                conn.commit()
            with looking(aside) as console:
                found = console.verify()
            if found.ok or f"vent {first} " not in str(found.first_fault):
                raise Fault(f"event {first} of {count} is wrong, and it is said: {found.first_fault}")

    return tamper


def copy_ledger(bench: Bench, aside: Bench) -> None:
    aside.data.mkdir()
    with (
        closing(sqlite3.connect(bench.data / "ledger.sqlite")) as kept,
        closing(sqlite3.connect(aside.data / "ledger.sqlite")) as copy,
    ):
        kept.backup(copy)


@contextmanager
def looking(bench: Bench) -> Iterator[Console]:
    """A console that only looks, as the command line's `verify` does."""
    opened = open_console(bench.settings(), at_work=False)
    try:
        yield opened.console
    finally:
        opened.close()


def unlock(conn: sqlite3.Connection) -> None:
    """Take away what keeps the trail append-only, as somebody with access to the file can."""
    triggers = conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'events'")
    for (name,) in triggers.fetchall():
        conn.execute(f"DROP TRIGGER {name}")


def older_copy(bench: Bench) -> None:
    """A copy of the folder from before is put back: the anchor outside it tells how far the record had come."""
    with bench.aside() as aside:
        server = aside.server()
        finished(aside, server)
        server.stop()
        kept = aside.folder / "kept"
        shutil.copytree(aside.data, kept)
        with closing(sqlite3.connect(kept / "ledger.sqlite")) as conn:
            (count,) = conn.execute("SELECT count(*) FROM events").fetchone()
        server.start()
        for _ in range(bench.chance.randint(1, 3)):
            finished(aside, server)
        server.stop()
        shutil.rmtree(aside.data)
        kept.rename(aside.data)
        server.start()
        check_names(server, count + 1)
        finished(aside, server)
        check_names(server)


def check_names(server: Server, first: int | None = None) -> None:
    """`verify` finds a fault, and names this event as the first that is wrong."""
    reply = server.get("audit/verify")
    if reply is None or reply.status != 200 or reply.body["ok"]:
        raise Fault(f"a changed record passes: {reply}")
    if first is not None and f"vent {first} " not in reply.body["first_fault"]:
        raise Fault(f"event {first} is wrong, and {reply.body['first_fault']!r} is said")
