"""Check that everything the console needs is present and intact, and say what to fix if it is not."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import TypeVar

from packaging.requirements import Requirement

from agent import bootstrap
from agent import settings as settings_module
from agent.bootstrap import Opened
from agent.ledger.anchors import AnchorFile
from agent.ledger.keys import read_key
from agent.review.errors import ReviewError, SettingsError
from agent.review.text.counts import counted
from agent.settings import Settings

T = TypeVar("T")

REQUIREMENTS = Path(__file__).parents[2] / "requirements.txt"
MOST_NAMED = 20
"""How many reviews with a changed record are named."""
ROOM = 100
"""Megabytes of free space below which a disk counts as full."""
LOOKED_AT = 50
"""Threads whose checkpoints are read: those that changed last."""


@dataclass(frozen=True)
class Finding:
    """The result of one check. `said` ends in a remedy if it is not well."""

    about: str
    well: bool
    said: str


def examine() -> Iterator[Finding]:
    """Yield a finding per check, without changing anything; skip checks that depend on something broken."""
    yield _python()
    yield _packages()
    try:
        settings = settings_module.read()
    except SettingsError as error:
        yield Finding("settings", False, str(error))
        return
    places = f"data in {settings.review_data}, agents of {settings.review_agents}"
    yield Finding("settings", True, f"{places}, model {settings.review_model}")
    yield from (_judged(about, look, settings) for about, look in BEFORE)
    try:
        opened = bootstrap.open_console(settings, at_work=False)
    except ReviewError as error:
        yield Finding("ledger", False, str(error))
    except Exception as error:  # a damaged file makes its driver raise anything
        yield Finding(
            "ledger", False, f"{type(error).__name__}: {error}. Restore {settings.review_data} from a copy."
        )
    else:
        try:
            yield from (_judged(about, look, opened) for about, look in LOOKS)
            yield from _external_agents(opened)
        finally:
            opened.close()
    yield _model(settings)


def _python() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    well = sys.version_info >= (3, 11)
    return Finding("python", well, found if well else f"{found} is too old. Install Python 3.11 or newer.")


def _packages() -> Finding:
    lines = [line for line in REQUIREMENTS.read_text().splitlines() if line and not line.startswith("#")]
    wrong = [problem for line in lines if (problem := _package(Requirement(line)))]
    if wrong:
        return Finding("packages", False, f"{'; '.join(wrong)}. Run pip install -r requirements.txt.")
    return Finding("packages", True, f"all {len(lines)} as required")


def _package(needed: Requirement) -> str:
    try:
        found = version(needed.name)
    except PackageNotFoundError:
        return f"{needed.name} is missing"
    return (
        "" if needed.specifier.contains(found, prereleases=True) else f"{needed} is needed, {found} is there"
    )


def _judged(about: str, look: Callable[[T], str], at: T) -> Finding:
    try:
        return Finding(about, True, look(at))
    except Exception as error:  # a damaged file makes its reader raise anything
        said = (
            str(error)
            if isinstance(error, ReviewError)
            else f"{type(error).__name__}: {error}. {REMEDY[about]}"
        )
        return Finding(about, False, said)


def _key(settings: Settings) -> str:
    path = settings_module.key_path(settings)
    if not path.exists():
        return f"to be made at the first start, in {path}"
    read_key(path)
    if path.stat().st_mode & 0o077:
        raise PermissionError(f"others can read {path}")
    if path.resolve().is_relative_to(settings.review_data.resolve()):
        raise ValueError(f"{path} is in the data folder, so whoever can change the record can read it")
    return f"intact, in {path}"


def _anchors(settings: Settings) -> str:
    path = settings_module.anchor_path(settings)
    noted = AnchorFile(path).read()
    return (
        f"{len(noted)} in {path}, the last from {noted[-1].at}"
        if noted
        else f"none yet, to be kept in {path}"
    )


def _disk(settings: Settings) -> str:
    free = min(shutil.disk_usage(_existing(one)).free for one in _places(settings)) / 1e6
    if free < ROOM:
        raise OSError(f"only {free:,.0f} MB are free")
    return f"{free:,.0f} MB are free"


def _places(settings: Settings) -> tuple[Path, ...]:
    return settings.review_data, settings_module.anchor_path(settings), settings_module.key_path(settings)


def _existing(path: Path) -> Path:
    return next(one for one in (path.absolute(), *path.absolute().parents) if one.exists())


def _ledger(opened: Opened) -> str:
    opened.console.queries.health()
    found = opened.console.trail.verify()
    if not found.ok:
        raise ValueError(found.first_fault)
    unkeyed = f", the first {found.unkeyed} from before the record had a key" if found.unkeyed else ""
    return f"{counted(found.count, 'event')}, intact{unkeyed}"


def _world(opened: Opened) -> str:
    return f"{counted(len(opened.world.changes()), 'change')} since it was created or reset"


def _waiting(opened: Opened) -> str:
    damaged = list(islice(opened.console.queries.damaged_reviews(), MOST_NAMED))
    if damaged:
        raise ValueError(f"the record of {', '.join(damaged)} was changed past the console")
    length = opened.console.queries.queue_length()
    return (
        "1 review waits, as recorded"
        if length == 1
        else f"{counted(length, 'review')} wait, each as recorded"
    )


def _checkpoints(opened: Opened) -> str:
    opened.engine.open()
    threads = opened.console.queries.threads(limit=LOOKED_AT)
    for thread in threads:
        opened.console.queries.inside(thread.thread_id)
    return f"those of the last {counted(len(threads), 'thread')} can be read"


def _agents(opened: Opened) -> str:
    if broken := opened.console.queries.broken_agents():
        raise ValueError("; ".join(f"{name}: {why}" for name, why in broken.items()))
    opened.engine.open()  # checks each agent against its policy
    return ", ".join(opened.console.queries.agents())


def _external_agents(opened: Opened) -> Iterator[Finding]:
    """Report what each external agent needs before it can run."""
    try:
        opened.engine.open()
    except ReviewError:  # said of the agents together
        return
    for name in opened.console.queries.agents():
        agent = opened.console.queries.agent(name)
        if agent.gates_itself:
            needs = agent.needs
            said = "; ".join(f"{about}: {words}" for about, words in needs.lines()) or "needs nothing"
            remedy = f". Set it in review.toml under [agents.{name}.context], or send it with each thread"
            yield Finding(f"agent {name}", True, said + (remedy if needs.missing_context else ""))


def _model(settings: Settings) -> Finding:
    provider = bootstrap.provider_of(settings)
    if provider is None:
        return Finding("model", True, "the demo model; set OPENAI_API_KEY to have real ones too")
    problem = provider.reach()
    return Finding("model", not problem, problem or f"{', '.join(provider.names)} can be reached")


BEFORE: tuple[tuple[str, Callable[[Settings], str]], ...] = (
    ("key", _key),
    ("anchors", _anchors),
    ("disk", _disk),
)
LOOKS: tuple[tuple[str, Callable[[Opened], str]], ...] = (
    ("ledger", _ledger),
    ("reviews", _waiting),
    ("world", _world),
    ("checkpoints", _checkpoints),
    ("agents", _agents),
)
REMEDY = {
    "key": "Make it readable by its owner only (chmod 600), in a folder of its own, which REVIEW_KEY names.",
    "anchors": "Name another file in REVIEW_ANCHOR.",
    "disk": "Free some space.",
    "world": "Restore world.sqlite from a copy, or remove it, and the world starts as seeded.",
    "ledger": "Keep the folder as it is, and compare it with a copy kept elsewhere.",
    "reviews": "Close these reviews; nothing in them runs, and their agents can ask again.",
    "checkpoints": "The record is not affected. Restore checkpoints.sqlite from a copy, or start new threads.",
    "agents": "Fix them, then restart the console.",
}
