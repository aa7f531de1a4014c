"""Which part may know of which: the arrows of the design, held on the source itself."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
AGENT = sorted((ROOT / "agent").rglob("*.py"))
RULES = sorted((ROOT / "agent" / "review").rglob("*.py"))
ROOMS = [path for path in sorted((ROOT / "agent" / "console").rglob("*.py")) if path.stem != "__init__"]
FACES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]
SHARED = ("pages.parts.common", "pages.parts.state", "pages.parts.browser")


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    """Every module a file imports, wherever in it; `from a import b` counts as `a.b` where that is a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: import by the full name"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if is_module(whole) else str(node.module)


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or path.is_dir()


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


CORE = ("agent.console", "agent.ports", "agent.review")
ARROWS = {
    "app": ("agent.startup", "agent.api", "agent.hosting", "pages.preload", "pages.parts.frame"),
    "agent.startup": ("agent.hosting", "agent.bootstrap", "agent.api.server", "agent.review"),
    "pages.parts.browser": (),
    "pages.parts.state": ("pages.parts.state", "agent.bootstrap", "agent.demos.world", *CORE),
    **{
        f"pages.parts.{room}": (*SHARED, f"pages.parts.{room}", *others, *CORE)
        for room, others in {
            "common": (),
            "frame": (),
            "card": (),
            "inbox": (),
            "audit": (),
            "policies": (),
            "qa": ("agent.bootstrap", "agent.scenarios"),
            "thread": (
                *("pages.parts.card", "pages.parts.qa"),
                *("agent.bootstrap", "agent.demos.world", "agent.scenarios"),
            ),
            "lessons": ("pages.parts.thread", "agent.lessons"),
        }.items()
    },
    "pages": ("pages", "agent.lessons", *CORE),
    "agent.hosting": ("agent.hosting", "agent.bootstrap", "agent.review"),
    "agent.api": ("agent.api", "agent.hosting", "agent.bootstrap", "agent.settings", *CORE),
    "agent.__main__": ("agent.cli",),
    "agent.cli": (
        "agent.cli",
        "agent.api",
        "agent.ledger",
        "agent.scenarios",
        "agent.bootstrap",
        "agent.settings",
        *CORE,
    ),
    "agent.sandbox": ("agent.bootstrap", "agent.settings", *CORE),
    "agent.scenarios": ("agent.scenarios", "agent.sandbox", "agent.bootstrap", "agent.settings", *CORE),
    "agent.lessons": (
        "agent.lessons",
        "agent.sandbox",
        "agent.demos.world",
        "agent.demos.model",
        *CORE,
    ),
    "agent.console": ("agent.console", "agent.ports", "agent.review"),
    "agent.ports": ("agent.review",),
    "agent.review": ("agent.review",),
    "agent.engine": ("agent.engine", "agent.serving", "agent.ports", "agent.review"),
    "agent.ledger": ("agent.ledger", "agent.ports", "agent.review"),
    "agent.demos": ("agent.demos", "agent.review"),
    "agent.settings": ("agent.review",),
    "agent.serving": ("agent.serving", "agent.review"),
    "agent.registry": ("agent.demos.world", "agent.engine", "agent.serving", "agent.review"),
}


