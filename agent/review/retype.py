"""What a reviewer has to do before approving an irreversible call: look at it alone, and type one value again."""

from __future__ import annotations

from agent.review.actions import Action
from agent.review.arguments.args import show
from agent.review.conditions import Args
from agent.review.policy import Policy


def to_type(policy: Policy, tool: str, args: Args | None) -> str | None:
    """Return what has to be typed, as it is shown; None if the call can be approved without."""
    entry = policy.tools.get(tool)
    if entry is None or not entry.irreversible or entry.dangerous not in (args or {}):
        return None
    return show((args or {})[str(entry.dangerous)])


def is_typed(policy: Policy, tool: str, args: Args | None, typed: str) -> bool:
    """Return whether this is, to the last character, what has to be typed before the call can be approved."""
    return to_type(policy, tool, args) in (None, typed)


def may_approve_together(policy: Policy, action: Action) -> bool:
    """Return whether the action may be approved by one click with others: it can be approved, and undone."""
    entry = policy.tools.get(action.tool)
    return "approve" in action.allowed and entry is not None and not entry.irreversible
