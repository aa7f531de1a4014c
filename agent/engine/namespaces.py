"""Where in a graph something happens: LangGraph's checkpoint namespaces, read.

A namespace names the tasks that lead to a place, `helper:1f0c|tools:77aa`: the names of nodes with the tasks' ids. A
graph's own is that of the task that called it, and is empty for the outermost. A number alone counts the graphs that
one task called.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def task_of(config: Mapping[str, Any]) -> str:
    """The namespace of the task a config belongs to; "" outside of any graph."""
    return str((config.get("configurable") or {}).get("checkpoint_ns") or "")


def graph_of(task: str) -> str:
    """The namespace of the graph that a task belongs to; "" for the outermost."""
    return task.rpartition("|")[0]


def names_of(graph: str) -> str:
    """The names of the nodes that lead to a graph, `helper|tools`, without the ids of its tasks and without counts."""
    parts = (part.partition(":")[0] for part in graph.split("|") if not part.isdecimal())
    return "|".join(part for part in parts if part)


def id_of(task: str) -> str:
    """A task's own id."""
    return task.rpartition("|")[2].rpartition(":")[2]
