"""A row of a SQLite file changed, removed or doubled past the console: whatever its columns can hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

ODD_TEXTS: Sequence[str | bytes] = (
    *("", "x", "\0", "a\0b", "\u202e", "�", b"\xff", b"\xed\xa0\x80", b"open\xff"),
    *("null", "true", "1", "-1", "1e999", "NaN", "9" * 5_000, '"', '"x"', '"\\ud800"', "[" * 100_000),
    *("[]", "{}", "[1]", "[null]", "[[]]", '[{"id": 1}]', '{"id": "a", "name": "b", "args": {}}', "{} {}"),
    *('{"type": 1}', '{"type": "approve"}', '{"kind": "message"}', '{"kind": 1}', '{"actions": 1}', "[{}]"),
    *('[{"id": "a", "name": [], "args": {}}]', '{"a": "\\ud800"}', '{"message": 5}', '{"version": {}}'),
    *('[{"type": "tool_call"}]', '{"args": {"to": 1}}', '{"to": "alice@example.com"}', '["approve"]'),
    *("2030-01-01", "2030-01-01T00:00:00", "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00+14:00"),
    *("open", "idle", "running", "waiting", "stuck", "pending", "approved", "executing", "unknown", "done"),
    *("mail", "operations", "batched", "send_email", "waits-1", "approved", "1-x", "0-0", "99999999999999-x"),
    *("<b>x</b>", "[x](http://evil.example)", "x" * 200_000, "..", "a/b?c#d", "ChainKeyed", "ask", "deny"),
)
INTEGERS = (-(2**63), -1, 0, 1, 2, 7, 2**31, 2**53 + 1, 2**63 - 1)
REALS = (-1.0, 0.0, 0.5, 1e308, float("inf"), float("-inf"))
BYTES = (b"", b"\0", b"\xff" * 40, b"{}", b"cos\nsystem\n(S'true'\ntR.")


@dataclass(frozen=True)
class Damage:
    """What is done to one row. Text that is not UTF-8 is given as bytes."""

    table: str
    row: int
    """Which one, counted round and round."""
    act: str
    """`set`, `remove` or `double`."""
    column: str = ""
    value: Any = None

    def __str__(self) -> str:
        value = repr(self.value)
        shown = value if len(value) <= 80 else f"{value[:80]}… ({len(value)})"
        return f"{self.act} {self.table}[{self.row}]{'.' if self.column else ''}{self.column} {shown}"


@dataclass(frozen=True)
class Column:
    table: str
    name: str
    type: str
    nullable: bool


def columns(path: Path) -> list[Column]:
    """Every column of every table of the file."""
    with closing(sqlite3.connect(path)) as conn:
        listed = conn.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
        tables = [name for (name,) in listed.fetchall()]
        return [
            Column(table, name, kind.upper(), not needed and not key)
            for table in tables
            if not table.startswith("sqlite_")
            for _, name, kind, needed, _, key in conn.execute(f'PRAGMA table_info("{table}")')
        ]


def values(column: Column) -> st.SearchStrategy[Any]:
    """What the column can hold."""
    texts = st.sampled_from(ODD_TEXTS) | st.text(max_size=20) | st.binary(max_size=20)
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "TEXT": texts,
        "INTEGER": st.sampled_from(INTEGERS) | st.integers(-(2**63), 2**63 - 1),
        "REAL": st.sampled_from(REALS) | st.floats(allow_nan=False),
    }
    found = kinds.get(column.type, st.sampled_from(BYTES) | st.binary(max_size=200))
    return st.none() | found if column.nullable else found


def damages(path: Path) -> st.SearchStrategy[Damage]:
    """Any damage to a row of the file's tables."""
    found = columns(path)
    rows = st.integers(0, 40)
    changed = st.sampled_from(found).flatmap(
        lambda one: st.builds(
            Damage, st.just(one.table), rows, st.just("set"), st.just(one.name), values(one)
        )
    )
    tables = st.sampled_from(sorted({one.table for one in found}))
    return changed | st.builds(Damage, tables, rows, st.sampled_from(["remove", "double"]))


def apply(path: Path, done: Sequence[Damage]) -> None:
    """Do it, as somebody does who has the file: what keeps the trail append-only goes first."""
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.create_function("folded", 1, str.casefold, deterministic=True)
        for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            conn.execute(f'DROP TRIGGER "{name}"')
        for one in done:
            with suppress(sqlite3.IntegrityError):  # a value that another row has already
                _do(conn, one)


def _do(conn: sqlite3.Connection, damage: Damage) -> None:
    table = f'"{damage.table}"'
    found = conn.execute(f"PRAGMA table_info({table})").fetchall()
    types = {f'"{name}"': str(kind).upper() for _, name, kind, *_ in found}
    keys = [f'"{name}"' for _, name, _, _, _, key in found if key] or ["rowid"]
    bytewise = [f"CAST({key} AS BLOB)" for key in keys]  # an earlier damage may have left what is no UTF-8
    rows = conn.execute(f"SELECT {', '.join(bytewise)} FROM {table}").fetchall()
    if not rows:
        return
    row = rows[damage.row % len(rows)]
    where = " AND ".join(f"{key} IS ?" for key in bytewise)
    if damage.act == "remove":
        conn.execute(f"DELETE FROM {table} WHERE {where}", row)
    elif damage.act == "double":
        kept = ", ".join(_other(name, kind) if name in keys else name for name, kind in types.items())
        conn.execute(
            f"INSERT INTO {table} ({', '.join(types)}) SELECT {kept} FROM {table} WHERE {where}", row
        )
    else:
        column = f'"{damage.column}"'
        is_text = isinstance(damage.value, bytes) and types[column] == "TEXT"
        mark = "CAST(? AS TEXT)" if is_text else "?"
        conn.execute(f"UPDATE {table} SET {column} = {mark} WHERE {where}", (damage.value, *row))


def _other(key: str, kind: str) -> str:
    """The key of a copy."""
    return f"{key} + 1000" if kind == "INTEGER" else f"{key} || '-2'"
