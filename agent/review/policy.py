"""What may run unasked, what is asked about, what is denied: one policy per agent."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Literal

from agent.review.digest import canonical
from agent.review.errors import PolicyError

Args = Mapping[str, Any]


class Tier(StrEnum):
    """What the policy says of an action, from the freest to the strictest."""

    AUTO = "auto"  # runs without asking
    LOG = "log"  # runs without asking, and stands in "ran without asking" until a person has looked
    ASK = "ask"  # waits for a decision
    DENY = "deny"  # never runs; the model is told


DECISION_TYPES = ("approve", "edit", "reject", "respond")

Span = timedelta | None | Literal["default"]
"""How long something stays good: a time, for ever (None), or as long as the console's setting says."""


@dataclass(frozen=True)
class ToolPolicy:
    """How one tool of an agent is treated."""

    tier: Tier
    allowed: tuple[str, ...] = ("approve", "edit", "reject")
    summary: Callable[[Args], str] | None = None
    """One plain sentence composed from the arguments and the world: who, what, how long, what follows."""
    why: str = ""
    """Why the tool stands in this tier, in the reviewer's words."""
    effects: bool = True
    """False for a tool that only reads."""
    irreversible: bool = False
    dangerous: str | None = None
    """The one argument a reviewer of an irreversible call types again."""
    remember: bool = True
    """False: no remembered rule may let it run unasked. An irreversible tool is asked about in any case."""
    idempotent: bool = False
    """A second run with the same `configurable.idempotency_key` changes nothing more: asking again is harmless."""
    precondition: str = ""
    """What must still be true when the tool runs, in words; the tool checks it inside its own transaction."""
    approve_by: Span = "default"
    """How long a review of this tool may wait."""
    execute_by: Span = "default"
    """How long an approval stays good before the tool has started."""
    when: Callable[[Args], bool] | None = None
    """For tier `ask`: ask only if this is true of the arguments; a predicate that raises means ask."""


@dataclass(frozen=True)
class Verdict:
    """The policy's word on one call, fixed when the call is proposed."""

    tier: Tier
    allowed: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Policy:
    """The tool policies of one agent, checked against its tools."""

    tools: Mapping[str, ToolPolicy]
    approve_by: timedelta | None = timedelta(hours=24)
    execute_by: timedelta | None = timedelta(hours=1)
    version: str = field(init=False)
    """A short hash of the policy; it changes when any tier, decision, clock or flag changes."""

    def __post_init__(self) -> None:
        facts = {
            name: [
                tool.tier,
                list(tool.allowed),
                tool.effects,
                tool.irreversible,
                tool.dangerous,
                tool.remember,
                tool.idempotent,
                tool.precondition,
                seconds(self.approve_by_of(tool)),
                seconds(self.execute_by_of(tool)),
                tool.when is not None,
            ]
            for name, tool in self.tools.items()
        }
        object.__setattr__(self, "version", hashlib.sha256(canonical(facts)).hexdigest()[:16])

    def approve_by_of(self, tool: ToolPolicy) -> timedelta | None:
        return self.approve_by if tool.approve_by == "default" else tool.approve_by

    def execute_by_of(self, tool: ToolPolicy) -> timedelta | None:
        return self.execute_by if tool.execute_by == "default" else tool.execute_by

    def judge(self, tool: str, args: Args) -> Verdict:
        """What is to become of a call of `tool` with `args`; a tool without an entry is denied."""
        entry = self.tools.get(tool)
        if entry is None:
            return Verdict(Tier.DENY, (), "No policy names this tool.")
        if entry.tier is Tier.ASK and entry.when is not None and not _holds(entry.when, args):
            return Verdict(Tier.AUTO, (), "The policy asks only under a condition, and it does not hold.")
        allowed = entry.allowed if entry.tier is Tier.ASK else ()
        return Verdict(entry.tier, allowed, entry.why)

    def check(self, tools: Iterable[str]) -> None:
        """Raise `PolicyError` naming every entry that cannot mean what its author thought."""
        known = set(tools)
        problems = [problem for name, tool in self.tools.items() for problem in _problems(name, tool, known)]
        if problems:
            raise PolicyError(problems)


def _problems(name: str, tool: ToolPolicy, known: set[str]) -> list[str]:
    found = []
    if name not in known:
        found.append(f"{name}: the agent has no such tool; it has {', '.join(sorted(known))}")
    if tool.tier is Tier.ASK and not tool.allowed:
        found.append(f"{name}: tier ask allows no decision; name at least one of {', '.join(DECISION_TYPES)}")
    if unknown := [kind for kind in tool.allowed if kind not in DECISION_TYPES]:
        found.append(
            f"{name}: unknown decision {', '.join(map(repr, unknown))}; use {', '.join(DECISION_TYPES)}"
        )
    if tool.effects and "respond" in tool.allowed:
        found.append(f"{name}: respond on a tool with effects would be taken for a success; remove it")
    return found


def _holds(condition: Callable[[Args], bool], args: Args) -> bool:
    try:
        return bool(condition(args))
    except Exception:
        return True


def seconds(span: timedelta | None) -> float | None:
    """A span as the record keeps it; None is for ever."""
    return None if span is None else span.total_seconds()
