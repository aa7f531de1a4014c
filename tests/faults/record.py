"""Somebody with access to the files changes the record: `verify` names the first fault."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from agent.bootstrap import open_console
from agent.console import Console
from agent.review.events import GENESIS, commitment, event_hash
from tests.faults.bench import Bench, Fault, Server
from tests.faults.storage import finished

KEY = "anchors.jsonl.key"
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
                console.trail.anchor()
                count = console.trail.verify().count
            with closing(sqlite3.connect(aside.data / "ledger.sqlite")) as conn:
                unlock(conn)
                first = how(conn, bench.chance.randint(2, count - 1))
                conn.commit()
            with looking(aside) as console:
                found = console.trail.verify()
            if found.ok or f"vent {first} " not in str(found.first_fault):
                raise Fault(f"event {first} of {count} is wrong, and it is said: {found.first_fault}")

    return tamper


def copy_ledger(bench: Bench, aside: Bench) -> None:
    """The ledger alone, with the key it is kept with."""
    aside.data.mkdir()
    shutil.copy(bench.folder / KEY, aside.folder / KEY)
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


def delete_the_last_approval(conn: sqlite3.Connection, seq: int) -> int:
    """The approval, and all that it led to, is cut from the tail."""
    (decided,) = conn.execute("SELECT max(seq) FROM events WHERE kind = 'DecisionMade'").fetchone()
    return cut(conn, decided)


def rename_the_decider(conn: sqlite3.Connection, seq: int) -> int:
    """Somebody else has decided, and every hash from there on is made again as the format says, without the key."""
    (decided,) = conn.execute("SELECT max(seq) FROM events WHERE kind = 'DecisionMade'").fetchone()
    conn.execute("UPDATE events SET by = 'mallory' WHERE seq = ?", (decided,))
    seal_again(conn, decided)
    return int(decided)


def write_it_all_again(conn: sqlite3.Connection, seq: int) -> int:
    """The whole chain is made again without the key, as if there had never been one."""
    conn.execute("UPDATE events SET by = 'mallory' WHERE by IS NOT NULL")
    seal_again(conn, 1)
    return 1


def blank(conn: sqlite3.Connection, seq: int) -> int:
    """What an event holds is gone, with its salt, as an erasure leaves it."""
    conn.execute("UPDATE events SET data = NULL, salt = '' WHERE seq = ?", (seq,))
    return seq


def blank_and_say_so(conn: sqlite3.Connection, seq: int) -> int:
    """What an event holds is gone, and an event of erasure says so, which nobody with the key has written."""
    blank(conn, seq)
    (last,) = conn.execute("SELECT max(seq) FROM events").fetchone()
    told, salt = {"seqs": [seq], "why": "tidying up"}, "salt"
    conn.execute(
        """
        INSERT INTO events (seq, at, kind, by, salt, data, commitment, hash)
        SELECT seq + 1, at, 'DataErased', 'mallory', ?, ?, ?, '' FROM events WHERE seq = ?
        """,
        (salt, json.dumps(told), commitment(salt, told), last),
    )
    seal_again(conn, last + 1)
    return int(last) + 1


def seal_again(conn: sqlite3.Connection, first: int) -> None:
    """Make every hash from this event on again, as somebody can who knows the format and has no key."""
    conn.row_factory = sqlite3.Row
    found = conn.execute("SELECT * FROM events WHERE seq >= ? ORDER BY seq", (first - 1,)).fetchall()
    previous = found.pop(0)["hash"] if first > 1 else GENESIS
    for row in found:
        names = set(row.keys()) - {"salt", "data", "commitment", "hash"}
        told = {name: row[name] for name in names}
        previous = event_hash(previous, {**told, "data": row["commitment"]}, None)
        conn.execute("UPDATE events SET hash = ? WHERE seq = ?", (previous, row["seq"]))
    conn.row_factory = None


def tampered_after_a_kill(how: Tampering, *, after: float = 0.0) -> Callable[[Bench], None]:
    """The server is killed so many seconds after an approval was carried out, and the record changed before the next start."""

    def tamper(bench: Bench) -> None:
        with bench.aside() as aside:
            server = aside.server()
            for _ in range(bench.chance.randint(1, 2)):
                finished(aside, server)
            time.sleep(after)
            server.kill()
            with closing(sqlite3.connect(aside.data / "ledger.sqlite")) as conn:
                unlock(conn)
                (count,) = conn.execute("SELECT count(*) FROM events").fetchone()
                how(conn, bench.chance.randint(2, count))
                conn.commit()
            server.start()
            check_names(server)

    return tamper


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
