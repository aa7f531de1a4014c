"""What an irreversible call asks of a reviewer before it can be approved: a look of its own, and one value typed again."""

from __future__ import annotations

from agent.review.actions import Action
from agent.review.arguments.args import show
from agent.review.conditions import Args
from agent.review.policy import Policy


def to_type(policy: Policy, tool: str, args: Args | None) -> str | None:
    """What has to be typed, as it is shown; None where the call can be approved without."""
    entry = policy.tools.get(tool)
    if entry is None or not entry.irreversible or entry.dangerous not in (args or {}):
        return None
    return show((args or {})[str(entry.dangerous)])


def is_typed(policy: Policy, tool: str, args: Args | None, typed: str) -> bool:
    """Whether this, to the last character, is what has to be typed before the call can be approved."""
    return to_type(policy, tool, args) in (None, typed)


def may_approve_together(policy: Policy, action: Action) -> bool:
    """Whether the action may be approved by one click with others: it can be approved, and undone."""
    entry = policy.tools.get(action.tool)
    return "approve" in action.allowed and entry is not None and not entry.irreversible
