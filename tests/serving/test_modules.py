"""Modules are imported as LangGraph's servers import them, and `review_console` is this package from anywhere."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import agent.registry
from agent.registry import ExternalAgent, served
from agent.serving.modules import modules_of, public_name
from tests.conftest import ROOT
from tests.serving import projects


def graph_of(file: Path, name: str = "agent") -> Any:
    found = served(file)
    assert found.broken == {}
    target = found.targets[name]
    assert isinstance(target, ExternalAgent)
    return target.graph


def plan_of(graph: Any) -> Any:
    return sys.modules[graph.builder.state_schema.__module__].Plan


def test_the_alias_is_the_same_package() -> None:
    import review_console
    import review_console.registry
    from review_console.review import policy

    assert review_console is sys.modules["agent"]
    assert review_console.registry is agent.registry
    assert policy is sys.modules["agent.review.policy"]
    assert agent.registry.__spec__.name == agent.registry.__name__ == "agent.registry"


def test_the_alias_names_what_is_missing() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"agent\.nothing"):
        importlib.import_module("review_console.nothing")


def test_two_configurations_may_each_hold_a_package_called_agent(tmp_path: Path) -> None:
    first, second = (graph_of(projects.template(tmp_path / name, name)) for name in ("one", "two"))
    marks = [sys.modules[graph.builder.state_schema.__module__].MARK for graph in (first, second)]
    assert marks == ["one", "two"]
    assert importlib.import_module("agent.registry") is agent.registry
    assert sys.modules["agent"].__file__ == str(ROOT / "agent" / "__init__.py")


def test_a_class_of_such_a_package_has_one_name_wherever_it_lies(tmp_path: Path) -> None:
    plans = [plan_of(graph_of(projects.template(tmp_path / name))) for name in ("one", "two")]
    assert plans[0] is not plans[1]
    assert {public_name(plan.__module__) for plan in plans} == {"agent.tools"}
    for plan in plans:
        assert pickle.loads(pickle.dumps(plan(["a"]))) == plan(["a"])


def test_a_module_of_theirs_outside_that_package_sees_it_too(tmp_path: Path) -> None:
    files = {
        "agent.py": "from langgraph.graph import MessagesState\n\n\nclass State(MessagesState):\n    mine: str\n",
        "flow.py": "from langgraph.graph import StateGraph\nfrom agent import State\n\n"
        "graph = StateGraph(State).add_node('n', lambda s: {}).add_edge('__start__', 'n').compile()\n",
    }
    file = projects.write(tmp_path, files, {"graphs": {"agent": "flow:graph"}})
    assert "mine" in graph_of(file).builder.state_schema.__annotations__


def test_where_no_other_agent_is_the_name_is_ours(tmp_path: Path) -> None:
    files = {"my_tools.py": "import agent.registry\n\nfound = agent.registry\n"}
    projects.write(tmp_path, files, {"graphs": {}})
    assert modules_of(tmp_path, [tmp_path]).named("./my_tools.py:found") is agent.registry


@pytest.mark.parametrize(
    "place",
    [
        "flow.py",
        "src/pack/flow.py",
        "with-hyphen/flow.py",
        "v1.2/flow.py",
        "types.py",
        "app.py",
        "a b/flow.py",
    ],
)
def test_a_file_anywhere_is_loaded_once_and_registered(tmp_path: Path, place: str) -> None:
    projects.write(tmp_path, {place: "class Thing:\n    pass\n"}, {})
    modules = modules_of(tmp_path, [tmp_path, tmp_path / "src"] if "src" in place else [tmp_path])
    found = modules.named(f"./{place}:Thing")
    assert found is modules.named(f"./{place}:Thing")
    assert sys.modules[found.__module__].Thing is found
    assert sys.modules[found.__module__].__file__ == str(tmp_path / place)


def test_a_file_that_fails_is_not_left_half_loaded(tmp_path: Path) -> None:
    projects.write(tmp_path, {"v1.2/flow.py": "raise ValueError('no key')\n"}, {})
    modules = modules_of(tmp_path, [tmp_path])
    before = set(sys.modules)
    with pytest.raises(ValueError, match="no key"):
        modules.named("./v1.2/flow.py:graph")
    assert set(sys.modules) == before


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("./flow.py:nothing", "has no nothing; it has Thing"),
        ("./flow.py", "names no variable"),
        (":", "no variable"),
    ],
)
def test_what_is_not_there_is_named(tmp_path: Path, where: str, words: str) -> None:
    projects.write(tmp_path, {"flow.py": "class Thing:\n    pass\n"}, {})
    with pytest.raises((AttributeError, ValueError), match=words):
        modules_of(tmp_path, [tmp_path]).named(where)


def test_the_alias_is_there_in_a_process_that_imports_only_the_package(tmp_path: Path) -> None:
    script = "import agent, review_console.review.policy as p, agent.review.policy as q; assert p is q"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
