"""Tables that an agent may read and change with its own SQL, within limits.

One statement at a time, on three tables, bounded in time, rows and size.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass

from agent.demos.world.store import Ref, Store, Value, WorldError, WorldPart, quoted

SQL_TABLES = ("customers", "invoices", "notes")
"""The only tables that an agent's statement can use."""
TABLES = ("customers", "files", "invoices", "notes")
"""The tables that `Tables.table` reads."""
SQL_ROWS = 50
SQL_CHANGES = 1000
SQL_SECONDS = 1.0


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    total: int
    """The number of rows in the table; `rows` may hold only the first of them."""


@dataclass(frozen=True)
class RowChange:
    """One row that a statement added, changed or removed."""

    kind: str
    """`row_added`, `row_changed` or `row_removed`."""
    table: str
    key: int
    """The row's `id`."""
    before: Mapping[str, Value] | None
    after: Mapping[str, Value] | None


@dataclass(frozen=True)
class SqlResult:
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    more: bool
    """True if there were more rows than those returned."""
    changes: tuple[RowChange, ...]


class Tables(Store):
    """The tables, and SQL on them."""

    def tables(self) -> tuple[str, ...]:
        """Return the names of the tables that `table` reads."""
        return TABLES

    def table(self, name: str, limit: int = 200) -> Table:
        """Return the first `limit` rows of a table. Raises `WorldError` for a name that is not in `tables`."""
        if name not in TABLES:
            raise WorldError(f"There is no table {quoted(name)}. Use one of: {', '.join(TABLES)}.")
        with self._connection() as connection, closing(connection.cursor()) as cursor:
            rows = cursor.execute(f"SELECT * FROM {name} ORDER BY 1 LIMIT ?", (limit,)).fetchall()
            columns = tuple(column[0] for column in cursor.description)
            (total,) = cursor.execute(f"SELECT count(*) FROM {name}").fetchone()
        return Table(name, columns, tuple(map(tuple, rows)), total)

    def run_sql(self, query: str, ref: Ref) -> SqlResult:
        """Run one statement on `SQL_TABLES`; return its first `SQL_ROWS` rows, and every row it changed.

        Raises `WorldError`, with nothing changed, for several statements, any other table, anything but reading and
        changing rows, more than `SQL_SECONDS`, or more than `SQL_CHANGES` changed rows.
        """
        with self._changing() as connection:
            result = _run_fenced(connection, query)
            for row in result.changes:
                self._log(connection, ref, row.kind, f"{row.table}/{row.key}", row.before, row.after)
        return result

    def try_sql(self, query: str) -> SqlResult:
        """Return what `run_sql` would do now. The statement is rolled back, so nothing changes."""
        with self._changing(keep=False) as connection:
            return _run_fenced(connection, query)


# The fence around an agent's SQL

# Large enough for any honest statement, and small enough that no single step takes long: the time limit is only
# checked between steps.
SQL_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
}
ON_TABLES = {sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
UNBOUND = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}
FUNCTIONS_DENIED = {"load_extension", "fts3_tokenizer"}


class _Fence:
    """A limit on what a statement may use and for how long, which remembers what it refused.

    A named subquery without a used column is refused like another table: SQLite reports both in the same way.
    """

    def __init__(self) -> None:
        self._refused = ""
        self._deadline = time.monotonic() + SQL_SECONDS

    def authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        """Allow or deny one thing a statement would do; SQLite asks before each."""
        if action in UNBOUND:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and str(second).lower() not in FUNCTIONS_DENIED:
            return sqlite3.SQLITE_OK
        if action in ON_TABLES and str(first).lower() in SQL_TABLES:
            return sqlite3.SQLITE_OK
        on_table = action in ON_TABLES and not str(first).lower().startswith("sqlite_")
        self._refused = f"uses {quoted(str(first))}" if on_table else "does something else"
        return sqlite3.SQLITE_DENY

    def overdue(self) -> bool:
        """Return whether the statement is over its time limit; SQLite then interrupts it."""
        return time.monotonic() > self._deadline

    def explain(self, error: Exception) -> str:
        """Return the sentence for a statement that ended in `error`."""
        if self._refused:
            tables = ", ".join(SQL_TABLES)
            return f"A statement may only read and change rows of {tables}; this one {self._refused}. Leave that out."
        if "interrupted" in str(error):
            return f"The statement took longer than {SQL_SECONDS:g} s and was stopped. Narrow it down."
        return f"The statement cannot be run: {str(error).rstrip('.')}. Correct it; only one statement at a time is accepted."


