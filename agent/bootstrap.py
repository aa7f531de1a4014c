"""The wiring: build the console from settings, ledger, engine and agents. Nothing else does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import settings as settings_module
from agent.console import Console
from agent.demos import library as library_demo
from agent.demos import mail as mail_demo
from agent.demos import operations as operations_demo
from agent.demos.world import World, WorldError
from agent.engine.lazy import LazyEngine
from agent.engine.models import Models, Provider
from agent.engine.process_lock import Owner
from agent.engine.recorder import Recorder
from agent.engine.supervisor import WORKERS, Supervisor
from agent.ledger.anchors import AnchorFile
from agent.ledger.keyed import take_in
from agent.ledger.keys import RecordKeys, key_in
from agent.ledger.sqlite import SqliteLedger
from agent.ports import Clock
from agent.registry import ExternalAgent, Served, WorldAgent, agent_of, policy_of, served
from agent.review.agents import Agent
from agent.review.errors import CheckpointsUnavailable, ReviewError, SettingsError, UnknownModel
from agent.review.events import EventKind, instant
from agent.review.replies import RecordedReply
from agent.review.rules import Rule, in_force
from agent.review.threads import Run
from agent.settings import Settings

# Whatever imports LangChain is imported where it is used, so that a page that only reads need not wait for it.
if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from agent.engine.guard import Guard
    from agent.engine.local import ContextFor, GuardFor, LocalEngine, RulesFor


log = logging.getLogger(__name__)


class DemoAgent(WorldAgent):
    """A demo agent as `langgraph.json` names it: the console opens it on its own world.

    LangGraph's servers call it without arguments, as a graph factory; they get a graph on the settings' world.
    """

    def __call__(self) -> Any:  # LangGraph's servers read its annotations
        from agent.engine import graph

        found = settings_module.read()
        agent = self.define(World(_folder(found.review_data) / "world.sqlite"))
        return graph.build(agent, models_of(found).named).compile()


mail = DemoAgent(mail_demo.define, mail_demo.policy)
operations = DemoAgent(operations_demo.define, operations_demo.policy)
library = DemoAgent(library_demo.define, library_demo.policy)


@dataclass(frozen=True)
class Opened:
    """An opened console, with the parts that pages and tests need besides it. Runs execute after `go_to_work`."""

    console: Console
    world: World
    settings: Settings
    supervisor: Supervisor
    engine: LazyEngine
    _parts: tuple[Callable[[], None], ...]
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def go_to_work(self) -> None:
        """Open the engine, reconcile what a dead process left, and start the workers.

        Happens once; concurrent calls wait for it. Raises `PolicyError` if a policy does not fit its agent's tools.
        """
        self.engine.open()
        with self._turn:
            if self.supervisor.was_opened:
                return
            for name, failure in self.engine.broken().items():
                log.error("The agent %s could not be loaded.\n%s", name, failure.traceback)
            self.console.trail.anchor()
            sweeps = (self.console.expire, self.console.rules.end_expired, self.console.other_clients.notice)
            self.supervisor.open(*sweeps, anchor=self.console.trail.anchor)

    def close(self) -> None:
        """Stop runs at their next step and close every file."""
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
    replies: Sequence[RecordedReply] = (),
    workers: int = WORKERS,
) -> Opened:
    """Open the console on the settings' data folder, and start its work.

    With `at_work` false it only reads: it starts no worker, takes over no run and notes no anchor.
    With `only`, just that agent is served. With `replies`, one of the models gives these recorded replies.
    `workers` is how many runs execute at once.

    Raises `SettingsError`, `PolicyError` or `LedgerUnavailable`, each naming what to fix.
    """
    data = _folder(settings.review_data)
    models, key_file = models_of(settings, replies), settings_module.key_path(settings)
    keys = RecordKeys.of(key_in(key_file), key_file)
    anchors = AnchorFile(settings_module.anchor_path(settings))
    with ExitStack() as undone:  # closes what was opened if a later part cannot be
        world = _world(data / "world.sqlite", clock)
        undone.callback(world.close)
        options, stores = settings.review_config, data / "stores"
        loaded = served(settings.review_agents, only, options_file=options, stores=stores)
        undone.callback(loaded.close)
        owner = _owner(data / "owners")
        undone.callback(owner.close)
        ledger = SqliteLedger(data / "ledger.sqlite", chain_key=keys.chain, frozen=owner.frozen)
        undone.callback(ledger.shut)
        secret = take_in(ledger, anchors, keys, data / "digest.key", clock)
        undone.pop_all()

    def guard_for(run: Run, agent: Agent) -> Guard:
        from agent.engine.guard import Guard

        return Guard(ledger, run, agent, secret, clock, partial(supervisor.tool_moved, run.run_id))

    rules_for = partial(_rules_in_force, ledger, clock)
    context_for = partial(_context_of, ledger)
    make = partial(_engine, settings, world, loaded, models, rules_for, context_for, guard_for)
    policies = {name: policy_of(target, world) for name, target in loaded.targets.items()}
    engine = LazyEngine(policies, loaded.broken, models.names(), make)
    supervisor = Supervisor(ledger, engine, Recorder(ledger, secret, clock), owner, clock, workers=workers)
    console = Console(
        ledger=ledger, engine=engine, runs=supervisor, anchors=anchors, secret=secret, clock=clock
    )
    note_the_end = partial(_note_the_end, console, supervisor)
    parts = (supervisor.shut, note_the_end, engine.shut, loaded.close, ledger.shut, world.close)
    opened = Opened(console, world, settings, supervisor, engine, parts)
    if at_work:
        try:
            opened.go_to_work()
        except BaseException:
            opened.close()
            raise
    return opened


def _engine(
    settings: Settings,
    world: World,
    loaded: Served,
    models: Models,
    rules_for: RulesFor,
    context_for: ContextFor,
    guard_for: GuardFor,
) -> LocalEngine:
    """Return the engine over these agents, each with the settings' time limits."""
    from agent.engine.local import LocalEngine

    targets = loaded.targets
    agents = {name: _with_clocks(agent_of(name, target, world), settings) for name, target in targets.items()}
    external = {name: target for name, target in targets.items() if isinstance(target, ExternalAgent)}
    path = settings.review_data / "checkpoints.sqlite"
    try:
        engine = LocalEngine(
            agents,
            models,
            path,
            graphs={name: target.graph for name, target in external.items()},
            options={name: target.options for name, target in external.items()},
            broken=loaded.broken,
            rules_for=rules_for,
            context_for=context_for,
        )
    except CheckpointsUnavailable as error:
        raise SettingsError([str(error)]) from error
    engine.guard_with(guard_for)
    return engine


