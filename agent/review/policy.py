"""What may run unasked, what is asked about and what is denied: one policy per agent."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Literal

from agent.review.bounds import LARGEST, MAX_RESULT, SMALLEST
from agent.review.conditions import Args, Condition, described, fault_of, holds
from agent.review.digest import canonical
from agent.review.errors import PolicyError
from agent.review.preconditions import Precondition


class Tier(StrEnum):
    """What the policy says of an action, from the freest to the strictest."""

    AUTO = "auto"  # runs without asking
    LOG = "log"  # runs without asking, and is listed in "ran without asking" until a person has looked
    ASK = "ask"  # waits for a decision
    DENY = "deny"  # never runs; the model gets an error


STRICTNESS = {tier: place for place, tier in enumerate(Tier)}
"""If several tiers apply to one call, the strictest counts."""
DECISION_TYPES = ("approve", "edit", "reject", "respond")

Span = timedelta | None | Literal["default"]
"""How long something stays good: a time, for ever (None), or as long as the console's setting says."""

ON_EXPIRY = ("go_on", "end_turn")
OnExpiry = Literal["go_on", "end_turn"]
"""What happens once nobody has decided in time: the model is told and called once more, or the turn ends without it."""


def source_line(depth: int = 2) -> str:
    """Return where in the source an entry is being made, so that a fault or a suggested change can name its line.

    The default depth skips this function's own frame and that of the dataclass's `__init__`.
    """
    frame = sys._getframe(depth)
    return f"{frame.f_globals.get('__name__', '?')}, line {frame.f_lineno}"


@dataclass(frozen=True)
class Case:
    """What the policy says about calls of a tool whose arguments meet a condition."""

    tier: Tier
    when: Condition
    """A JSON Schema or a predicate. One that cannot be evaluated counts as met."""
    why: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tier", _tier(self.tier))

    def says(self, args: Args) -> PolicyVerdict | None:
        """Return the verdict on these arguments; None if they do not meet the condition.

        If the condition cannot be evaluated, the call is denied if that is the tier, and asked about otherwise.
        """
        try:
            return PolicyVerdict(self.tier, self.why) if holds(self.when, args) else None
        except Exception as error:
            why = f"A condition of the policy could not be evaluated ({type(error).__name__})."
            return PolicyVerdict(Tier.DENY if self.tier is Tier.DENY else Tier.ASK, why)


@dataclass(frozen=True)
class ToolPolicy:
    """How one tool of an agent is treated."""

    tier: Tier
    allowed: tuple[str, ...] = ("approve", "edit", "reject")
    """The decisions a reviewer may make when it is asked about."""
    summary: Callable[[Args], str] | None = None
    """One plain sentence composed from the arguments and the world: who, what, how long, what follows."""
    why: str = ""
    """Why the tool has this tier, in the reviewer's words."""
    effects: bool | None = True
    """False for a tool that only reads; None if the policy does not say."""
    irreversible: bool = False
    undo: str = ""
    """How an effect is undone, as a sentence that agrees with the summary."""
    dangerous: str | None = None
    """The one argument that a reviewer of an irreversible call has to type again."""
    remember: bool = True
    """False: no remembered rule may let it run unasked. An irreversible tool is asked about in any case."""
    idempotent: bool = False
    """A second run with the same `configurable.idempotency_key` changes nothing more: asking again is harmless."""
    precondition: Precondition | None = None
    """What must still be true when the tool runs; the tool checks it inside its own transaction."""
    approve_by: Span = "default"
    """How long a review of this tool may wait."""
    execute_by: Span = "default"
    """How long an approval stays good before the tool has started."""
    on_expiry: OnExpiry | Literal["default"] = "default"
    """What happens once nobody has decided in time; of a review's actions, one that ends the turn is enough."""
    max_result: int = MAX_RESULT
    """Bytes of its result that are kept; of a longer one the model and the record get the beginning."""
    cases: tuple[Case, ...] = ()
    """What applies to some calls only, in addition to `tier`, which applies to every call."""
    where: str = field(default_factory=source_line, compare=False, repr=False)
    """Module and line of this entry in the source."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tier", _tier(self.tier))

    @property
    def may_ask(self) -> bool:
        """Whether some call of the tool may be put before a person."""
        return self.tier is Tier.ASK or bool(self.cases)  # a condition that cannot be evaluated asks


@dataclass(frozen=True)
class PolicyVerdict:
    """The policy's verdict on one call, fixed when the call is proposed."""

    tier: Tier
    why: str
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Policy:
    """The tool policies of one agent, checked against its tools."""

    tools: Mapping[str, ToolPolicy]
    approve_by: timedelta | None = timedelta(hours=24)
    execute_by: timedelta | None = timedelta(hours=1)
    on_expiry: OnExpiry = "go_on"
    version: str = field(init=False)
    """A short hash of the policy; it changes when any tier, condition, decision, clock or flag changes."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "version", hashlib.sha256(canonical(self.on_record)).hexdigest()[:16])

    @property
    def on_record(self) -> dict[str, Any]:
        """Everything that the version is a hash of, as the audit trail keeps it; of a predicate, only its name."""
        return {name: self._on_record(tool) for name, tool in self.tools.items()}

    def _on_record(self, tool: ToolPolicy) -> dict[str, Any]:
        return {
            "tier": tool.tier,
            "allowed": list(tool.allowed),
            "effects": tool.effects,
            "irreversible": tool.irreversible,
            "dangerous": tool.dangerous,
            "remember": tool.remember,
            "idempotent": tool.idempotent,
            "precondition": tool.precondition.words if tool.precondition else "",
            "approve_by": seconds(self.approve_by_of(tool)),
            "execute_by": seconds(self.execute_by_of(tool)),
            "cases": [{"tier": case.tier, "when": described(case.when)} for case in tool.cases],
            **({} if tool.max_result == MAX_RESULT else {"max_result": tool.max_result}),
            **({} if self._on_expiry_of(tool) == "go_on" else {"on_expiry": self._on_expiry_of(tool)}),
        }

    def approve_by_of(self, tool: ToolPolicy) -> timedelta | None:
        return self.approve_by if tool.approve_by == "default" else tool.approve_by

    def execute_by_of(self, tool: ToolPolicy) -> timedelta | None:
        return self.execute_by if tool.execute_by == "default" else tool.execute_by

    def ends_turn(self, tool: str) -> bool:
        """Return whether the turn ends, without the model, once nobody has decided on a call of `tool` in time."""
        entry = self.tools.get(tool)
        return (self._on_expiry_of(entry) if entry else self.on_expiry) == "end_turn"

    def _on_expiry_of(self, tool: ToolPolicy) -> str:
        return self.on_expiry if tool.on_expiry == "default" else tool.on_expiry

    @property
    def usable(self) -> list[str]:
        """The tools that are not denied outright, in order."""
        return [name for name, entry in self.tools.items() if entry.tier is not Tier.DENY]

    def max_result_of(self, tool: str) -> int:
        """Return how many bytes of a tool's result are kept."""
        entry = self.tools.get(tool)
        return entry.max_result if entry else MAX_RESULT

    def judge(self, tool: str, args: Args) -> PolicyVerdict:
        """Return the verdict on a call of `tool` with `args`: the strictest of all that apply.

        A tool without an entry is denied.
        """
        entry = self.tools.get(tool)
        if entry is None:
            return PolicyVerdict(Tier.DENY, "No policy names this tool.")
        spoken = (case.says(args) for case in entry.cases)
        said = [PolicyVerdict(entry.tier, entry.why), *(one for one in spoken if one is not None)]
        found = max(said, key=lambda one: STRICTNESS.get(one.tier, len(STRICTNESS)))
        return PolicyVerdict(found.tier, found.why, entry.allowed if found.tier is Tier.ASK else ())

    def check(self, tools: Mapping[str, Collection[str] | None]) -> None:
        """Check the policy against the agent's tools, each with the names of its arguments, or None if it takes any.

        Raises `PolicyError` naming every entry, with its line, that cannot mean what its author intended.
        """
        problems = [
            f"{name} ({tool.where}): {problem}"
            for name, tool in self.tools.items()
            for problem in _problems(name, tool, tools)
        ]
        if self.on_expiry not in ON_EXPIRY:
            problems.append(_unknown_expiry(self.on_expiry))
        if problems:
            raise PolicyError(problems)


