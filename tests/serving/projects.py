"""Small LangGraph projects, as their authors would write them, in a folder of a test's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TEMPLATE = {
    "src/agent/__init__.py": '''
"""New LangGraph Agent.

This module defines a custom graph.
"""

from agent.graph import graph

__all__ = ["graph"]
''',
    "src/agent/tools.py": """
from __future__ import annotations

from dataclasses import dataclass, field

MARK = "MARKED"


@dataclass
class Plan:
    steps: list[str] = field(default_factory=list)
""",
    "src/agent/graph.py": '''
"""LangGraph single-node graph template.

Returns a predefined response. Replace logic and configuration as needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, Dict

import agent.tools
import agent.tools as by_name
from agent.tools import MARK, Plan
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import StateGraph, add_messages
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from typing_extensions import TypedDict

import review_console.registry

from . import tools as relative

assert agent.tools is by_name is relative is import_module("agent.tools") is import_module(".tools", "agent")


class Context(TypedDict, total=False):
    """Context parameters for the agent."""

    my_configurable_param: str


@dataclass
class State:
    """Input state for the agent."""

    messages: Annotated[list[AnyMessage], add_messages]
    plan: Plan | None = None


async def call_model(state: State, runtime: Runtime[Context]) -> Dict[str, Any]:
    return {"plan": Plan(["a"])}


def answer(state: State, runtime: Runtime[Context]) -> Dict[str, Any]:
    from agent.tools import Plan as late

    interrupt("Go on?")
    param = (runtime.context or {}).get("my_configurable_param")
    return {"messages": [AIMessage(f"{isinstance(state.plan, late)} {MARK} {param}")]}


graph = (
    StateGraph(State, context_schema=Context)
    .add_node(call_model)
    .add_node(answer)
    .add_edge("__start__", "call_model")
    .add_edge("call_model", "answer")
    .compile(name="New Graph")
)
''',
    "tests/conftest.py": "",
    "pyproject.toml": '[project]\nname = "agent"\nversion = "0.0.1"\n',
}
"""What `langgraph new` writes, with a value of its own class in the state and a question that pauses it."""


def write(folder: Path, files: dict[str, str], configuration: dict[str, Any]) -> Path:
    """Write a project, and return its configuration file."""
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (folder / "langgraph.json").write_text(json.dumps(configuration))
    return folder / "langgraph.json"


def template(folder: Path, mark: str = "template", *, synchronous: bool = True) -> Path:
    """Write what `langgraph new` writes."""
    files = {name: text.replace("MARKED", mark) for name, text in TEMPLATE.items()}
    if synchronous:
        files["src/agent/graph.py"] = files["src/agent/graph.py"].replace("async def", "def")
    configuration = {
        "$schema": "https://langgra.ph/schema.json",
        "dependencies": ["."],
        "graphs": {"agent": "./src/agent/graph.py:graph"},
        "env": ".env",
        "image_distro": "wolfi",
    }
    return write(folder, {**files, ".env": "MY_AGENT_SETTING=of the file\n"}, configuration)
