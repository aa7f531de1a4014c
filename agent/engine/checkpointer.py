"""LangGraph's SQLite checkpointer with fencing: a run that was taken over can no longer write."""

from __future__ import annotations

import copy
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    DeltaChannelHistory,
)
from langgraph.checkpoint.serde.types import INTERRUPT

from agent.engine.decoding import DecodesOnce, Strict
from agent.engine.ordered_checkpointer import OrderedSaver
from agent.review.errors import CheckpointsUnavailable

BUSY_MS = 5_000
FORGOTTEN = 2**62
"""The fence of a thread whose checkpoints were deleted: above that of any run."""
WRITTEN_HERE = "fence"
"""The key of a checkpoint's metadata that says that a run of a console wrote it."""
WHOLE_STEPS = "whole_steps"
"""Key set in a run's `configurable` where each step is one task. What the task wrote and the checkpoint after it are
then saved in one transaction, so that a step cut off between the two counts as not done. LangGraph saves a checkpoint
after the writes to its delta channels; for other channels the checkpoint itself holds all that counts."""
HISTORIES = 64
"""Checkpoints whose delta channel history is cached: those of the most recently active threads."""
History = Mapping[str, DeltaChannelHistory]
Unavailable = sqlite3.OperationalError
"""Raised for a lock or a full disk: nothing is lost, and a later try may succeed."""


class FencedOff(Exception):
    """This run's thread was taken over under a higher fence; what it still writes is refused."""