def _unknown_expiry(given: object) -> str:
    return f"unknown on_expiry {given!r}; use {', '.join(ON_EXPIRY)}"


def _tier(named: str) -> Tier | str:
    """Return the tier of that name. An unknown name is returned as it is, for `Policy.check` to report."""
    try:
        return Tier(named)
    except ValueError:
        return named


def _problems(name: str, tool: ToolPolicy, known: Mapping[str, Collection[str] | None]) -> Iterable[str]:
    if name not in known:
        yield f"the agent has no such tool; it has {', '.join(sorted(known))}"
    elif (arguments := known[name]) is not None and tool.dangerous not in (None, *arguments):
        # Nobody would be asked to type it, and a remembered rule could set the one that is meant free.
        has = ", ".join(arguments) or "none"
        yield f"dangerous names {tool.dangerous!r}, which is not one of its arguments; it has {has}"
    for tier in (tool.tier, *(case.tier for case in tool.cases)):
        if not isinstance(tier, Tier):
            yield f"unknown tier {tier!r}; use {', '.join(Tier)}"
    yield from (fault for case in tool.cases if (fault := fault_of(case.when)))
    yield from _faults_of_allowed(tool)
    if type(tool.max_result) is not int or not SMALLEST <= tool.max_result <= LARGEST:
        yield f"max_result is {tool.max_result!r}; write a number of bytes from {SMALLEST:_} to {LARGEST:_}"
    if tool.on_expiry not in ("default", *ON_EXPIRY):
        yield _unknown_expiry(tool.on_expiry)
    if tool.irreversible and tool.undo:
        yield "it is irreversible and says how it is undone; only one of these can be true"


def _faults_of_allowed(tool: ToolPolicy) -> Iterable[str]:
    if isinstance(tool.allowed, str):
        yield f'the decisions are the text {tool.allowed!r}; write a tuple, such as ("approve", "reject")'
        return
    if tool.may_ask and not tool.allowed:
        yield f"it is asked about and allows no decision; name at least one of {', '.join(DECISION_TYPES)}"
    if unknown := [kind for kind in tool.allowed if kind not in DECISION_TYPES]:
        yield f"unknown decision {', '.join(map(repr, unknown))}; use {', '.join(DECISION_TYPES)}"
    if tool.effects and "respond" in tool.allowed:
        yield "respond on a tool with effects would be taken for a success; remove it"


def seconds(span: timedelta | None) -> float | None:
    """Return a span in seconds, as the record keeps it; None means for ever."""
    return None if span is None else span.total_seconds()
