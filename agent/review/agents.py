"""An agent as the console sees it: its tools, its policy, its texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agent.review import tool_messages
from agent.review.arguments.argument_faults import ArgumentFault, refusal
from agent.review.arguments.fitting import Received, Unknown, received
from agent.review.conditions import Args
from agent.review.needs import NOTHING, Needs
from agent.review.policy import Policy, Tier


class Tool(Protocol):
    """The part of a LangChain tool the rules look at."""

    name: str
    description: str

    @property
    def tool_call_schema(self) -> Any:
        """The schema shown to a model: a pydantic model class or a JSON Schema. It says less than the tool's own."""


@dataclass(frozen=True)
class Denial:
    """Why a call may not run under the policy as it is now."""

    reason: str
    """In sentences, for people."""
    for_model: str
    """The call's result, as the model gets it."""
    whole: bool
    """True if every call of the tool is denied, so that other arguments do not help."""


@dataclass(frozen=True)
class LoadFailure:
    """Why an agent could not be loaded."""

    reason: str
    where: str
    """The file and line it came from, as far as that is known."""
    traceback: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.where})" if self.where else self.reason


@dataclass(frozen=True)
class Agent:
    """One agent. Raises `PolicyError` if policy and tools do not fit together."""

    name: str
    title: str
    tools: Sequence[Tool]
    policy: Policy
    prompt: str
    suggestions: tuple[str, ...] = ()
    """Requests a newcomer can start with; the demo model understands each of them."""
    version: str = "1"
    gates_itself: bool = False
    """True for an external agent, which decides itself what it asks about. Its policy here sets only the clocks."""
    isolated: bool = True
    """True if its tools touch nothing but the world it was opened on, so that scenarios may run them."""
    tools_at: Mapping[str, Mapping[str, Sequence[Tool]]] = field(default_factory=dict)
    """An external agent's tools, by the names of the nodes that lead to their graph, then by tool name."""

    needs: Needs = NOTHING
    """What an external agent needs before it can run."""

    def __post_init__(self) -> None:
        self.policy.check({tool.name: self._arguments(tool.name) for tool in self.tools})

    def _arguments(self, tool: str) -> Sequence[str] | None:
        """Return the names of a tool's arguments; None if its schema does not name them."""
        named = self.schema_of(tool).get("properties")
        return None if named is None else list(named)

    def schema_of(self, tool: str) -> Mapping[str, Any]:
        """Return the JSON Schema of a tool's arguments; for a tool that an external agent hides, that of any object."""
        known = self.tools_by_name.get(tool)
        schema = known.tool_call_schema if known else {"type": "object"}
        return schema if isinstance(schema, Mapping) else schema.model_json_schema()

    def schema_hash(self, tool: str) -> str:
        """Return a hash of a tool's arguments as they are now: names, types, defaults and descriptions."""
        spelt = json.dumps(self.schema_of(tool), sort_keys=True, default=repr)
        return hashlib.sha256(spelt.encode()).hexdigest()

    def received(self, tool: str, args: Mapping[str, Any], *, unknown: Unknown, place: str = "") -> Received:
        """Return what the tool's function receives of these arguments.

        If several tools have the name, each of them has to receive the same. `place` is the task that calls it, as
        LangGraph's checkpoint namespace; "" if that is not known. Raises `ArgumentsRefused`, and `KeyError` for an
        unknown tool.
        """
        found = [
            received(one, args, unknown=unknown, checked=not self.gates_itself)
            for one in self._named(tool, place)
        ]
        if any((one.args, one.entered) != (found[0].args, found[0].entered) for one in found[1:]):
            raise refusal(
                [ArgumentFault("args", f"arguments that each tool named {tool} takes alike", "several ways")]
            )
        return found[0]

    def _named(self, tool: str, place: str) -> Sequence[Tool]:
        """Return the tools of this name at the place; if there is none or it is unknown, all the agent has."""
        here = self.tools_at.get(nodes_of(place.rpartition("|")[0]), {}).get(tool)
        if here:
            return here
        elsewhere = [one for named in self.tools_at.values() for one in named.get(tool, ())]
        return elsewhere or [self.tools_by_name[tool]]

    def knows(self, tool: str) -> bool:
        """Return whether it has a tool of this name anywhere."""
        return tool in self.tools_by_name or any(tool in named for named in self.tools_at.values())

    def denial(self, tool: str, args: Args | None) -> Denial | None:
        """Return why the policy, as it is now, denies this call; None if it does not, or if the agent gates itself."""
        if self.gates_itself:
            return None
        if tool not in self.tools_by_name:
            unknown = tool_messages.unknown_tool(tool, self.policy.usable)
            return Denial(f"The agent now has no tool {tool}.", unknown, whole=True)
        verdict, entry = self.policy.judge(tool, args or {}), self.policy.tools.get(tool)
        if verdict.tier is not Tier.DENY:
            return None
        if entry is None or entry.tier is Tier.DENY:
            reason = f"The policy now denies this tool. {verdict.why}".strip()
            return Denial(reason, tool_messages.denied(tool), whole=True)
        reason = f"The policy now denies this tool with these arguments. {verdict.why}".strip()
        return Denial(reason, tool_messages.denied_so(tool, verdict.why), whole=False)

    @property
    def prompt_hash(self) -> str:
        """A short hash of the system prompt, for the record of a run; empty if the prompt is not known."""
        return "" if self.gates_itself else hashlib.sha256(self.prompt.encode()).hexdigest()[:16]

    @property
    def tools_by_name(self) -> Mapping[str, Tool]:
        return {tool.name: tool for tool in self.tools}


def nodes_of(graph: str) -> str:
    """Return the names of the nodes that lead to a graph: its checkpoint namespace without the ids of tasks."""
    steps = [step.partition(":")[0] for step in graph.split("|") if step and not step.isdigit()]
    return "|".join(steps)
