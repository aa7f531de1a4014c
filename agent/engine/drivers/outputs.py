"""What a graph gives back besides its conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.engine.checkpoints import Graph
from agent.review.arguments.args import check
from agent.review.errors import ArgumentsRefused
from agent.review.questions import legible

MESSAGES = "messages"


def output_of(graph: Graph, values: Any) -> dict[str, Any] | None:
    """Return the graph's output so far, without the conversation, as JSON; None where there is none."""
    given = graph.output_channels
    names = [given] if isinstance(given, str) else given
    if not isinstance(values, Mapping):
        return None
    found = {name: legible(values[name]) for name in names if name in values and name != MESSAGES}
    try:
        check(found)
    except ArgumentsRefused:
        return None
    return found or None
