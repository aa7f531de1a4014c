"""The agent of the shared test vectors: tools described by JSON Schemas alone, each doing nothing but answering."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from langchain_core.tools import StructuredTool

from agent.bootstrap import DemoAgent
from agent.demos.world import World
from agent.review.agents import Agent
from agent.review.policy import Policy, Tier, ToolPolicy

CASES: dict[str, Any] = json.loads((Path(__file__).parents[1] / "cases" / "decisions.json").read_text())
RAN: list[tuple[str, dict[str, Any]]] = []
"""Every tool that ran, with what it was given."""
FREE = threading.Event()
"""Tools wait for it before they answer, so that a test can hold a run where it is."""
FREE.set()


def _tool(name: str, schema: dict[str, Any]) -> StructuredTool:
    def run(**args: Any) -> str:
        RAN.append((name, args))
        FREE.wait(60)
        return f"{name} ran"

    titled = {"title": name, "description": f"The {name} of the cases.", **schema}
    return StructuredTool(name=name, description=f"The {name} of the cases.", args_schema=titled, func=run)


def _policy(name: str, about: dict[str, Any]) -> ToolPolicy:
    allowed = tuple(about.get("allowed_decisions", ()))
    return ToolPolicy(
        Tier(about["tier"]),
        allowed=allowed or ("approve", "edit", "reject"),
        effects="respond" not in allowed,
    )


def _policies(_: World) -> Policy:
    return Policy({name: _policy(name, about) for name, about in CASES["tools"].items()})


def _define(world: World) -> Agent:
    return Agent(
        name="cases",
        title="Cases",
        tools=[_tool(name, about["args_schema"]) for name, about in CASES["tools"].items()],
        policy=_policies(world),
        prompt="You are tested.",
    )


cases = DemoAgent(_define, _policies)
