"""What a graph takes in beyond the conversation, and what it gives back beyond it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_type_hints

from pydantic import TypeAdapter

from agent.engine.checkpoints import Graph
from agent.review.arguments.args import check
from agent.review.errors import ArgumentsRefused
from agent.review.questions import legible

MESSAGES = "messages"
DEFS = "$defs"


def converses(graph: Graph) -> bool:
    """Whether messages can be said to the graph."""
    return MESSAGES in _fields(graph)


def further_input(graph: Graph) -> Mapping[str, Any] | None:
    """Return the JSON Schema of what the graph takes in besides messages; None where that is nothing."""
    if not _fields(graph) - {MESSAGES}:
        return None
    try:
        schema = graph.get_input_jsonschema()
    except (
        Exception
    ):  # pydantic takes no `typing.TypedDict` before Python 3.12, nor every type of a graph's own
        schema = _by_field(graph)
    kept = {name: one for name, one in schema.get("properties", {}).items() if name != MESSAGES}
    required = [name for name in schema.get("required", ()) if name != MESSAGES]
    found = {"type": "object", "properties": kept, "required": required}
    return {**found, DEFS: defs} if (defs := _needed(kept, schema.get(DEFS, {}))) else found


def _by_field(graph: Graph) -> dict[str, Any]:
    """Return a schema with what can be said of each field by itself."""
    names, kept = _fields(graph), dict[str, Any]()
    try:
        hints = get_type_hints(graph.builder.input_schema)
    except Exception:  # a name that only a type checker knows
        hints = {}
    for name in sorted(names - {MESSAGES}):
        try:
            kept[name] = TypeAdapter(hints[name]).json_schema() if name in hints else {}
        except Exception:  # a type of which nothing can be said
            kept[name] = {}
    required = getattr(graph.builder.input_schema, "__required_keys__", names)
    return {"properties": kept, "required": sorted(names & set(required))}


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


def _fields(graph: Graph) -> set[str]:
    return set(graph.builder.schemas.get(graph.builder.input_schema, {}))


def _needed(part: Any, defs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the definitions that a part of a schema refers to, and those that they refer to."""
    found: dict[str, Any] = {}
    waiting = [part]
    while waiting:
        text = json.dumps(waiting.pop())
        for name, one in defs.items():
            if name not in found and f'"#/{DEFS}/{name}"' in text:
                found[name] = one
                waiting.append(one)
    return found