def _rules_in_force(ledger: SqliteLedger, clock: Clock, run: Run) -> Sequence[Rule]:
    now = instant(clock())
    return [one for one in ledger.standing_rules(run.agent) if in_force(one, run.thread_id, now)]


def _context_of(ledger: SqliteLedger, run: Run) -> Mapping[str, Any]:
    """Return the context that a thread was started with, as its record has it."""
    started = ledger.events(thread_id=run.thread_id, kind=EventKind.THREAD_STARTED, limit=1)
    return ((started[0].data or {}).get("context") or {}) if started else {}


def _note_the_end(console: Console, supervisor: Supervisor) -> None:
    # The other parts are closed even if the ledger cannot be read now.
    with suppress(ReviewError):
        if supervisor.was_opened:
            console.trail.anchor()


def models_of(settings: Settings, replies: Sequence[RecordedReply] = ()) -> Models:
    """Return the models the settings offer: always the demo model, and real ones as well if there is a key."""
    try:
        return Models(
            partial(_demo_model, settings.review_demo_delay),
            provider=provider_of(settings),
            default=settings.review_model,
            replies=replies,
        )
    except UnknownModel as error:
        raise SettingsError([f"REVIEW_MODEL: {error}"]) from None


def _demo_model(delay: float) -> BaseChatModel:
    from agent.demos.model import DemoModel

    return DemoModel(delay=delay)


def provider_of(settings: Settings) -> Provider | None:
    """Return where real models are reached, or None without a key."""
    if settings.openai_api_key is None:
        return None
    return Provider(settings.openai_api_key, settings.openai_base_url, settings.openai_models)


_lock = threading.Lock()
_opened: Opened | None = None


def opened(*, at_work: bool = True) -> Opened:
    """Return this process's console, opened on first use. Pages, API and command line all share it.

    If it is opened with `at_work` false, `go_to_work` has to be called later.
    """
    global _opened
    with _lock:
        if _opened is None:
            _opened = open_console(settings_module.read(), at_work=at_work)
        return _opened


def close() -> None:
    """Close this process's console, if it is open."""
    global _opened
    with _lock:
        if _opened is not None:
            _opened.close()
            _opened = None


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


def _world(path: Path, clock: Clock) -> World:
    try:
        return World(path, clock)
    except WorldError as error:
        raise SettingsError([f"{path}: {error}"]) from error


def _owner(folder: Path) -> Owner:
    try:
        return Owner(folder)
    except OSError as error:
        remedy = "move it away, or allow the console to create files there"
        raise SettingsError([f"{folder}: {error.strerror}; {remedy}"]) from error
