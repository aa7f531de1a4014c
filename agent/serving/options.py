"""`review.toml`: what each external agent is given when it runs, next to the `langgraph.json` that names it."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.review.errors import SettingsError

NAME = "review.toml"
KEYS = ("context", "configurable", "store")
RESERVED = ("thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map")
"""What LangGraph itself keeps in a run's `configurable`."""


@dataclass(frozen=True)
class AgentOptions:
    """The table `[agents.NAME]`."""

    context: Mapping[str, Any] = field(default_factory=dict)
    configurable: Mapping[str, Any] = field(default_factory=dict)
    store: Path | bool = True
    """A file for what the agent keeps in LangGraph's store; True is one of its own in the data folder, False none."""


def read(path: Path | None, agents: Path, names: Collection[str]) -> Mapping[str, AgentOptions]:
    """Return the options of each agent. `agents` is the `langgraph.json` that serves those `names`.

    Without a `path`, the file next to it is read, if there is one. Raises `SettingsError` naming every problem.
    """
    found = path or agents.parent / NAME
    if path is None and not found.exists():
        return {}
    try:
        tables = tomllib.loads(found.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError([f"REVIEW_CONFIG={str(found)!r}: {type(error).__name__}: {error}"]) from error
    if problems := [f"{found}: {problem}" for problem in _problems(tables, agents, names)]:
        raise SettingsError(problems)
    return {name: _options(found.parent, table) for name, table in tables.get("agents", {}).items()}


def _options(folder: Path, table: Mapping[str, Any]) -> AgentOptions:
    store = table.get("store", True)
    return AgentOptions(
        context=table.get("context", {}),
        configurable=table.get("configurable", {}),
        store=store if isinstance(store, bool) else folder / store,
    )


def _problems(tables: Mapping[str, Any], agents: Path, names: Collection[str]) -> Iterator[str]:
    for key in tables.keys() - {"agents"}:
        yield f"there is no {key!r} here; it may hold [agents.NAME] alone"
    named = tables.get("agents", {})
    if not isinstance(named, Mapping):
        yield "agents is no table; write [agents.NAME]"
        return
    for name, table in named.items():
        if name not in names:
            yield f"[agents.{name}]: {agents} serves no agent of this name; it serves {', '.join(names)}"
        elif not isinstance(table, Mapping):
            yield f"agents.{name} is no table; write [agents.{name}]"
        else:
            yield from (f"[agents.{name}]: {problem}" for problem in _problems_of(table))


def _problems_of(table: Mapping[str, Any]) -> Iterator[str]:
    for key in table.keys() - set(KEYS):
        yield f"there is no {key!r} here; use {', '.join(KEYS)}"
    for key in ("context", "configurable"):
        if not isinstance(table.get(key, {}), Mapping):
            yield f"{key} is no table"
    if not isinstance(table.get("store", True), bool | str):
        yield "store is a file's path, or true or false"
    for key in table.get("configurable", {}):
        if key in RESERVED or key.startswith("__"):
            yield f"configurable.{key} is LangGraph's own; use another name"
