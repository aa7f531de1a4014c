"""What an edit means to the agent: when it is so large that it may plan anew, and when the original comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from agent.review.actions import Action
from agent.review.agents import Agent
from agent.review.arguments.args import parse
from agent.review.arguments.differences import diff
from agent.review.arguments.json_paths import path
from agent.review.errors import ArgumentsRefused
from agent.review.external import taken
from agent.review.repeats import same_call
from agent.review.text.secrets import masks

LONG_TEXT = 8
"""Words from which on a text is judged by how much of it was kept; a shorter one is a value like any other."""


class Large(StrEnum):
    """Why an edit is large."""

    TOOL = "another tool"
    MOST = "most of the arguments"
    TEXT = "a text"


def how_large(before: Action, after: Action) -> Large | None:
    """Why the edit from `before` to `after` is large; None if it is not.

    It is if it calls another tool, if more than half of the arguments differ and at least two do, or if a text of
    some length keeps less than half of its words. Words are what spaces part: a text in a language that writes
    without them counts as one argument among the others, and no more.
    """
    if before.tool != after.tool:
        return Large.TOOL
    old, new = before.args or {}, after.args or {}
    names = old.keys() | new.keys()
    changed = [name for name in names if diff(_one(old, name), _one(new, name))]
    if len(changed) >= 2 and len(changed) * 2 > len(names):
        return Large.MOST
    return Large.TEXT if any(_is_rewritten(one.before, one.after) for one in diff(old, new)) else None


def to_edit(action: Action) -> dict[str, Any]:
    """The arguments that an edit begins with: in the form the model writes, without those that the tool drops."""
    dropped = set(action.notes.get("dropped", ()))
    written = (
        action.proposed if isinstance(action.proposed, dict) and action.entered is not None else action.args
    )
    return {name: value for name, value in (written or {}).items() if path((name,)) not in dropped}


def new_masks(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The arguments in which an edit has a mask, as it is shown in place of a secret, that the original had not there.

    Whoever copies from where secrets are masked would hand the mask to the tool.
    """
    return [name for name, value in after.items() if masks({name: value}) - masks(_one(before, name))]


def edited_away(action: Action, edited: Iterable[Action], agent: Agent) -> Action | None:
    """The first of the edited actions in whose place, before its edit, this same call stood.

    Calls are the same if the tool would get the same, however the model wrote them. An edit that changed nothing
    is none.
    """
    if action.args is None:
        return None
    call = same_call(action.tool, action.args)
    return next(
        (one for one in edited if _original(one, agent) == call != same_call(one.tool, one.args)), None
    )


def _one(args: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {name: args[name]} if name in args else {}


def _is_rewritten(before: object, after: object) -> bool:
    """Whether a text of some length kept less than half of its words, counted with their repetitions."""
    if not isinstance(before, str) or not isinstance(after, str):
        return False
    old, new = Counter(before.split()), Counter(after.split())
    longer = max(old.total(), new.total())
    return old.total() >= LONG_TEXT and (old & new).total() * 2 < longer


def _original(edited: Action, agent: Agent) -> str | None:
    """What the tool would have got of the proposal, as `same_call` tells calls apart; None if nothing."""
    tool, proposed = edited.proposed_tool, edited.proposed
    try:
        args = _given(agent, tool, parse(proposed) if isinstance(proposed, str) else proposed)
    except ArgumentsRefused:
        return None
    return None if args is None else same_call(tool, args)


def _given(agent: Agent, tool: str, proposed: Any) -> dict[str, Any] | None:
    known = agent.tools_by_name.get(tool)
    if agent.gates_itself:
        return taken(agent, tool, proposed).args if isinstance(proposed, dict) else None
    return agent.received(tool, proposed, unknown="drop").args if known else None
