"""A policy from LangChain's `interrupt_on` mapping, with the same meaning.

`True` asks and allows every decision, `False` lets the tool run, a mapping names the decisions allowed, and may hold a
`description` and a predicate `when`. A tool of the agent that the mapping leaves out runs, as in LangChain. A tool that
the agent does not have is refused at start-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.review.conditions import Args
from agent.review.errors import PolicyError
from agent.review.policy import DECISION_TYPES, Case, Policy, Tier, ToolPolicy, source_line

PREFIX = "Tool execution requires approval"
KNOWN = ("allowed_decisions", "description", "when", "args_schema")
WHY = "The mapping `interrupt_on` names it."
FREE = "The mapping `interrupt_on` does not ask about it."


@dataclass(frozen=True)
class ToolCallRequest:
    """What LangChain passes to `when`, without state and runtime: if a predicate needs one, the call is asked about."""

    tool_call: Mapping[str, Any]
    tool: None = None


def policy_of(
    interrupt_on: Mapping[str, Any], tools: Iterable[str], *, description_prefix: str = PREFIX
) -> Policy:
    """Return the policy that treats each of an agent's tools as `HumanInTheLoopMiddleware` would.

    Raises `PolicyError` naming every entry that cannot be read.
    """
    where = source_line()
    problems: list[str] = []
    entries: dict[str, ToolPolicy] = {}
    for name in dict.fromkeys((*interrupt_on, *tools)):
        try:
            entries[name] = _entry(name, interrupt_on.get(name, False), description_prefix, where)
        except ValueError as error:
            problems.append(f"{name} ({where}): {error}")
    if problems:
        raise PolicyError(problems)
    return Policy(entries)


def _entry(name: str, config: Any, prefix: str, where: str) -> ToolPolicy:
    if config is False:
        return ToolPolicy(Tier.AUTO, why=FREE, effects=None, where=where)
    if config is True:
        config = {"allowed_decisions": DECISION_TYPES}
    if not isinstance(config, Mapping):
        raise ValueError(f"{config!r} is neither True, False nor a mapping with allowed_decisions")
    if unknown := [key for key in config if key not in KNOWN]:
        raise ValueError(f"unknown key {', '.join(map(repr, unknown))}; use {', '.join(KNOWN)}")
    allowed = config.get("allowed_decisions")
    if not isinstance(allowed, list | tuple) or not allowed:
        raise ValueError(
            f"allowed_decisions is {allowed!r}; list at least one of {', '.join(DECISION_TYPES)}"
        )
    asked = ToolPolicy(
        Tier.ASK,
        allowed=tuple(allowed),
        summary=_described(name, config.get("description"), prefix),
        why=WHY,
        effects=None,
        where=where,
    )
    if "when" not in config:
        return asked
    if not callable(config["when"]):
        raise ValueError(f"when is {config['when']!r}; give a predicate of one ToolCallRequest")
    case = Case(Tier.ASK, _on_request(name, config["when"]), why=WHY)
    return replace(asked, tier=Tier.AUTO, why=FREE, cases=(case,))


def _call(name: str, args: Args) -> dict[str, Any]:
    return {"name": name, "args": dict(args), "id": "", "type": "tool_call"}


def _described(name: str, description: Any, prefix: str) -> Callable[[Args], str]:
    def summary(args: Args) -> str:
        if callable(description):
            return str(description(_call(name, args), {}, None))
        if description is not None:
            return str(description)
        return f"{prefix}\n\nTool: {name}\nArgs: {dict(args)}"

    return summary


def _on_request(name: str, when: Callable[[ToolCallRequest], bool]) -> Callable[[Args], bool]:
    def asks(args: Args) -> bool:
        return when(ToolCallRequest(_call(name, args)))

    return asks
