"""The calls that a scenario forbids: which calls match, and how they are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent.review.arguments.args import dumps
from agent.scenarios.format import Awaited, Never
from agent.scenarios.matching import Matcher, args_fit


def exactly(tool: str, args: Mapping[str, Any]) -> Never:
    """Forbid calls of this tool with exactly these arguments."""
    return Never(tool=tool, args={name: Matcher("exact", value) for name, value in args.items()})


def forbids(never: Sequence[Never], tool: str, args: Mapping[str, Any] | None) -> bool:
    """Return whether this call must not run."""
    return any(one.tool in (None, tool) and args_fit(one.args, args or {}, whole=False) for one in never)


def forbids_awaited(never: Sequence[Never], one: Awaited) -> bool:
    """Return whether a call that is expected to wait must not run, judged by its exact arguments only."""
    exact = {name: matcher.value for name, matcher in (one.args or {}).items() if matcher.kind == "exact"}
    return forbids(never, one.tool, exact)


def named(never: Never) -> str:
    """Name the calls that `never` matches, such as `send_email with to: "eve@example.com"`."""
    tool = never.tool or "any tool"
    if not never.args:
        return f"{tool}, whatever its arguments"
    return f"{tool} with {shown(never.args)}"


def shown(args: Mapping[str, Any]) -> str:
    """Write arguments, or expectations of them, in one line."""
    values = (f"{name}: {one if isinstance(one, Matcher) else dumps(one)}" for name, one in args.items())
    return ", ".join(values)
