"""How the parts of the ledger run one statement; a whole ledger, and a transaction of it, each say what with."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from typing import Any


def read(conn: sqlite3.Connection, sql: str, values: tuple[Any, ...]) -> list[sqlite3.Row]:
    """Every row of the statement's answer; text that is not UTF-8, which the console never writes, with what it holds
    of that replaced. Raises `sqlite3.Error`.
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
    """What reads."""

    @abstractmethod
    def _all(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """Every row of the statement's answer."""


class Writes(ABC):
    """What writes, within a transaction."""

    @abstractmethod
    def _did(self, sql: str, *values: Any) -> bool:
        """Whether the statement changed anything."""
