"""LangGraph's store for graphs that were compiled without one, in a file that is made when something is first kept."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from langgraph.store.base import BaseStore, Op, Result
from langgraph.store.sqlite import SqliteStore


class FileStore(BaseStore):
    """LangGraph's SQLite store, for synchronous and asynchronous graphs alike."""

    def __init__(self, path: Path) -> None:
        self._path, self._opened = path, ExitStack()
        self._turn = threading.Lock()
        self._store: SqliteStore | None = None

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return self._kept().batch(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def close(self) -> None:
        """Close the file. Idempotent."""
        with self._turn:
            self._store = None
            self._opened.close()

    def _kept(self) -> SqliteStore:
        with self._turn:
            if self._store is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._store = self._opened.enter_context(SqliteStore.from_conn_string(str(self._path)))
                self._store.setup()
            return self._store
