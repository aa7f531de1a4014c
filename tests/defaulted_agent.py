"""An agent of ours with one tool, an argument of which has a default."""

from __future__ import annotations

from pathlib import Path

from langchain_core.tools import tool

from agent.demos.world import World
from agent.registry import WorldAgent
from agent.review.agents import Agent
from agent.review.policy import Policy, Tier, ToolPolicy


@tool
def file_note(text: str, folder: str = "inbox") -> str:
    """File a note."""
    return f"filed in {folder}"


def _policy(_: World) -> Policy:
    return Policy({"file_note": ToolPolicy(Tier.ASK)})


def _define(world: World) -> Agent:
    return Agent("notes", "Notes", [file_note], _policy(world), "You file notes.")


notes = WorldAgent(_define, _policy)


def serve(agents: Path) -> None:
    """Let this configuration name this agent alone."""
    agents.write_text('{"graphs": {"notes": "./tests/defaulted_agent.py:notes"}}')
