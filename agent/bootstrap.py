"""The one place where everything is joined: settings, ledger, engine, agents, console."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from agent import settings as settings_module
from agent.console import Console
from agent.demos import library as library_demo
from agent.demos import mail as mail_demo
from agent.demos import operations as operations_demo
from agent.demos.world import World
from agent.engine import graph
from agent.engine.guard import Guard
from agent.engine.local import LocalEngine
from agent.engine.makes.foreign import agent_of
from agent.engine.model import Models, Provider
from agent.engine.owners import Owner
from agent.engine.reading import Graph
from agent.engine.recorder import Recorder
from agent.engine.supervisor import WORKERS, Supervisor
from agent.ledger.anchors import AnchorFile
from agent.ledger.sqlite import SqliteLedger
from agent.ports import Clock
from agent.review.agents import Agent
from agent.review.errors import ReviewError, SettingsError, UnknownModel
from agent.review.events import instant
from agent.review.rules import Rule, in_force
from agent.review.scenarios import Reply
from agent.review.threads import Run
from agent.settings import Settings


@dataclass(frozen=True)
class DemoAgent:
    """A demo agent as `langgraph.json` names it: the console opens it on its own world.

    Called without arguments, as LangGraph's servers call a graph factory, it is a graph on the settings' world.
    """

    define: Callable[[World], Agent]

    def __call__(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        found = settings_module.read()
        agent = self.define(World(_folder(found.review_data) / "world.sqlite"))
        return graph.build(agent, models_of(found).named).compile()


mail = DemoAgent(mail_demo.define)
operations = DemoAgent(operations_demo.define)
library = DemoAgent(library_demo.define)


@dataclass(frozen=True)
class Opened:
    """A console at work, with what a page or a test needs beside it."""

    console: Console
    world: World
    settings: Settings
    supervisor: Supervisor
    _parts: tuple[Callable[[], None], ...]

    def close(self) -> None:
        """Stop runs at their next step and let go of every file."""
        for shut in self._parts:
            shut()


def utc_now() -> datetime:
    return datetime.now(UTC)


def open_console(
    settings: Settings,
    *,
    clock: Clock = utc_now,
    at_work: bool = True,
    only: str | None = None,
    replies: Sequence[Reply] = (),
    workers: int = WORKERS,
) -> Opened:
    """Open the console on the settings' data folder, reconcile what a dead process left, start the workers.

    One that is not `at_work` only looks: it starts no worker, takes nothing over and anchors nothing. With `only`,
    that one of the agents is served alone; with `replies`, there is a model that gives them.
    `workers` is how many runs go on at once.

    Raises `SettingsError`, `PolicyError` or `LedgerUnavailable`, each naming what to mend.
    """
    data = _folder(settings.review_data)
    models, secret = models_of(settings, replies), _secret(data / "digest.key")
    with ExitStack() as undone:  # what was opened before something could not be
        world = World(data / "world.sqlite", clock)
        undone.callback(world.close)
        agents, graphs, broken = _served_on(world, settings, only)
        owner = Owner(data / "owners")
        undone.callback(owner.close)
        ledger = SqliteLedger(data / "ledger.sqlite", frozen=owner.frozen)
        undone.callback(ledger.shut)
        rules_for = partial(_rules_in_force, ledger, clock)
        path = data / "checkpoints.sqlite"
        engine = LocalEngine(agents, models, path, graphs=graphs, broken=broken, rules_for=rules_for)
        undone.pop_all()
    supervisor = Supervisor(ledger, engine, Recorder(ledger, secret, clock), owner, clock, workers=workers)

    def guard_for(run: Run, agent: Agent) -> Guard:
        return Guard(ledger, run, agent, secret, clock, partial(supervisor.tool_moved, run.run_id))

    engine.guard_with(guard_for)
    anchors = AnchorFile(settings_module.anchor_path(settings))
    console = Console(ledger, engine, supervisor, anchors, secret, clock)
    if at_work:
        console.anchor(every=1)
        supervisor.open(console.expire, console.end_rules, console.heed_others, console.anchor)
    note_the_end = partial(_note_the_end, console, at_work)
    parts = (supervisor.shut, note_the_end, engine.shut, ledger.shut, world.close)
    return Opened(console, world, settings, supervisor, parts)


def _served_on(
    world: World, settings: Settings, only: str | None
) -> tuple[Mapping[str, Agent], Mapping[str, Graph], Mapping[str, str]]:
    """The agents under the settings' clocks, the graphs of those of another make, and what could not be loaded."""
    targets, broken = served(settings.review_agents, only)
    agents = {name: _with_clocks(_agent(name, target, world), settings) for name, target in targets.items()}
    graphs = {name: target for name, target in targets.items() if isinstance(target, CompiledStateGraph)}
    return agents, graphs, broken


