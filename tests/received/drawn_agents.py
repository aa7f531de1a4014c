"""Agents over whatever tools were drawn last: one of ours that asks, and one that asks by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import BaseTool

from agent.bootstrap import DemoAgent
from agent.demos.model import DemoModel
from agent.demos.world import World
from agent.review.agents import Agent
from agent.review.policy import Policy, Tier, ToolPolicy

MAKERS: dict[str, Callable[[], BaseTool]] = {}
"""How the tools of the next console are made, by name."""


def _policy(_: World) -> Policy:
    return Policy({name: ToolPolicy(Tier.ASK) for name in MAKERS})


def _define(world: World) -> Agent:
    tools = [make() for make in MAKERS.values()]
    return Agent(name="own", title="Own", tools=tools, policy=_policy(world), prompt="You are tested.")


own = DemoAgent(_define, _policy)


def created() -> Any:
    """LangChain's own agent with these tools; the console calls this as it loads its agents."""
    gate = HumanInTheLoopMiddleware(dict.fromkeys(MAKERS, True))
    return create_agent(DemoModel(), [make() for make in MAKERS.values()], middleware=[gate])
