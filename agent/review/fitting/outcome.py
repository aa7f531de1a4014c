"""What comes of fitting a proposal to a tool's schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agent.review.args import JSON

Unknown: TypeAlias = Literal["drop", "refuse"]


@dataclass(frozen=True)
class Coercion:
    """A value that the schema turned into another."""

    path: str
    before: JSON
    after: JSON


@dataclass(frozen=True)
class Validated:
    """What a schema makes of a proposal. Validating `args` once more gives `args` again."""

    args: dict[str, Any]
    """What is handed to the tool."""
    defaults: tuple[str, ...] = ()
    """Paths the proposal left out and the schema filled in."""
    dropped: tuple[str, ...] = ()
    """Paths of the proposal that the schema does not know, which the tool will not get."""
    coerced: tuple[Coercion, ...] = ()
