"""An agent whose tools do nothing but write down what they received, for whoever wants to know that."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from langchain_core.tools import tool

from agent.bootstrap import DemoAgent
from agent.demos.world import World
from agent.review.agents import Agent
from agent.review.policy import Policy, Tier, ToolPolicy

FILE = "NOTEBOOK"
"""The variable that names the file."""


@tool
def pay(to: str, amount: int) -> str:
    """Pay an amount."""
    return _received("pay", {"to": to, "amount": amount})


@tool
def lend(to: str, amount: int) -> str:
    """Lend an amount."""
    return _received("lend", {"to": to, "amount": amount})


def _received(name: str, args: dict[str, Any]) -> str:
    with Path(os.environ[FILE]).open("a") as file:
        file.write(json.dumps([name, args]) + "\n")
    return "done"


def received() -> list[tuple[str, dict[str, Any]]]:
    """What tools received so far, each with its name."""
    path = Path(os.environ[FILE])
    lines = path.read_text().splitlines() if path.exists() else []
    return [(name, args) for name, args in map(json.loads, lines)]


def _policies(_: World) -> Policy:
    return Policy({"pay": ToolPolicy(Tier.ASK), "lend": ToolPolicy(Tier.ASK)})


def _define(world: World) -> Agent:
    return Agent(
        name="notebook",
        title="Notebook",
        tools=[pay, lend],
        policy=_policies(world),
        prompt="You are tested.",
    )


notebook = DemoAgent(_define, _policies)
