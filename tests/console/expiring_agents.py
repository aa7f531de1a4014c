"""The mail agent with policies that end a turn on which nobody has decided in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agent.demos import mail as demo
from agent.demos.world import World
from agent.registry import WorldAgent
from agent.review.agents import Agent
from agent.review.policy import Policy

Change = Callable[[Policy], Policy]


def _own(change: Change) -> WorldAgent:
    def policy(world: World) -> Policy:
        return change(demo.policy(world))

    def define(world: World) -> Agent:
        return replace(demo.define(world), policy=policy(world))

    return WorldAgent(define, policy)


def _for_one_tool(policy: Policy) -> Policy:
    ending = replace(policy.tools["send_email"], on_expiry="end_turn")
    return replace(policy, tools={**policy.tools, "send_email": ending})


for_every_tool = _own(lambda policy: replace(policy, on_expiry="end_turn"))
for_one_tool = _own(_for_one_tool)


def serve(agents: Path, which: str) -> None:
    """Let this configuration name the mail agent in one of these forms."""
    agents.write_text(f'{{"graphs": {{"mail": "./tests/console/expiring_agents.py:{which}"}}}}')
