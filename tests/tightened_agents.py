"""The operations agent as it is, and under policies that have come to deny more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agent.demos import operations as demo
from agent.demos.world import World
from agent.registry import WorldAgent
from agent.review.agents import Agent
from agent.review.policy import Case, Policy, Tier, ToolPolicy

Change = Callable[[dict[str, ToolPolicy]], dict[str, ToolPolicy]]


def _own(change: Change, without: str = "") -> WorldAgent:
    def policy(world: World) -> Policy:
        return Policy(change(dict(demo.policy(world).tools)))

    def define(world: World) -> Agent:
        agent = demo.define(world)
        tools = [tool for tool in agent.tools if tool.name != without]
        return replace(agent, tools=tools, policy=policy(world))

    return WorldAgent(define, policy)


def _denied(tools: dict[str, ToolPolicy]) -> dict[str, ToolPolicy]:
    return {**tools, "write_file": ToolPolicy(Tier.DENY, why="The files are being moved.")}


def _denied_for_path(tools: dict[str, ToolPolicy]) -> dict[str, ToolPolicy]:
    case = Case(Tier.DENY, {"properties": {"path": {"pattern": "^notes/"}}}, why="The notes are being moved.")
    return {**tools, "write_file": replace(tools["write_file"], cases=(case,))}


def _gone(tools: dict[str, ToolPolicy]) -> dict[str, ToolPolicy]:
    return {name: entry for name, entry in tools.items() if name != "write_file"}


as_it_was = _own(lambda tools: tools)
denied = _own(_denied)
denied_for_path = _own(_denied_for_path)
gone = _own(_gone, without="write_file")


def serve(agents: Path, which: str) -> None:
    """Let this configuration name the operations agent in one of these forms."""
    agents.write_text(f'{{"graphs": {{"operations": "./tests/tightened_agents.py:{which}"}}}}')
