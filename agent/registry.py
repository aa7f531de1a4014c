"""What a LangGraph configuration file names: agents of ours, and external ones."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from agent.demos.world import World
from agent.review.agents import Agent, LoadFailure
from agent.review.errors import PolicyError, SettingsError
from agent.review.policy import Policy
from agent.serving import configuration, options
from agent.serving.modules import modules_of
from agent.serving.options import AgentOptions

if TYPE_CHECKING:
    from agent.engine.checkpoints import Graph
    from agent.engine.loading.stores import FileStore


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


@dataclass(frozen=True)
class ExternalAgent:
    """A compiled graph that gates itself, and what it is given when it runs."""

    graph: Graph
    options: AgentOptions


WITH_OUR_POLICY = (WorldAgent, OwnAgent)

Target: TypeAlias = WorldAgent | OwnAgent | ExternalAgent


@dataclass(frozen=True)
class Served:
    """The agents of a configuration file, and those that could not be loaded."""

    targets: Mapping[str, Target]
    broken: Mapping[str, LoadFailure]
    opened: ExitStack = field(default_factory=ExitStack)

    def close(self) -> None:
        """Close what the agents' factories opened."""
        self.opened.close()


def served(
    path: Path, only: str | None = None, *, options_file: Path | None = None, stores: Path | None = None
) -> Served:
    """Load the agents that a LangGraph configuration file names.

    With `only`, no other of them is even imported. `options_file` is what `REVIEW_CONFIG` names; `stores` is the folder
    of the stores that are made for external agents. Raises `SettingsError` if a file cannot be read or names no agent
    at all, and `PolicyError` where a module's policy does not fit its tools.
    """
    found = configuration.read(path)
    given = options.read(options_file, path, found.graphs)
    found.set_environment()
    modules = modules_of(found.folder, found.roots)
    targets, broken = dict[str, Target](), dict[str, LoadFailure]()
    with ExitStack() as opened:
        for name, where in found.graphs.items():
            if only not in (None, name):
                continue
            try:
                loading = Loading(name, given.get(name), stores, opened)
                targets[name] = target = loading.target(modules.named(where))
                _check(name, target)
            except (PolicyError, SettingsError):
                raise
            except (Exception, SystemExit) as error:  # whatever a module does while it is imported
                targets.pop(name, None)
                broken[name] = failure_of(error, found.roots)
        return Served(targets, broken, opened.pop_all())


def failure_of(error: BaseException, roots: Sequence[Path]) -> LoadFailure:
    """Return an error as people are told of it, with the last place in the files below `roots` that led to it."""
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno))
    own = [place for place in places if _is_within(place[0], roots)] or places
    where = f"{own[-1][0]}, line {own[-1][1]}" if own else ""
    return LoadFailure(f"{type(error).__name__}: {error}", where, "".join(traceback.format_exception(error)))


def _is_within(file: str, roots: Sequence[Path]) -> bool:
    return "site-packages" not in file and any(file.startswith(f"{root}{os.sep}") for root in roots)


def _check(name: str, target: Target) -> None:
    """Find out now what cannot be served, so that the others still are."""
    if not isinstance(target, WorldAgent):
        _without_world(name, target)


@dataclass(frozen=True)
class Loading:
    """Loads one agent. What it opens is closed with `opened`."""

    name: str
    options: AgentOptions | None
    stores: Path | None
    opened: ExitStack

    def target(self, found: Any) -> Target:
        """Return the agent that a variable is or makes. Raises TypeError for anything else."""
        if isinstance(found, WITH_OUR_POLICY):
            return self._ours(found)
        from agent.engine.loading import factories  # LangGraph, which agents of ours need only at work

        given, store = self.options or AgentOptions(), self._store()
        if factories.is_factory(found):
            calling = factories.Factories()
            self.opened.callback(calling.close)
            runtime = factories.runtime_of(given.context, store)
            found = calling.called(found, given.configurable, runtime)
        if isinstance(found, WITH_OUR_POLICY):
            return self._ours(found)
        return ExternalAgent(factories.graph_of(found, store), given)

    def _ours(self, found: WorldAgent | OwnAgent) -> Target:
        if self.options is not None:
            problem = "is an agent under this console's policy; leave it out of review.toml"
            raise SettingsError([f"[agents.{self.name}]: it {problem}"])
        return found

    def _store(self) -> FileStore | None:
        file = self.options.store if self.options else True
        if file is True:
            file = self.stores / f"{quote(self.name, safe='')}.sqlite" if self.stores else False
        if not isinstance(file, Path):
            return None
        from agent.engine.loading.stores import FileStore

        store = FileStore(file)
        self.opened.callback(store.close)
        return store


def policy_of(target: Target, world: World) -> Policy:
    if isinstance(target, WorldAgent):
        return target.policy(world)
    return target.agent.policy if isinstance(target, OwnAgent) else Policy({})


def agent_of(name: str, target: Target, world: World) -> Agent:
    """Return the agent, on this world if it is one of ours."""
    return target.define(world) if isinstance(target, WorldAgent) else _without_world(name, target)


def _without_world(name: str, target: OwnAgent | ExternalAgent) -> Agent:
    if isinstance(target, OwnAgent):
        return replace(target.agent, name=name)
    from agent.engine.drivers import external

    return external.agent_of(name, target.graph, target.options)
