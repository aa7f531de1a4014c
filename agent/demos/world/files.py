"""Files that exist only in the demo world."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.demos.world.store import Ref, Store, WorldError, WorldPart, existing, quoted


@dataclass(frozen=True)
class File:
    path: str
    """A name in the world, taken literally; it never reaches the disk."""
    content: str


class Files(Store):
    """Files by path."""

    def files(self) -> tuple[File, ...]:
        """Every file, by path."""
        return tuple(File(*row) for row in self._read("SELECT path, content FROM files ORDER BY path"))

    def file(self, path: str) -> File | None:
        """Return the file of that path, if it exists."""
        rows = self._read("SELECT path, content FROM files WHERE path = ?", path)
        return File(*rows[0]) if rows else None

    def removing(self, path: str) -> dict[str, Any]:
        """Return the facts that removing a file depends on."""
        with self._connection() as connection:
            return _removing(connection, path)

    def write_file(self, path: str, content: str, ref: Ref) -> File | None:
        """Write `content` to the file of that path; return the file it replaced, if any."""
        if not path.strip():
            raise WorldError("A file needs a path. Give one, such as notes/today.txt.")
        with self._changing() as connection:
            old = connection.execute("SELECT path, content FROM files WHERE path = ?", (path,)).fetchone()
            connection.execute("INSERT OR REPLACE INTO files (path, content) VALUES (?, ?)", (path, content))
            before = {"content": old["content"]} if old else None
            self._log(connection, ref, "file_written", f"files/{path}", before, {"content": content})
        return File(*old) if old else None

    def remove_file(self, path: str, ref: Ref) -> File:
        """Remove a file; return it as it was."""
        with self._changing() as connection:
            if fault := cannot_remove(_removing(connection, path)):
                raise WorldError(f"{fault} {existing(connection, 'files', 'path')}")
            old = connection.execute(
                "DELETE FROM files WHERE path = ? RETURNING path, content", (path,)
            ).fetchone()
            self._log(connection, ref, "file_removed", f"files/{path}", {"content": old["content"]}, None)
        return File(*old)


def cannot_remove(facts: Mapping[str, Any]) -> str:
    """Return why a file with these facts cannot be removed, or ""."""
    return "" if facts["characters"] is not None else f"There is no file {quoted(facts['path'])}."


def _removing(connection: sqlite3.Connection, path: str) -> dict[str, Any]:
    row = connection.execute("SELECT length(content) FROM files WHERE path = ?", (path,)).fetchone()
    return {"path": path, "characters": row[0] if row else None}


PART = WorldPart(
    ("CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, content TEXT NOT NULL)",),
    {
        "files": (
            ("notes/today.txt", "Call the landlord.\nRead chapter two of the report.\n"),
            ("reports/2023.csv", "quarter,income\nQ1,10400\nQ2,9800\nQ3,11200\nQ4,12750\n"),
            ("reports/2024.csv", "quarter,income\nQ1,11900\nQ2,12100\nQ3,12480\nQ4,13900\n"),
        ),
    },
)
