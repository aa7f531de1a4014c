"""A LangGraph configuration file: the graphs it names, where their modules lie, and their environment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from agent.review.errors import SettingsError

OF_THE_CONSOLE = "REVIEW_"
"""What the console's own variables begin with: a configuration's `env` is for its agents, and sets none of these."""


@dataclass(frozen=True)
class Configuration:
    """What the console takes from a `langgraph.json`."""

    path: Path
    graphs: Mapping[str, str]
    """Where each agent is, as `./file.py:name` or `module:name`, by its name."""
    roots: tuple[Path, ...]
    """The folders its modules are imported from: its own, its local dependencies, and the `src` of each."""
    environment: Mapping[str, str]

    @property
    def folder(self) -> Path:
        return self.path.parent

    def set_environment(self) -> None:
        """Set the variables that the process's environment does not have yet."""
        for name, value in self.environment.items():
            if not name.startswith(OF_THE_CONSOLE):
                os.environ.setdefault(name, value)


def read(path: Path) -> Configuration:
    """Read a configuration file. Raises `SettingsError` if it is not in LangGraph's format or names no graph."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        graphs = {name: _where(name, place) for name, place in dict(found["graphs"]).items()}
        folder = path.resolve().parent
        roots = _roots(folder, found.get("dependencies") or [])
        environment = _environment(folder, found.get("env") or {})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SettingsError([f"REVIEW_AGENTS={str(path)!r}: {type(error).__name__}: {error}"]) from error
    if not graphs:
        raise SettingsError([f"REVIEW_AGENTS={str(path)!r} names no graph"])
    return Configuration(path, graphs, roots, environment)


def _where(name: str, place: Any) -> str:
    where = place.get("path") if isinstance(place, Mapping) else place
    return str(where)


def _roots(folder: Path, dependencies: Any) -> tuple[Path, ...]:
    """Return the folders of local dependencies; any other dependency is a package that its owner installs."""
    if not isinstance(dependencies, list):
        raise TypeError("dependencies is a list")
    local = [folder, *((folder / str(one)).resolve() for one in dependencies)]
    candidates = [root for one in local for root in (one, one / "src")]
    return tuple(dict.fromkeys(root for root in candidates if root.is_dir()))


def _environment(folder: Path, env: Any) -> dict[str, str]:
    found = dotenv_values(folder / env) if isinstance(env, str) else dict(env)
    return {str(name): str(value) for name, value in found.items() if value is not None}
