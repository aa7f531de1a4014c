"""LangGraph's SQLite checkpointer, with checkpoints in the order in which they were saved, independent of any clock.

LangGraph orders a thread's checkpoints by their ids, which begin with the time. If the clock was set back, a new
process would assign ids below the existing ones, and the thread would be read at an earlier checkpoint.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
)
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.utils import search_where

CHECKPOINT = "thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
COLUMNS = {
    "checkpoints": "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata",
    "writes": "checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value",
}


class OrderedSaver(SqliteSaver):
    """A `SqliteSaver` that orders checkpoints by when they were saved, whoever saved them.

    Its asynchronous methods call their synchronous twins: each is a few reads or one short transaction.
    """

    def setup(self) -> None:
        if self.is_setup:
            return
        super().setup()
        # Every SQLite index ends with the rowid, which grows with each row, so this one is in the order of arrival.
        self.conn.execute("CREATE INDEX IF NOT EXISTS by_arrival ON checkpoints (thread_id, checkpoint_ns)")

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint the config names, or the one of its thread and namespace that was saved last."""
        if get_checkpoint_id(config):
            return super().get_tuple(config)
        thread_id, namespace = _place(config)
        with self.cursor(transaction=False) as cur:
            cur.execute(
                """
                SELECT checkpoint_id FROM checkpoints INDEXED BY by_arrival
                WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY rowid DESC LIMIT 1
                """,
                (thread_id, namespace),
            )
            found = cur.fetchone()
        return super().get_tuple(_named(thread_id, namespace, found[0])) if found else None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield the checkpoints found, last saved first. `before` may name one of any namespace of the thread."""
        where, values = search_where(config, filter)
        with self.cursor(transaction=False) as cur:
            if before is not None:
                arrived = self._arrived(cur, config, before)
                where = f"{where} AND {arrived[0]}" if where else f"WHERE {arrived[0]}"
                values = [*values, arrived[1]]
            bound = "" if limit is None else f"LIMIT {int(limit)}"
            cur.execute(
                f"SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints {where} ORDER BY rowid DESC {bound}",
                values,
            )
            places = cur.fetchall()
        for place in places:
            found = super().get_tuple(_named(*place))
            if found is not None:  # else it was deleted meanwhile
                yield found

    @staticmethod
    def _arrived(cur: Any, config: RunnableConfig | None, before: RunnableConfig) -> tuple[str, Any]:
        """Return the SQL condition "saved before this checkpoint" and its value: by id, if it is not in the file."""
        named = get_checkpoint_id(before)
        thread_id = str((config or before)["configurable"].get("thread_id", ""))
        cur.execute(
            "SELECT rowid FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?", (thread_id, named)
        )
        row = cur.fetchone()
        return ("rowid < ?", row[0]) if row else ("checkpoint_id < ?", named)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint after all existing ones; one saved again keeps its position."""
        named = (*_place(config), checkpoint["id"])
        with self.cursor() as cur:
            cur.execute(f"SELECT rowid FROM checkpoints WHERE {CHECKPOINT}", named)
            place = cur.fetchone()
        found = super().put(config, checkpoint, metadata, new_versions)
        if place:
            with self.cursor() as cur:
                cur.execute(f"UPDATE checkpoints SET rowid = ? WHERE {CHECKPOINT}", (place[0], *named))
        return found

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints of a thread and their writes to a thread that has none, or raise `ValueError`."""
        with self.cursor() as cur:
            if cur.execute("SELECT 1 FROM checkpoints WHERE thread_id = ?", (target_thread_id,)).fetchone():
                raise ValueError(f"{target_thread_id} has checkpoints of its own. Copy to a new thread.")
            for table, columns in COLUMNS.items():
                cur.execute(
                    f"""
                    INSERT INTO {table} (thread_id, {columns})
                    SELECT ?, {columns} FROM {table} WHERE thread_id = ? ORDER BY rowid
                    """,
                    (target_thread_id, source_thread_id),
                )

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete the threads' checkpoints; `keep_latest` keeps the last of each namespace and those it depends on."""
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f'There is no strategy {strategy!r}. Use "keep_latest" or "delete".')
        for thread_id in thread_ids:
            kept = self._needed(thread_id) if strategy == "keep_latest" else set()
            with self.cursor() as cur:
                cur.execute(
                    "SELECT checkpoint_ns, checkpoint_id FROM checkpoints WHERE thread_id = ?", (thread_id,)
                )
                gone = [(thread_id, *place) for place in cur.fetchall() if place not in kept]
                for table in COLUMNS:
                    cur.executemany(f"DELETE FROM {table} WHERE {CHECKPOINT}", gone)

    def _needed(self, thread_id: str) -> set[tuple[str, str]]:
        """Return namespace and id of the last checkpoint of each namespace, and of those needed to read it.

        For a delta channel a checkpoint holds only the changes since an earlier one; that and all between are needed.
        """
        with self.cursor(transaction=False) as cur:
            cur.execute("SELECT DISTINCT checkpoint_ns FROM checkpoints WHERE thread_id = ?", (thread_id,))
            namespaces = [row[0] for row in cur.fetchall()]
        found = set()
        for namespace in namespaces:
            at = self.get_tuple({"configurable": {"thread_id": thread_id, "checkpoint_ns": namespace}})
            sought = set((at.metadata if at else {}).get("counters_since_delta_snapshot") or ())
            while at is not None:
                found.add((namespace, str(at.checkpoint["id"])))
                sought -= at.checkpoint["channel_values"].keys()
                at = self.get_tuple(at.parent_config) if sought and at.parent_config else None
        return found

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self.get_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        for one in self.list(config, filter=filter, before=before, limit=limit):
            yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self.put_writes(config, writes, task_id, task_path)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return self.get_delta_channel_history(config=config, channels=channels)

    async def adelete_thread(self, thread_id: str) -> None:
        self.delete_thread(thread_id)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self.copy_thread(source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        self.prune(thread_ids, strategy=strategy)


def _place(config: RunnableConfig) -> tuple[str, str]:
    named = config["configurable"]
    return str(named["thread_id"]), str(named.get("checkpoint_ns", ""))


def _named(thread_id: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {
        "configurable": {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}
    }
