"""The base of every part of the demo world: one SQLite database, atomic effects, and their change log."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Value = str | int | float | bytes | None


class WorldError(Exception):
    """A refusal by the world: a sentence with its remedy. Nothing was changed."""


@dataclass(frozen=True)
class Ref:
    """The action that acts on the world."""

    thread_id: str
    tool_call_id: str

    @classmethod
    def of(cls, config: Mapping[str, Any], tool_call_id: str) -> Ref:
        """Return the action a tool runs for, from the configuration LangChain passes to the tool."""
        return cls(str(config.get("configurable", {}).get("thread_id", "")), tool_call_id)


@dataclass(frozen=True)
class WorldChange:
    """One effect on the world, and the action that caused it."""

    seq: int
    at: datetime
    ref: Ref
    kind: str
    """Past tense: `mail_sent`, `mail_archived`, `file_written`, `row_removed`, `key_rotated`, `world_reset` …"""
    subject: str
    """The changed row, as table/key: `mailbox/m-3`, `outbox/1`, `files/notes/today.txt`, `notes/7`."""
    before: Any
    """None if it did not exist before."""
    after: Any
    """None if it no longer exists."""


@dataclass(frozen=True)
class WorldPart:
    """The tables of one subject, and their initial rows."""

    schema: tuple[str, ...]
    seed: Mapping[str, tuple[tuple[Value, ...], ...]]
    since: int = 1
    """The first version of the world with this part; an older file gets it when it is opened."""


LOG = WorldPart(
    (
        """
        CREATE TABLE IF NOT EXISTS changes (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, thread_id TEXT NOT NULL,
            tool_call_id TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, before TEXT, after TEXT
        )
        """,
    ),
    {"changes": ()},
)


class Store:
    """The database and the change log.

    Safe to use from any thread, and, if it is a file, from any process. Every method that changes something either
    succeeds completely or raises `WorldError` with nothing changed.
    """

    def __init__(
        self,
        path: Path | str,
        parts: Sequence[WorldPart],
        now: Callable[[], datetime],
    ) -> None:
        """Open the world in the file `path`, or in memory for `:memory:`; create and seed what is missing.

        Raises `WorldError` if the file cannot be used, or was written by a newer console.
        """
        self._path = str(path)
        self._parts = (LOG, *parts)
        self._now = now
        self._lock = threading.RLock()
        # Kept open as long as the world: in memory this connection is the world, and for a file it ensures that no
        # other connection is the last to close, which would checkpoint the complete write-ahead log.
        try:
            self._anchor = _open(self._path)
            try:
                _prepare(self._anchor, self._parts)
            except BaseException:
                self._anchor.close()
                raise
        except sqlite3.Error as error:
            raise WorldError(f"The demo world cannot be opened ({error}). {_remedy(str(error))}") from error

    def close(self) -> None:
        """Close the database. The world must not be used afterwards."""
        self._anchor.close()

    def changes(self, thread_id: str | None = None) -> tuple[WorldChange, ...]:
        """Return what was changed since the world was created or reset, oldest first; by one thread, if given."""
        rows = self._read(
            """
            SELECT seq, at, thread_id, tool_call_id, kind, subject, before, after
            FROM changes
            WHERE ?1 IS NULL OR thread_id = ?1
            ORDER BY seq
            """,
            thread_id,
        )
        return tuple(_change_of(row) for row in rows)

    def reset(self, ref: Ref) -> None:
        """Restore everything to its seed; the change log then holds only the reset."""
        with self._changing() as connection:
            for part in self._parts:
                _seed(connection, part)
            self._log(connection, ref, "world_reset", "world", None, None)

    # Connections

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if self._path == ":memory:":
            with self._lock:
                yield self._anchor
        else:
            with closing(_open(self._path)) as connection:
                yield connection

    def _read(self, query: str, *values: Value) -> list[Any]:
        with self._connection() as connection:
            return connection.execute(query, values).fetchall()

    @contextmanager
    def _changing(self, keep: bool = True) -> Iterator[sqlite3.Connection]:
        try:
            with self._connection() as connection, _transaction(connection, keep):
                yield connection
        except sqlite3.Error as error:
            raise WorldError(f"The demo world cannot be changed ({error}). Try again in a moment.") from error

    def _log(
        self, connection: sqlite3.Connection, ref: Ref, kind: str, subject: str, before: Any, after: Any
    ) -> None:
        connection.execute(
            """
            INSERT INTO changes (at, thread_id, tool_call_id, kind, subject, before, after)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            (
                stamp(self._now()),
                ref.thread_id,
                ref.tool_call_id,
                kind,
                subject,
                _json(before),
                _json(after),
            ),
        )


def _remedy(reason: str) -> str:
    if "malformed" in reason or "not a database" in reason:
        return "Restore its file from a copy, or remove it, and the world starts as seeded."
    return "Free the disk, or allow the console to use the file."


def quoted(text: str, limit: int = 60) -> str:
    """Quote a value for a sentence: one line, in quotation marks it cannot break out of, cut to `limit` characters."""
    cut = text if len(text) <= limit else text[:limit] + "…"
    escaped = cut.replace("\\", "\\\\").replace("“", "\\“").replace("”", "\\”")
    return "“" + escaped.replace("\r", "\\r").replace("\n", "\\n") + "”"


def _open(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=5.0, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    # A statement can produce text that is not UTF-8; it is shown with replacement characters rather than not at all.
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection, keep: bool = True) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT" if keep else "ROLLBACK")
    finally:
        # SQLite itself rolls back on an interrupt or an OR ROLLBACK; then nothing is left to undo.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _prepare(connection: sqlite3.Connection, parts: Sequence[WorldPart]) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    with _transaction(connection):
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for part in parts:
            for statement in part.schema:
                connection.execute(statement)
            if part.since > version:
                _seed(connection, part)
        newest = max(part.since for part in parts)
        if version > newest:
            raise WorldError(
                f"The demo world was written by a newer version of the console ({version} after {newest}). Update this one."
            )
        if newest > version:
            connection.execute(f"PRAGMA user_version = {newest:d}")


def _seed(connection: sqlite3.Connection, part: WorldPart) -> None:
    """Empty every table of the part and fill it with its seed; numbering restarts from 1."""
    for table, rows in part.seed.items():
        connection.execute(f"DELETE FROM {table}")
        for row in rows:
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        if table != "changes":  # the log's numbers continue
            connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))


def existing(connection: sqlite3.Connection, table: str, column: str) -> str:
    """Return the remedy for a name that does not exist: the names that do."""
    names = [row[0] for row in connection.execute(f"SELECT {column} FROM {table} ORDER BY 1 LIMIT 20")]
    return f"Use one of: {', '.join(names)}." if names else "There are none now."


def _change_of(row: sqlite3.Row) -> WorldChange:
    before, after = (None if row[side] is None else json.loads(row[side]) for side in ("before", "after"))
    ref = Ref(row["thread_id"], row["tool_call_id"])
    return WorldChange(
        row["seq"], datetime.fromisoformat(row["at"]), ref, row["kind"], row["subject"], before, after
    )


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, default=bytes.hex)


def stamp(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