class FencedSaver(OrderedSaver):
    """A saver whose every write is one transaction that checks the fence of its run first.

    A process that froze in the middle of a run and thaws later would otherwise overwrite the head of a
    thread that another process has taken over in the meantime.
    """

    def __init__(self, path: Path | str) -> None:
        """Open the file. Raises `CheckpointsUnavailable` if it cannot be used."""
        try:
            conn = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            conn.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
            conn.execute("PRAGMA synchronous = FULL")
        except sqlite3.Error as error:
            raise CheckpointsUnavailable(f"{path}: {error}") from error
        super().__init__(conn, serde=Strict())
        self._writing = threading.local()
        self.fence: int | None = None
        """The fence of the run that writes through this saver."""
        self._histories: OrderedDict[tuple[str, ...], History] | None = None
        self._held: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}

    def decoding(self, serde: Strict) -> FencedSaver:
        """Return the same saver, reading with this serializer."""
        clone = copy.copy(self)
        clone.serde = serde
        return clone

    def for_run(self, fence: int) -> FencedSaver:
        """Return the same saver for a run with this fence. A graph hands it on to the graphs inside it."""
        clone = copy.copy(self)
        clone.fence = fence
        return clone

    def decoding_once(self) -> FencedSaver:
        """Return a copy of this saver that decodes each message, and reads each checkpoint's history, only once.

        Only for graphs that never change a message in place.
        """
        clone = self.decoding(DecodesOnce())
        clone._histories = OrderedDict()
        return clone

    def setup(self) -> None:
        if self.is_setup:
            return
        super().setup()
        self.conn.execute(
            "CREATE TABLE IF NOT EXISTS fences (thread_id TEXT PRIMARY KEY, fence INTEGER NOT NULL) STRICT"
        )

    def raise_fence(self, thread_id: str, fence: int) -> None:
        """Let only runs with this fence, or a higher one, write to the thread from now on."""
        for place in [one for one in list(self._held) if one[0] == thread_id]:
            del self._held[place]  # left by a run that was cut off
        with self.cursor() as cur:
            cur.execute(
                """
                INSERT INTO fences (thread_id, fence) VALUES (?, ?)
                ON CONFLICT (thread_id) DO UPDATE SET fence = max(fence, excluded.fence)
                """,
                (thread_id, fence),
            )

    def forget(self, thread_id: str) -> None:
        """Delete the thread's checkpoints, and refuse the writes of every run started before."""
        with self.cursor() as cur:
            cur.execute(
                """
                INSERT INTO fences (thread_id, fence) VALUES (?, ?)
                ON CONFLICT (thread_id) DO UPDATE SET fence = excluded.fence
                """,
                (thread_id, FORGOTTEN),
            )
            cur.execute("DELETE FROM writes WHERE thread_id = ?", (thread_id,))
            cur.execute("DELETE FROM checkpoints WHERE thread_id = ?", (thread_id,))

    def graphs_inside(self, thread_id: str, task: str) -> list[str]:
        """Return the namespaces of the graphs that a task called and that raised an interrupt, innermost first."""
        with self.cursor(transaction=False) as cur:
            cur.execute(
                """
                SELECT DISTINCT checkpoint_ns FROM writes
                WHERE thread_id = ? AND channel = ? AND (checkpoint_ns = ? OR substr(checkpoint_ns, 1, ?) = ?)
                """,
                (thread_id, INTERRUPT, task, len(task) + 1, f"{task}|"),
            )
            return sorted((str(row[0]) for row in cur.fetchall()), key=len, reverse=True)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints of a thread to one that has none. Raises `FencedOff` if the target's were deleted."""
        with self._in_one(), self.cursor() as cur:
            row = cur.execute("SELECT fence FROM fences WHERE thread_id = ?", (target_thread_id,)).fetchone()
            if row is not None and row[0] == FORGOTTEN:
                raise FencedOff(
                    f"The checkpoints of {target_thread_id} were deleted. Copy to another thread."
                )
            super().copy_thread(source_thread_id, target_thread_id)

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """Yield a cursor, by default in a transaction.

        Raises `CheckpointsUnavailable` if the file cannot be used, and `FencedOff` if the run was taken over.
        """
        try:
            with self._cursor(transaction) as cur:
                yield cur
        except sqlite3.Error as error:
            raise CheckpointsUnavailable(str(error)) from error

    @contextmanager
    def _cursor(self, transaction: bool) -> Iterator[sqlite3.Cursor]:
        if (joined := getattr(self._writing, "cursor", None)) is not None:
            yield joined
            return
        with self.lock:
            self.setup()
            cur = self.conn.cursor()
            try:
                if not transaction:
                    yield cur
                    return
                cur.execute("BEGIN IMMEDIATE")
                try:
                    self._check_fence(cur)
                    yield cur
                    cur.execute("COMMIT")
                except BaseException:
                    if self.conn.in_transaction:
                        cur.execute("ROLLBACK")
                    raise
            finally:
                cur.close()

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        held = self._held.pop(_place(config), ())
        if self.fence is not None:
            metadata = cast(CheckpointMetadata, {**metadata, WRITTEN_HERE: self.fence})
        with self._as_run(config), self._in_one():
            for writes in held:
                super().put_writes(*writes)
            return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        # A question, its answer or an error is written at once: no checkpoint follows it, or not soon.
        if config["configurable"].get(WHOLE_STEPS) and not any(name in WRITES_IDX_MAP for name, _ in writes):
            self._held.setdefault(_place(config), []).append((config, writes, task_id, task_path))
            return
        with self._as_run(config):
            super().put_writes(config, writes, task_id, task_path)

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> History:
        """Return what was written before the checkpoint that `config` names; later writes do not change it.

        The same history is read when one run ends, when the next looks at what has arrived, and when that one starts.
        """
        if self._histories is None or not config["configurable"].get("checkpoint_id"):
            return super().get_delta_channel_history(config=config, channels=channels)
        key = (*_place(config), *channels)
        found = self._histories.pop(key, None)
        if found is None:
            found = super().get_delta_channel_history(config=config, channels=channels)
        self._histories[key] = found
        while len(self._histories) > HISTORIES:
            with suppress(KeyError):  # another thread was quicker
                self._histories.popitem(last=False)
        return found

    @contextmanager
    def _in_one(self) -> Iterator[None]:
        """Make all that this thread writes in the block one transaction."""
        with self.cursor() as cur:
            self._writing.cursor = cur
            try:
                yield
            finally:
                self._writing.cursor = None

    @contextmanager
    def _as_run(self, config: RunnableConfig) -> Iterator[None]:
        """Attribute what this thread writes in the block to the run that the config names."""
        self._writing.run = config["configurable"]["thread_id"]
        try:
            yield
        finally:
            self._writing.run = None

    def _check_fence(self, cur: sqlite3.Cursor) -> None:
        thread_id, fence = getattr(self._writing, "run", None), self.fence
        if thread_id is None or fence is None:
            return
        row = cur.execute("SELECT fence FROM fences WHERE thread_id = ?", (thread_id,)).fetchone()
        if row is not None and fence < row[0]:
            raise FencedOff(f"Thread {thread_id} is at fence {row[0]}; this run has {fence}.")


def _place(config: RunnableConfig) -> tuple[str, ...]:
    """Return the thread, namespace and id of the checkpoint that a config names."""
    named = config["configurable"]
    return str(named["thread_id"]), str(named.get("checkpoint_ns", "")), str(named.get("checkpoint_id", ""))