@contextmanager
def _fenced(connection: sqlite3.Connection) -> Iterator[None]:
    fence = _Fence()
    former = {limit: connection.setlimit(limit, value) for limit, value in SQL_LIMITS.items()}
    connection.set_authorizer(fence.authorize)
    connection.set_progress_handler(fence.overdue, 1000)
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise WorldError(fence.explain(error)) from error
    finally:
        connection.set_authorizer(None)
        connection.set_progress_handler(None, 0)
        for limit, value in former.items():
            connection.setlimit(limit, value)


def _run_fenced(connection: sqlite3.Connection, query: str) -> SqlResult:
    before, counted = _snapshot(connection), connection.total_changes
    with _fenced(connection), closing(connection.cursor()) as cursor:
        cursor.execute(query)
        columns = tuple(column[0] for column in cursor.description or ())
        rows = tuple(map(tuple, cursor.fetchmany(SQL_ROWS + 1)))
    changed = connection.total_changes - counted
    if changed > SQL_CHANGES:
        raise WorldError(
            f"The statement would change {changed} rows, and {SQL_CHANGES} are the most. Narrow it down."
        )
    changes = tuple(_differences(before, _snapshot(connection))) if changed else ()
    return SqlResult(columns, rows[:SQL_ROWS], len(rows) > SQL_ROWS, changes)


Snapshot = Mapping[tuple[str, int], Mapping[str, Value]]


def _snapshot(connection: sqlite3.Connection) -> Snapshot:
    return {
        (table, row["id"]): dict(row)
        for table in SQL_TABLES
        for row in connection.execute(f"SELECT * FROM {table}")
    }


def _differences(before: Snapshot, after: Snapshot) -> Iterable[RowChange]:
    for place in {**before, **after}:
        old, new = before.get(place), after.get(place)
        if old != new:
            kind = "row_added" if old is None else "row_removed" if new is None else "row_changed"
            yield RowChange(kind, *place, old, new)


PART = WorldPart(
    (
        "CREATE TABLE IF NOT EXISTS customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, city TEXT)",
        """
        CREATE TABLE IF NOT EXISTS invoices (
            id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, amount_cents INTEGER NOT NULL,
            due TEXT NOT NULL, paid INTEGER NOT NULL DEFAULT 0
        )
        """,
        "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, customer_id INTEGER, text TEXT NOT NULL)",
    ),
    {
        "customers": (
            (1, "Ada Moreno", "ada@moreno.example", "Lisbon"),
            (2, "Ben Okafor", "ben@okafor.example", "Lagos"),
            (3, "Chen Wei", "wei@chen.example", "Taipei"),
            (4, "Dora Novak", "dora@novak.example", "Brno"),
            (5, "Emil Larsen", None, "Aarhus"),
        ),
        "invoices": (
            (101, 1, 25_000, "2024-03-01", 1),
            (102, 2, 118_050, "2024-03-15", 0),
            (103, 2, 4_900, "2024-04-01", 1),
            (104, 4, 76_000, "2024-04-10", 0),
            (105, 5, 31_860, "2024-05-01", 0),
        ),
        "notes": (
            (1, 1, "Prefers to be called in the morning."),
            (2, 1, "Pays on time."),
            (3, 2, "Asked for a second copy of invoice 102."),
            (4, 3, "New since March."),
            (5, 4, "Wants one invoice for both orders."),
            (6, 4, "Moved to Brno in January."),
            (7, 5, "Old address, to be removed."),
            (8, None, "Order new envelopes."),
        ),
    },
)
