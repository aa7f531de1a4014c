"""The demo world: one small SQLite database that the demo agents really change.

Every effect and its line in the change log are one transaction, so a page can show what a thread changed, and a
call that was cut off has happened either completely or not at all. Each subject has a module with its tables, its
operations, and the facts that an operation depends on. A precondition reads these facts beforehand, and the operation
reads them again inside its own transaction.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from agent.demos.world import files, keys, library, mailbox, tables
from agent.demos.world.files import File, Files
from agent.demos.world.keys import Keys, ServiceKey
from agent.demos.world.library import Book, Library, Loan, Member
from agent.demos.world.mailbox import Mail, Mailbox, SentMail
from agent.demos.world.store import Ref, Value, WorldChange, WorldError, quoted
from agent.demos.world.tables import SQL_CHANGES, SQL_ROWS, RowChange, SqlResult, Table, Tables

__all__ = [
    "SQL_CHANGES",
    "SQL_ROWS",
    "Book",
    "File",
    "Loan",
    "Mail",
    "Member",
    "Ref",
    "RowChange",
    "SentMail",
    "ServiceKey",
    "SqlResult",
    "Table",
    "Value",
    "World",
    "WorldChange",
    "WorldError",
    "quoted",
]

PARTS = (mailbox.PART, files.PART, keys.PART, tables.PART, library.PART)


def utc_now() -> datetime:
    return datetime.now(UTC)


class World(Mailbox, Files, Keys, Tables, Library):
    """The mailbox, files, service keys, tables and library that the demo agents act on."""

    def __init__(self, path: Path | str, now: Callable[[], datetime] = utc_now) -> None:
        """Open the world in the file `path`, or in memory for `:memory:`; create and seed it if it is new."""
        super().__init__(path, PARTS, now)