def _rules_in_force(ledger: SqliteLedger, clock: Clock, run: Run) -> Sequence[Rule]:
    now = instant(clock())
    return [one for one in ledger.standing_rules(run.agent) if in_force(one, run.thread_id, now)]


def _note_the_end(console: Console, at_work: bool) -> None:
    # A ledger that cannot be read now keeps nothing else from being closed.
    with suppress(ReviewError):
        if at_work:
            console.anchor(every=1)


def models_of(settings: Settings, replies: Sequence[Reply] = ()) -> Models:
    """The models the settings offer: always the demo model, real ones beside it once there is a key."""
    try:
        return Models(
            delay=settings.review_demo_delay,
            provider=provider_of(settings),
            default=settings.review_model,
            replies=replies,
        )
    except UnknownModel as error:
        raise SettingsError([f"REVIEW_MODEL: {error}"]) from None


def provider_of(settings: Settings) -> Provider | None:
    """Where real models are reached; None without a key."""
    if settings.openai_api_key is None:
        return None
    return Provider(settings.openai_api_key, settings.openai_base_url, settings.openai_models)


_lock = threading.Lock()
_opened: Opened | None = None


def opened() -> Opened:
    """This process's console, opened on first use. Pages, API and command line all share it."""
    global _opened
    with _lock:
        if _opened is None:
            _opened = open_console(settings_module.read())
        return _opened


def close() -> None:
    """Close this process's console, if it is open."""
    global _opened
    with _lock:
        if _opened is not None:
            _opened.close()
            _opened = None


def served(path: Path, only: str | None = None) -> tuple[Mapping[str, DemoAgent | Graph], Mapping[str, str]]:
    """The agents a LangGraph configuration file names, and those that could not be loaded, with the reason.

    With `only`, no other of them is even imported. Raises `SettingsError` if the file cannot be read or names no agent at all.
    """
    try:
        graphs = dict(json.loads(path.read_text(encoding="utf-8"))["graphs"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError([f"REVIEW_AGENTS={str(path)!r}: {type(error).__name__}: {error}"]) from error
    if not graphs:
        raise SettingsError([f"REVIEW_AGENTS={str(path)!r} names no graph"])
    found: dict[str, DemoAgent | Graph] = {}
    broken: dict[str, str] = {}
    for name, where in graphs.items():
        if only not in (None, name):
            continue
        try:
            found[name] = target = _target(where, path.parent)
            if isinstance(target, CompiledStateGraph):
                agent_of(name, target)
        except Exception as error:  # whatever a module raises while it is imported
            found.pop(name, None)
            broken[name] = f"{type(error).__name__}: {error}"
    return found, broken


def _target(where: Any, beside: Path) -> DemoAgent | Graph:
    """What `./agent/bootstrap.py:mail` names: a demo agent, a compiled graph, or a factory of one.

    A file beside the configuration is loaded from there, any other by its module's own name.
    """
    path = where["path"] if isinstance(where, Mapping) else where
    file, _, name = str(path).rpartition(":")
    found = getattr(_module(file, beside), name)
    if not isinstance(found, DemoAgent | CompiledStateGraph) and callable(found):
        found = found()
    if not isinstance(found, DemoAgent | CompiledStateGraph):
        raise TypeError(f"{path} is neither a compiled graph nor a factory of one without arguments")
    return found


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


def _agent(name: str, target: DemoAgent | Graph, world: World) -> Agent:
    return target.define(world) if isinstance(target, DemoAgent) else agent_of(name, target)


def _with_clocks(agent: Agent, settings: Settings) -> Agent:
    policy = replace(
        agent.policy, approve_by=settings.review_approve_by, execute_by=settings.review_execute_by
    )
    return replace(agent, policy=policy)


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError([f"REVIEW_DATA={str(path)!r}: {error.strerror}"]) from error
    return path


def _secret(path: Path) -> bytes:
    """The key of the digests: made at first start, readable by its owner alone."""
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes()
    with os.fdopen(made, "wb") as file:
        file.write(secrets.token_bytes(32))
    return path.read_bytes()
