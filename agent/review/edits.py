"""What an edit means to the agent: when it is large enough to plan again, and when the original call returns."""

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
"""A text of at least this many words is judged by how much of it was kept; a shorter one is a value like any other."""


class Large(StrEnum):
    """Why an edit is large."""

    TOOL = "another tool"
    MOST = "most of the arguments"
    TEXT = "a text"


def how_large(before: Action, after: Action) -> Large | None:
    """Return why the edit from `before` to `after` is large; None if it is not.

    It is large if it calls another tool, if at least two arguments and more than half of them differ, or if a long
    text keeps less than half of its words. Words are separated by spaces, so a text in a language written without
    spaces counts only as one argument among the others.
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
    """Return the arguments an edit starts from: in the form the model writes, without those that the tool drops."""
    dropped = set(action.notes.get("dropped", ()))
    written = (
        action.proposed if isinstance(action.proposed, dict) and action.entered is not None else action.args
    )
    return {name: value for name, value in (written or {}).items() if path((name,)) not in dropped}


def new_masks(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the arguments in which an edit holds a secret's mask that the original does not hold there.

    Somebody who copies from a page that masks secrets would otherwise pass the mask to the tool.
    """
    return [name for name, value in after.items() if masks({name: value}) - masks(_one(before, name))]


def edited_away(action: Action, edited: Iterable[Action], agent: Agent) -> Action | None:
    """Return the first of the edited actions whose original was this same call; None if there is no such action.

    Calls are the same if the tool would receive the same, however the model wrote them. An edit that changed nothing
    does not count.
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
    """Return whether a long text kept less than half of its words, repetitions counted."""
    if not isinstance(before, str) or not isinstance(after, str):
        return False
    old, new = Counter(before.split()), Counter(after.split())
    longer = max(old.total(), new.total())
    return old.total() >= LONG_TEXT and (old & new).total() * 2 < longer


def _original(edited: Action, agent: Agent) -> str | None:
    """Return `same_call` of what the tool would have received of the proposal; None if it was refused."""
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
