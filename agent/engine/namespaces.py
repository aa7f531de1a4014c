"""Read LangGraph's checkpoint namespaces, which say where in a graph something happens.

A namespace lists the tasks that lead to a place by node name and task id, such as `helper:1f0c|tools:77aa`. A graph's
namespace is that of the task that called it, and is empty for the outermost graph. A part that is only a number counts
the graphs that one task called.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def task_of(config: Mapping[str, Any]) -> str:
    """Return the namespace of the task a config belongs to; "" outside any graph."""
    return str((config.get("configurable") or {}).get("checkpoint_ns") or "")


def graph_of(task: str) -> str:
    """Return the namespace of the graph that a task belongs to; "" for the outermost."""
    return task.rpartition("|")[0]


def names_of(graph: str) -> str:
    """Return the names of the nodes that lead to a graph, `helper|tools`, without task ids and counts."""
    parts = (part.partition(":")[0] for part in graph.split("|") if not part.isdecimal())
    return "|".join(part for part in parts if part)


def id_of(task: str) -> str:
    """Return a task's own id."""
    return task.rpartition("|")[2].rpartition(":")[2]
