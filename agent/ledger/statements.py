"""How the parts of the ledger run one statement; the ledger and its transactions each provide the connection."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from typing import Any


def read(conn: sqlite3.Connection, sql: str, values: tuple[Any, ...]) -> list[sqlite3.Row]:
    """Return every row of the statement's result. Raises `sqlite3.Error`.

    In text that is not UTF-8, which the console never writes, the invalid bytes are replaced.
    """
    try:
        return conn.execute(sql, values).fetchall()
    except OverflowError as error:
        raise sqlite3.DataError(str(error)) from error
    except sqlite3.OperationalError as error:
        if NOT_UTF_8 not in str(error):
            raise
    conn.text_factory = _replaced
    try:
        return conn.execute(sql, values).fetchall()
    finally:
        conn.text_factory = str


def _replaced(text: bytes) -> str:
    return text.decode("utf-8", errors="replace")


NOT_UTF_8 = "Could not decode to UTF-8"


class ReadStatements(ABC):
    """The base of parts that read."""

    @abstractmethod
    def _all(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """Return every row of the statement's result."""


class Writes(ABC):
    """The base of parts that write, within a transaction."""

    @abstractmethod
    def _did(self, sql: str, *values: Any) -> bool:
        """Run the statement, and return whether it changed anything."""
