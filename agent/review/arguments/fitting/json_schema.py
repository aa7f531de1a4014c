"""Fit a proposal to a JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from agent.review import patterns
from agent.review.arguments.args import JSON, MAX_DEPTH
from agent.review.arguments.argument_faults import ArgumentFault, brief, no_such, refusal
from agent.review.arguments.fitting.json_schema_faults import schema_faults
from agent.review.arguments.fitting.outcome import Received, Unknown
from agent.review.arguments.json_paths import Steps, at, path, without
from agent.review.json_schemas import Schema

# With any of these, an object's `properties` alone do not say which keys it knows.
_COMPOSING = (
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "not",
    "dependentSchemas",
    "unevaluatedProperties",
    "$dynamicRef",
)


def by_json_schema(schema: Mapping[str, Any], given: dict[str, Any], unknown: Unknown) -> Received:
    """Return what the schema makes of the proposal: defaults of the top level filled in, nothing coerced.

    Raises `ArgumentsRefused` with every fault.
    """
    validator = Schema(schema)
    validator.check()
    strangers = dict(_strangers(schema, given, (), schema))
    kept = without(given, strangers.keys())
    faults = [fault for error in validator.errors(kept) for fault in schema_faults(error)]
    if unknown == "refuse":
        faults += strangers.values()
    if faults:
        raise refusal(faults)
    args = dict(kept)
    for name, part in _resolved(schema, schema).get("properties", {}).items():
        if isinstance(part, Mapping) and "default" in part and name not in args:
            filled = {**args, name: deepcopy(part["default"])}
            # A default its own schema refuses is left for the tool to fill in.
            args = filled if validator.fits(filled) else args
    defaults = [path((name,)) for name in args if name not in kept]
    return Received(args, deepcopy(args), tuple(defaults), tuple(path(steps) for steps in strangers))


def _strangers(
    schema: Any, value: JSON, steps: Steps, root: Mapping[str, Any]
) -> Iterator[tuple[Steps, ArgumentFault]]:
    """Yield the entries of objects that their schema neither lists nor says anything about."""
    schema = _resolved(schema, root)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strangers(schema.get("items"), item, (*steps, index), root)
    if not isinstance(value, dict):
        return
    known = schema.get("properties", {})
    by_pattern = schema.get("patternProperties", {})
    is_open = (
        any(word in schema for word in ("additionalProperties", *_COMPOSING)) or "properties" not in schema
    )
    for key, item in value.items():
        place = (*steps, key)
        if key in known:
            yield from _strangers(known[key], item, place, root)
        elif not is_open and not any(patterns.search(pattern, key) for pattern in by_pattern):
            yield place, ArgumentFault(path(place), no_such(list(known)), brief(item))


def _resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema with references into the same document followed; an empty one for any other reference."""
    for _ in range(MAX_DEPTH):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if reference is None:
            return schema
        if not str(reference).startswith("#/"):
            return {}
        names = [name.replace("~1", "/").replace("~0", "~") for name in str(reference)[2:].split("/")]
        schema = at(root, tuple(names))
    return {}
