"""What people would use instead: LangChain's agent with its middleware on SQLite, and bare SQLite as the limit."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from agent.demos import mail
from agent.demos.model import DemoModel
from agent.demos.world import World


class CreateAgent:
    """LangChain's agent as its documentation sets it up, with the same model, tools and world as the console's."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "checkpoints.sqlite"
        self._world = World(folder / "world.sqlite")
        self._conn = sqlite3.connect(self.file, check_same_thread=False)
        agent = mail.define(self._world)
        self._graph: Any = create_agent(
            DemoModel(),
            list(agent.tools),  # type: ignore[arg-type]
            system_prompt=agent.prompt,
            middleware=[HumanInTheLoopMiddleware({"send_email": True, "archive_mail": True})],
            checkpointer=SqliteSaver(self._conn),
        )

    def turn(self, thread_id: str, message: str) -> None:
        """A message, the pause it leads to, its approval, and the answer."""
        config = {"configurable": {"thread_id": thread_id}}
        paused = self._graph.invoke({"messages": [("user", message)]}, config)
        assert paused["__interrupt__"]
        answered = self._graph.invoke(Command(resume={"decisions": [{"type": "approve"}]}), config)
        assert "__interrupt__" not in answered

    def close(self) -> None:
        self._conn.close()
        self._world.close()


class BareSqlite:
    """One row a commit, each on disk before it counts, as the ledger has it."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._conn = sqlite3.connect(file, isolation_level=None)
        self._conn.execute("PRAGMA journal_mode = WAL")
        self._conn.execute("PRAGMA synchronous = FULL")
        self._conn.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")

    def commit(self) -> None:
        self._conn.execute("BEGIN IMMEDIATE")
        self._conn.execute("INSERT INTO rows (text) VALUES (?)", ("x" * 200,))
        self._conn.execute("COMMIT")

    def close(self) -> None:
        self._conn.close()
