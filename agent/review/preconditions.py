"""Preconditions: facts of the world that must still hold when a tool runs, noted when the call is proposed.

The tool judges them inside its own transaction. Here they are only read, so that a reviewer sees what has changed
since the call was proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent.review.arguments.args import check
from agent.review.conditions import Args

Facts = Mapping[str, Any]
NOTED = "facts"
UNREAD = "facts_unread"


@dataclass(frozen=True)
class Precondition:
    """A condition on the world. The tool reads the same facts and calls the same `fault`, in its own transaction."""

    words: str
    facts: Callable[[Args], Facts]
    """The facts it depends on, by name, as they are now: `{"stock": 1}`."""
    fault: Callable[[Facts], str]
    """Why the tool would fail on these facts, as a sentence; "" if it would not."""


@dataclass(frozen=True)
class ChangedFact:
    """One fact that has changed since the call was proposed."""

    name: str
    was: Any
    now: Any


@dataclass(frozen=True)
class Since:
    """How the facts have changed since they were noted with the proposal."""

    changed: tuple[ChangedFact, ...] = ()
    fault: str = ""
    """Why the tool would fail now."""
    unread: str = ""
    """The error that kept the facts from being read, then or now."""


def noted(precondition: Precondition | None, args: Args) -> dict[str, Any]:
    """Return the facts as a proposal notes them. A failure to read them is noted too: it must not hide the call."""
    if precondition is None:
        return {}
    try:
        facts = dict(precondition.facts(args))
        check(facts)  # the record takes no more than a call may hold
    except Exception as error:
        return {UNREAD: type(error).__name__}
    return {NOTED: facts}


def since(precondition: Precondition | None, args: Args, notes: Mapping[str, Any]) -> Since:
    """Return what has changed since the facts in `notes` were noted, and whether the tool would fail now."""
    if precondition is None:
        return Since()
    now = noted(precondition, args)
    unread = str(notes.get(UNREAD) or now.get(UNREAD) or "")
    if NOTED not in now:
        return Since(unread=unread)
    before, present = notes.get(NOTED, now[NOTED]), now[NOTED]
    names = [*before, *(name for name in present if name not in before)]
    changed = tuple(
        ChangedFact(name, before.get(name), present.get(name))
        for name in names
        if before.get(name) != present.get(name)
    )
    return Since(changed, _fault(precondition, present), unread)


def _fault(precondition: Precondition, facts: Facts) -> str:
    try:
        return precondition.fault(facts)
    except Exception as error:
        return f"Whether it would succeed cannot be told ({type(error).__name__})."
