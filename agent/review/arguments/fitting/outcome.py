"""The result of fitting a proposal to a tool."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from agent.review.arguments.args import JSON

Unknown: TypeAlias = Literal["drop", "refuse"]


@dataclass(frozen=True)
class Coercion:
    """A value that the schema turned into another."""

    path: str
    before: JSON
    after: JSON


@dataclass(frozen=True)
class Received:
    """What a tool's function receives of a proposal, and how that differs from it."""

    args: dict[str, Any]
    """What the function receives, in its JSON form."""
    entered: dict[str, Any] = field(default_factory=dict)
    """What is passed to the tool: the arguments in the form the model writes."""
    defaults: tuple[str, ...] = ()
    """Paths the proposal left out and the schema filled in."""
    dropped: tuple[str, ...] = ()
    """Paths of the proposal that the tool's function does not get."""
    coerced: tuple[Coercion, ...] = ()
    made_once: tuple[str, ...] = ()
    """Paths of values that the tool would make differently each time: this one was kept, and is passed on."""
    unchecked: bool = False
    """True if the tool has no schema that LangChain checks arguments against: they reach it as they came."""
