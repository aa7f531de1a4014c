"""The ledger on SQLite: a file of its own with a write-ahead log; a commit is on disk before it returns."""

from __future__ import annotations

import queue
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent.ledger import queue as ledger_queue
from agent.ledger import rows
from agent.ledger.given import GivenWrites
from agent.ledger.migrations import migrate
from agent.ledger.notes import NoteWrites
from agent.ledger.reads import SqliteReads
from agent.ledger.rules import RuleWrites
from agent.ledger.statements import read
from agent.review import deliveries
from agent.review.actions import Action, ActionState, Key, Review, ReviewState, may_move
from agent.review.errors import LedgerUnavailable
from agent.review.events import GENESIS, UnsealedEvent, seal
from agent.review.facts import LEFT_OUT, ActionWithdrawnFact, of_action
from agent.review.threads import Halt, Message, Run, RunState, Status, Thread

BUSY_MS = 5_000
LOG_PAGES = 4_000
"""Pages of the log, 16 MB, before they are copied into the file: pages that many commits rewrite are copied once."""


class SqliteLedger(SqliteReads):
    """The ledger at `path`, created or migrated if necessary; `:memory:` gives one that lives as long as the object.

    Each connection is used by one thread at a time; a memory ledger has a single connection.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        chain_key: bytes | None = None,
        busy_ms: int = BUSY_MS,
        frozen: Callable[[], Sequence[int]] = tuple,
    ) -> None:
        """Open the ledger. Raises `LedgerUnavailable`.

        `busy_ms` is how long a write waits for another to end; `frozen` returns the ids of frozen processes, which may
        never end theirs. Without a `chain_key` a random one is used, for ledgers that live as long as the object.
        """
        self.chain_key = chain_key or secrets.token_bytes(32)
        self._path, self._busy_ms, self._frozen = str(path), busy_ms, frozen
        self._memory = self._path == ":memory:"
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._turn = threading.RLock()
        self._closed = False
        first = self._connect()
        try:
            migrate(first)
        except sqlite3.Error as error:
            raise LedgerUnavailable(f"{self._path}: {error}") from error
        self._idle.put(first)

    @contextmanager
    def write(self) -> Iterator[SqliteTransaction]:
        with self._turn, self._lent() as conn:
            try:
                conn.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                raise LedgerUnavailable(f"{error}{self._blame(error)}") from error
            try:
                yield SqliteTransaction(conn, self.chain_key)
                conn.execute("COMMIT")
            except BaseException as error:
                if conn.in_transaction:
                    conn.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error | OverflowError):  # a number beyond SQLite's range
                    raise LedgerUnavailable(str(error)) from error
                raise

    def _blame(self, error: sqlite3.Error) -> str:
        """Return which frozen process may hold the lock, in words, if the database is locked; else ""."""
        pids = self._frozen() if "locked" in str(error) else ()
        return f"; process {' and '.join(map(str, pids))} is frozen and may hold it" if pids else ""

    def check(self) -> None:
        self._all("SELECT seq FROM events LIMIT 1")

    def mark_key(self, mark: str) -> str:
        """Store the mark that identifies the chain's key, unless one is stored already; return the stored one."""
        self._all("INSERT INTO chain_key (one, mark) VALUES (1, ?) ON CONFLICT DO NOTHING", mark)
        return str(self._all("SELECT mark FROM chain_key")[0]["mark"])

    def scrub(self) -> None:
        """Truncate the log, so that it holds nothing of what was erased; has no effect while somebody reads from it."""
        self._all("PRAGMA wal_checkpoint(TRUNCATE)")

    def shut(self) -> None:
        self._closed = True
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return

    def _all(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        try:
            if self._memory:
                with self._turn, self._lent() as conn:
                    return read(conn, sql, values)
            with self._lent() as conn:
                return read(conn, sql, values)
        except sqlite3.Error as error:
            raise LedgerUnavailable(str(error)) from error

    def _connect(self) -> sqlite3.Connection:
        try:
            conn = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            conn.row_factory = sqlite3.Row
            conn.execute(f"PRAGMA busy_timeout = {self._busy_ms}")
            # SQLite's own lower() handles ASCII letters only.
            conn.create_function("folded", 1, ledger_queue.folded, deterministic=True)
            conn.execute("PRAGMA journal_mode = WAL")
            conn.execute("PRAGMA synchronous = FULL")
            conn.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        except sqlite3.Error as error:
            raise LedgerUnavailable(f"{self._path}: {error}") from error
        return conn

    @contextmanager
    def _lent(self) -> Iterator[sqlite3.Connection]:
        if self._closed:
            raise LedgerUnavailable("it has been closed")
        try:
            conn = self._idle.get_nowait()
        except queue.Empty:
            # A memory database exists only in its one connection, which only a nested use can find lent already.
            conn = self._idle.get(timeout=self._busy_ms / 1000) if self._memory else self._connect()
        try:
            yield conn
        finally:
            if self._closed:
                conn.close()
            else:
                self._idle.put(conn)


class SqliteTransaction(SqliteReads, RuleWrites, NoteWrites, GivenWrites):
    """The writes of one transaction. Column names are fixed here; every value is bound."""

    def __init__(self, conn: sqlite3.Connection, chain_key: bytes) -> None:
        self._conn, self._chain_key = conn, chain_key
        self._head: tuple[int, str] | None = None
        """Number and hash of the last event, once known; nobody else appends events during the transaction."""

    def _all(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        return read(self._conn, sql, values)

    def _did(self, sql: str, *values: Any) -> bool:
        return self._conn.execute(sql, values).rowcount > 0

    def append(self, *facts: UnsealedEvent) -> None:
        seq, head = self._head or self._last_event()
        for fact in facts:
            salt = secrets.token_hex(16)
            event = seal(fact, seq=seq + 1, previous=head, salt=salt, key=self._chain_key)
            self._did(
                """
                INSERT INTO events (seq, at, kind, thread_id, agent, by, review_id, tool_call_id, tool,
                                    digest, salt, data, commitment, hash)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                *(event.seq, event.at, event.kind, event.thread_id, event.agent, event.by),
                *(event.review_id, event.tool_call_id, event.tool, event.digest),
                *(event.salt, rows.dumps(event.data), event.commitment, event.hash),
            )
            seq, head = self._head = event.seq, event.hash

    def erase(self, seqs: Sequence[int]) -> None:
        self._conn.execute("PRAGMA secure_delete = ON")
        for seq in seqs:
            self._did("UPDATE events SET data = NULL, salt = '' WHERE seq = ?", seq)
        self._conn.execute("PRAGMA secure_delete = OFF")

    def _last_event(self) -> tuple[int, str]:
        last = self._all("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1")
        return (last[0]["seq"], last[0]["hash"]) if last else (0, GENESIS)

    def add_thread(self, thread: Thread) -> None:
        self._did(
            """
            INSERT INTO threads (thread_id, agent, model, status, created_at, updated_at, created_by, opening)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            *(thread.thread_id, thread.agent, thread.model, thread.status),
            *(thread.created_at, thread.updated_at, thread.created_by, thread.opening),
        )

    def set_thread(self, thread_id: str, status: Status, at: str, error: str | None = None) -> None:
        self._did(
            "UPDATE threads SET status = ?, updated_at = ?, error = ? WHERE thread_id = ?",
            *(status, at, error, thread_id),
        )

    def put_messages(self, thread_id: str, messages: Sequence[Message], at: str) -> None:
        for message in messages:
            content = (message.type, message.content, rows.calls_column(message))
            tail = (message.tool_call_id, message.status)
            if self._did(
                """
                UPDATE messages SET type = ?, content = ?, tool_calls = ?, tool_call_id = ?, status = ?
                WHERE thread_id = ? AND message_id = ?
                """,
                *(*content, *tail, thread_id, message.id),
            ):
                continue
            self._did(
                """
                INSERT INTO messages (thread_id, idx, message_id, type, content, tool_calls, tool_call_id,
                                      status, at)
                SELECT ?, coalesce(max(idx) + 1, 0), ?, ?, ?, ?, ?, ?, ? FROM messages WHERE thread_id = ?
                """,
                *(thread_id, message.id, *content, *tail, at, thread_id),
            )

    def open(self, run: Run) -> bool:
        return self._did(
            """
            INSERT INTO runs (run_id, thread_id, agent, model, delivery, owner, fence, started_at,
                              started_by, state)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """,
            *(run.run_id, run.thread_id, run.agent, run.model, rows.dumps(deliveries.as_json(run.delivery))),
            *(run.owner, run.fence, run.started_at, run.started_by, run.state),
        )

    def close(self, run_id: str, owner: str, state: RunState, at: str, error: str | None = None) -> bool:
        return self._did(
            """
            UPDATE runs SET state = ?, ended_at = ?, error = ?
            WHERE run_id = ? AND owner = ? AND state = 'open'
            """,
            *(state, at, error, run_id, owner),
        )

    def take_over(self, run_id: str, owner: str, fence: int) -> bool:
        return self._did(
            "UPDATE runs SET owner = ?, fence = ? WHERE run_id = ? AND state = 'open' AND fence < ?",
            *(owner, fence, run_id, fence),
        )

    def ask_stop(self, run_id: str, by: str) -> bool:
        return self._did("UPDATE runs SET stop_by = ? WHERE run_id = ? AND state = 'open'", by, run_id)

    def propose(self, action: Action) -> bool:
        names = ", ".join(rows.ACTION_COLUMNS)
        marks = ", ".join("?" * len(rows.ACTION_COLUMNS))
        return self._did(
            f"INSERT INTO actions ({names}) VALUES ({marks}) ON CONFLICT DO NOTHING",
            *rows.action_values(action),
        )

    def move(self, key: Key, start: ActionState, end: ActionState, **changes: Any) -> bool:
        if not may_move(start, end):
            raise ValueError(f"An action never goes from {start} to {end}.")
        unknown = changes.keys() - set(rows.ACTION_COLUMNS)
        if unknown:
            raise ValueError(f"An action has no {', '.join(sorted(unknown))}.")
        sets = ", ".join(f"{name} = ?" for name in ("state", *changes))
        return self._did(
            f"""
            UPDATE actions SET {sets}
            WHERE thread_id = ? AND message_id = ? AND tool_call_id = ? AND attempt = ? AND state = ?
            """,
            *(end, *(rows.column(name, value) for name, value in changes.items())),
            *(key.thread_id, key.message_id, key.tool_call_id, key.attempt, start),
        )

    def withdraw(
        self, action: Action, result: str, at: str, by: str | None = None, *, rule_id: str | None = LEFT_OUT
    ) -> None:
        self.move(action.key, ActionState.APPROVED, ActionState.WITHDRAWN, ended_at=at, result=result)
        self.append(of_action(action, ActionWithdrawnFact(told=result, rule_id=rule_id), at, by))

    def look_over(self, key: Key, by: str) -> bool:
        return self._did(
            """
            UPDATE actions SET looked_over_by = ?
            WHERE thread_id = ? AND message_id = ? AND tool_call_id = ? AND attempt = ?
              AND looked_over_by IS NULL
            """,
            *(by, key.thread_id, key.message_id, key.tool_call_id, key.attempt),
        )

    def open_review(self, review: Review, keys: Sequence[Key]) -> bool:
        opened = self._did(
            """
            INSERT INTO reviews (review_id, thread_id, agent, state, opened_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """,
            *(review.review_id, review.thread_id, review.agent, review.state),
            *(review.opened_at, review.expires_at),
        )
        for key in keys if opened else ():
            self._did(
                """
                UPDATE actions SET review_id = ?
                WHERE thread_id = ? AND message_id = ? AND tool_call_id = ? AND attempt = ?
                """,
                *(review.review_id, key.thread_id, key.message_id, key.tool_call_id, key.attempt),
            )
        for sql in ledger_queue.ENTER if opened else ():
            self._did(sql, review.review_id)
        return opened

    def end_review(self, review_id: str, state: ReviewState, at: str, by: str, outcome: str) -> bool:
        return self._did(
            """
            UPDATE reviews SET state = ?, ended_at = ?, ended_by = ?, outcome = ?
            WHERE review_id = ? AND state = 'open'
            """,
            *(state, at, by, outcome, review_id),
        )

    def first_shown(self, review_id: str, reviewer: str, at: str) -> bool:
        return self._did(
            "INSERT INTO shown (review_id, reviewer, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            *(review_id, reviewer, at),
        )

    def set_halt(self, halt: Halt | None) -> None:
        self._did("DELETE FROM halt")
        if halt is not None:
            self._did("INSERT INTO halt (one, by, at) VALUES (1, ?, ?)", halt.by, halt.at)

    def set_beat(self, owner: str, beat: int) -> None:
        self._did(
            "INSERT INTO owners (owner, beat) VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET beat = excluded.beat",
            *(owner, beat),
        )

    def set_draft(self, review_id: str, reviewer: str, body: str | None) -> None:
        if body is None:
            self._did("DELETE FROM drafts WHERE review_id = ? AND reviewer = ?", review_id, reviewer)
            return
        self._did(
            """
            INSERT INTO drafts (review_id, reviewer, body) VALUES (?, ?, ?)
            ON CONFLICT (review_id, reviewer) DO UPDATE SET body = excluded.body
            """,
            *(review_id, reviewer, body),
        )
