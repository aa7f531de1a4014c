"""The keywords `unevaluatedProperties` and `unevaluatedItems`, in time linear in the value.

jsonschema's own versions look each key up in a list of all keys, and search patterns with a backtracking engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jsonschema.exceptions import ValidationError

from agent.review import patterns

Own = Callable[[Any, Any, Mapping[str, Any]], Iterator[Any]]


def unevaluated_properties(
    validator: Any, wanted: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    """Check the properties that no other keyword of the schema has looked at."""
    if validator.is_type(instance, "object"):
        seen = set(_evaluated(validator, instance, schema, _keys))
        left = [
            key for key in instance if key not in seen and not _is_valid(validator, instance[key], wanted)
        ]
        if left:
            yield ValidationError(f"Unevaluated properties are not allowed: {', '.join(map(repr, left))}")


def unevaluated_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Check the elements that no other keyword of the schema has looked at."""
    if validator.is_type(instance, "array"):
        seen = set(_evaluated(validator, instance, schema, _indexes))
        left = [
            item
            for index, item in enumerate(instance)
            if index not in seen and not _is_valid(validator, item, wanted)
        ]
        if left:
            yield ValidationError(f"Unevaluated items are not allowed: {', '.join(map(repr, left))}")


def _evaluated(validator: Any, instance: Any, schema: Any, own: Own) -> Iterator[Any]:
    """Yield what is looked at by this schema, and by every schema that it applies to the same value with success."""
    if not isinstance(schema, Mapping):
        return
    yield from own(validator, instance, schema)
    for inner, applied in _applied(validator, instance, schema):
        yield from _evaluated(inner, instance, applied, own)


def _applied(validator: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    for word in ("$ref", "$dynamicRef", "$recursiveRef"):
        if word in schema and word in validator.VALIDATORS:
            # Private to jsonschema, which has no other way to follow a reference without validating by it.
            found = validator._resolver.lookup(schema[word])
            yield validator.evolve(schema=found.contents, _resolver=found.resolver), found.contents
    for word in ("allOf", "anyOf", "oneOf"):
        yield from ((validator, one) for one in schema.get(word, ()) if _is_valid(validator, instance, one))
    if "if" in schema:
        is_met = _is_valid(validator, instance, schema["if"])
        names = ("if", "then") if is_met else ("else",)
        yield from ((validator, schema[name]) for name in names if name in schema)
    if isinstance(instance, Mapping):
        by_key = schema.get("dependentSchemas", {})
        yield from ((validator, one) for key, one in by_key.items() if key in instance)


def _keys(validator: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    known, by_pattern = schema.get("properties", {}), schema.get("patternProperties", {})
    others = [schema[word] for word in ("additionalProperties", "unevaluatedProperties") if word in schema]
    for key, value in instance.items():
        if (
            key in known
            or any(_is_valid(validator, value, other) for other in others)
            or any(patterns.search(pattern, key) for pattern in by_pattern)
        ):
            yield key


def _indexes(validator: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    first = schema.get("prefixItems", ())
    if "items" in schema:
        # Before 2020-12, `items` could be a list of schemas, one for each of the first elements.
        first = schema["items"] if isinstance(schema["items"], list) else instance
    if "additionalItems" in schema and isinstance(schema.get("items"), list):
        first = instance
    yield from range(len(first))
    words = (
        ("contains", "unevaluatedItems") if "prefixItems" in validator.VALIDATORS else ("unevaluatedItems",)
    )
    others = [schema[word] for word in words if word in schema]
    for index, item in enumerate(instance if others else ()):
        if any(_is_valid(validator, item, other) for other in others):
            yield index


def _is_valid(validator: Any, instance: Any, schema: Any) -> bool:
    return next(iter(validator.descend(instance, schema)), None) is None
