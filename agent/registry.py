"""What a LangGraph configuration file names: agents of ours, and graphs of another make."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from agent.demos.world import World
from agent.review.agents import Agent
from agent.review.errors import PolicyError, SettingsError
from agent.review.policy import Policy

if TYPE_CHECKING:
    from agent.engine.checkpoints import Graph


@dataclass(frozen=True)
class WorldAgent:
    """An agent of ours, to be opened on a world."""

    define: Callable[[World], Agent]
    policy: Callable[[World], Policy]
    """The agent's own. Telling it imports none of its tools."""


@dataclass(frozen=True)
class OwnAgent:
    """Tools of your own under a policy of ours, without the demo world. `langgraph.json` gives the agent its name."""

    define: Callable[[], Agent]
    """Called once, when the console opens."""

    @cached_property
    def agent(self) -> Agent:
        return replace(self.define(), isolated=False)


WITH_OUR_POLICY = (WorldAgent, OwnAgent)

Target: TypeAlias = "WorldAgent | OwnAgent | Graph"


def served(path: Path, only: str | None = None) -> tuple[Mapping[str, Target], Mapping[str, str]]:
    """The agents a LangGraph configuration file names, and those that could not be loaded, with the reason.

    With `only`, no other of them is even imported. Raises `SettingsError` if the file cannot be read or names no agent
    at all, and `PolicyError` where a module's policy does not fit its tools.
    """
    try:
        graphs = dict(json.loads(path.read_text(encoding="utf-8"))["graphs"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SettingsError([f"REVIEW_AGENTS={str(path)!r}: {type(error).__name__}: {error}"]) from error
    if not graphs:
        raise SettingsError([f"REVIEW_AGENTS={str(path)!r} names no graph"])
    found: dict[str, Target] = {}
    broken: dict[str, str] = {}
    for name, where in graphs.items():
        if only not in (None, name):
            continue
        try:
            found[name] = target = _target(where, path.parent)
            _check(name, target)
        except PolicyError:
            raise
        except (Exception, SystemExit) as error:  # whatever a module does while it is imported
            found.pop(name, None)
            broken[name] = f"{type(error).__name__}: {error}"
    return found, broken


def _check(name: str, target: Target) -> None:
    """Find out now what cannot be served, so that the others still are."""
    if not isinstance(target, WorldAgent):
        _without_world(name, target)


def _target(where: Any, beside: Path) -> Target:
    """What `./agent/bootstrap.py:mail` names: a demo agent, a compiled graph, or a factory of one.

    A file beside the configuration is loaded from there, any other by its module's own name.
    """
    path = where["path"] if isinstance(where, Mapping) else where
    file, _, name = str(path).rpartition(":")
    found = getattr(_module(file, beside), name)
    if not _is_target(found) and callable(found):
        found = found()
    if not _is_target(found):
        raise TypeError(f"{path} is neither a compiled graph nor a factory of one without arguments")
    return found


def _is_target(found: Any) -> TypeGuard[Target]:
    if isinstance(found, WITH_OUR_POLICY):
        return True
    from agent.engine.drivers import external  # LangGraph, which agents of ours need only at work

    return external.is_graph(found)


def _module(file: str, beside: Path) -> ModuleType:
    if not (beside / file).is_file() or beside.resolve() == Path.cwd():
        return importlib.import_module(
            Path(file).with_suffix("").as_posix().removeprefix("./").replace("/", ".")
        )
    place = (beside / file).resolve()
    spec = importlib.util.spec_from_file_location(f"_served_{place.stem}", place)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def policy_of(target: Target, world: World) -> Policy:
    if isinstance(target, WorldAgent):
        return target.policy(world)
    return target.agent.policy if isinstance(target, OwnAgent) else Policy({})


def agent_of(name: str, target: Target, world: World) -> Agent:
    """The agent on this world. Raises TypeError for a graph that cannot be conversed with."""
    return target.define(world) if isinstance(target, WorldAgent) else _without_world(name, target)


def _without_world(name: str, target: OwnAgent | Graph) -> Agent:
    if isinstance(target, OwnAgent):
        return replace(target.agent, name=name)
    from agent.engine.drivers import external

    return external.agent_of(name, target)