@pytest.mark.parametrize("path", [*AGENT, *FACES], ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    name = name_of(path)
    allowed = next((ends for start, ends in ARROWS.items() if within(name, start)), ("agent",))
    ours = [found for found in imports(path) if within(found, "agent", "pages", "app")]
    # `from agent import x` where x is no module would hide an arrow.
    assert [found for found in ours if not within(found, *allowed)] == []


def test_only_the_wiring_is_free_to_know_all_parts() -> None:
    free = {name_of(path) for path in AGENT if not any(within(name_of(path), start) for start in ARROWS)}
    assert free == {"agent", "agent.bootstrap"}


@pytest.mark.parametrize("path", ROOMS, ids=name_of)
def test_no_room_of_the_use_cases_knows_the_door(path: Path) -> None:
    assert not [found for found in imports(path) if found in ("agent.console", "agent.console.console")]


def test_the_rooms_of_the_use_cases_know_each_other_without_a_circle() -> None:
    known = {name_of(path): {one for one in imports(path) if within(one, "agent.console")} for path in ROOMS}
    TopologicalSorter(known).prepare()


@pytest.mark.parametrize("path", AGENT, ids=name_of)
def test_the_core_knows_nothing_of_streamlit(path: Path) -> None:
    assert not [found for found in imports(path) if within(found, "streamlit")]


@pytest.mark.parametrize("path", [*AGENT, *FACES], ids=name_of)
def test_the_graph_library_stays_with_engine_demos_and_lessons(path: Path) -> None:
    if within(name_of(path), "agent.engine", "agent.demos", "agent.lessons", "agent.bootstrap"):
        return
    graphs = ("langgraph", "langchain", "langchain_core", "langchain_openai", "langsmith")
    assert not [found for found in imports(path) if within(found, *graphs)]


@pytest.mark.parametrize("path", [*AGENT, *FACES], ids=name_of)
def test_the_database_driver_stays_where_data_is_kept(path: Path) -> None:
    if within(name_of(path), "agent.ledger", "agent.demos.world", "agent.engine.checkpointer"):
        return
    assert not [found for found in imports(path) if within(found, "sqlite3")]


@pytest.mark.parametrize("path", RULES, ids=name_of)
def test_the_rules_need_little_but_the_standard_library(path: Path) -> None:
    known = {*sys.stdlib_module_names, "agent", "pydantic", "pydantic_core", "jsonschema", "referencing"}
    known |= {
        "confusable_homoglyphs",
        "regex",
        "re2",
    }  # Unicode's data on look-alikes and scripts; linear patterns
    known |= {"jinja2", "markupsafe"}  # the exported thread
    assert {found.partition(".")[0] for found in imports(path)} <= known


@pytest.mark.parametrize("path", RULES, ids=name_of)
def test_the_rules_have_no_clock_and_no_files(path: Path) -> None:
    outside = (
        "time",
        "os",
        "pathlib",
        "socket",
        "subprocess",
        "threading",
        "random",
        "secrets",
        "logging",
    )
    if name_of(path) == "agent.review.arguments.fitting.json_form":
        outside = tuple(set(outside) - {"pathlib"})  # for PurePath, which reaches no file
    assert not [found for found in imports(path) if within(found, *outside)]


@pytest.mark.parametrize("module", ["app", "agent.bootstrap"])
def test_strict_reading_of_checkpoints_is_on_before_the_graph_library_is_imported(module: str) -> None:
    script = (
        "import sys, importlib.abc, os\n"
        "class Watch(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'langgraph' or name.startswith('langgraph.'):\n"
        "            assert os.environ.get('LANGGRAPH_STRICT_MSGPACK') == 'true', name\n"
        "sys.meta_path.insert(0, Watch())\n"
        f"import {module}\n"
        "from langgraph.checkpoint.serde import _msgpack\n"
        "assert _msgpack.STRICT_MSGPACK_ENABLED\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr[-2_000:]


SAFE = {
    ("server", "address"): "127.0.0.1",
    ("server", "enableAgentApi"): False,
    ("browser", "gatherUsageStats"): False,
    ("client", "allowedOrigins"): [],
    ("client", "showErrorDetails"): "none",
    ("client", "disableDataExport"): True,
}


@pytest.mark.parametrize("setting", SAFE, ids=".".join)
def test_the_server_starts_with_safe_settings(setting: tuple[str, str]) -> None:
    section, name = setting
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config[section][name] == SAFE[setting]


def room_of(name: str) -> str:
    """The package whose room a module is in; a file directly in `agent`, `pages` or `pages.parts` has one of its own."""
    return ".".join(name.split(".")[: 3 if within(name, "pages.parts") else 2])


@pytest.mark.parametrize("of", [room_of, str], ids=["rooms", "modules"])
def test_nothing_imports_itself_by_a_way_round(of: Callable[[str], str]) -> None:
    arrows: dict[str, set[str]] = {}
    for path in [*AGENT, *FACES]:
        start = of(name_of(path))
        ends = {of(found) for found in imports(path) if within(found, "agent", "pages", "app")}
        arrows.setdefault(start, set()).update(ends - {start})
    TopologicalSorter(arrows).prepare()
