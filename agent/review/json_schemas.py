"""Validate values by JSON Schemas that come from files, tools and people, in bounded time.

jsonschema's own validators search patterns with Python's backtracking engine, compare list elements pairwise and
follow every form of a recursive union. Ours search with `patterns`, and stop after a bounded amount of work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend, validator_for
from referencing import Registry

from agent.review import patterns
from agent.review.digest import canonical
from agent.review.evaluated import unevaluated_items, unevaluated_properties

STEPS, STEPS_PER_PART = 100_000, 16
"""Keywords that may be applied, weighted by how much they look through: a base, and more for each part of the value.

A part is a value, a key or a character. Usual schemas take one to four steps for each part.
"""
COST_OF_REFERENCE = 8
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
MOST_ERRORS = 1_000
"""Errors that are reported of one value."""

Keyword = Callable[[Any, Any, Any, Any], Iterable[ValidationError] | None]
_left: ContextVar[int] = ContextVar("_left")


class TooMuchWork(Exception):
    """Checking this value by this schema takes too many steps, as a union that contains itself may. Simplify either."""


class Schema:
    """A JSON Schema of the draft that it names; nothing is fetched from anywhere.

    Its methods raise `TooMuchWork`, `patterns.PatternRefused` or whatever else prevents an answer.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        kind = _kind(validator_for(schema, default=Draft202012Validator))
        self._schema, self._kind = schema, kind
        self._validator = kind(schema, registry=Registry())  # the default registry fetches what a $ref names

    def errors(self, value: object) -> list[ValidationError]:
        """Return what is wrong with the value, at most `MOST_ERRORS` errors."""
        return _first(self._validator, value, MOST_ERRORS)

    def fits(self, value: object) -> bool:
        """Return whether the value fits."""
        return not _first(self._validator, value, 1)

    def check(self) -> None:
        """Raise `SchemaError` if this is not a schema, or `PatternRefused` for a pattern that cannot be searched for."""
        own = self._kind(self._kind.META_SCHEMA, registry=Registry(), format_checker=_FORMATS)
        for error in _first(own, dict(self._schema), 1):
            if isinstance(error.cause, patterns.PatternRefused):
                raise error.cause
            raise SchemaError.create_from(error)
        # Later drafts check in their own schema, with `propertyNames`, that these keys are patterns.
        if "propertyNames" not in self._kind.VALIDATORS:
            for pattern in _keys_of("patternProperties", self._schema):
                patterns.check(pattern)


def _keys_of(keyword: str, schema: object) -> Iterator[object]:
    """Yield the keys of every object under the keyword, anywhere in the schema."""
    waiting = [schema]
    while waiting:
        match waiting.pop():
            case dict() as entries:
                yield from entries.get(keyword) or ()
                waiting.extend(entries.values())
            case list() as items:
                waiting.extend(items)


def fault_of(schema: Mapping[str, Any]) -> str:
    """Return why this is not a JSON Schema that can be used, as a sentence, or ""."""
    try:
        Schema(schema).check()
    except SchemaError as error:
        return f"this is not a JSON Schema: {error.message}"
    except Exception as odd:
        return f"this JSON Schema cannot be used: {odd}"
    return ""


def _first(validator: Any, value: object, most: int) -> list[ValidationError]:
    before = _left.set(STEPS + STEPS_PER_PART * _parts(value))
    try:
        return list(islice(validator.iter_errors(value), most))
    finally:
        _left.reset(before)


def _parts(value: object) -> int:
    """Count the values, keys and characters of a value."""
    count, waiting = 0, [value]
    while waiting:
        count += 1
        match waiting.pop():
            case str() as text:
                count += len(text)
            case dict() as entries:
                count += sum(len(key) for key in entries)
                waiting.extend(entries.values())
            case list() as items:
                waiting.extend(items)
    return count


def _spend(steps: int) -> None:
    left = _left.get(STEPS) - steps
    if left < 0:
        raise TooMuchWork("This schema takes too many steps to check this value by. Simplify either of them.")
    _left.set(left)


@cache
def _kind(library: Any) -> Any:
    """Return jsonschema's validator of a draft with our own keywords, each of which counts its work."""
    keywords: dict[str, Keyword] = {
        **library.VALIDATORS,
        **{n: k for n, k in _OURS.items() if n in library.VALIDATORS},
    }
    made: Any = extend(library, {name: _counted(name, keyword) for name, keyword in keywords.items()})  # type: ignore[no-untyped-call]
    # jsonschema's own would return to its own keywords wherever a part of the schema names a draft.
    made.evolve = _evolve
    return made


def _evolve(self: Any, **changes: Any) -> Any:
    kept = {"format_checker": self.format_checker, "registry": self._registry, "_resolver": self._resolver}
    return type(self)(**{"schema": self.schema, **kept, **changes})


def _counted(name: str, keyword: Keyword) -> Keyword:
    least = COST_OF_REFERENCE if name in REFERENCES else 1

    def counted(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        _spend(least + (len(wanted) >> 3 if isinstance(wanted, list | dict) else 0))
        for error in keyword(validator, wanted, instance, schema) or ():
            _spend(len(error.message) >> 7)  # the message repeats the value
            yield error

    return counted


def _pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "string"):
        _spend(len(instance) >> 7)
        if not patterns.search(pattern, instance):
            yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, by_pattern: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, schema in by_pattern.items():
        _spend(len(instance))
        for key, value in instance.items():
            if patterns.search(pattern, key):
                yield from validator.descend(value, schema, path=key, schema_path=pattern)


def _additional_properties(
    validator: Any, wanted: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    extra = list(extra_keys(schema, instance))
    if validator.is_type(wanted, "object"):
        for key in extra:
            yield from validator.descend(instance[key], wanted, path=key)
    elif not wanted and extra:
        yield ValidationError(f"Additional properties are not allowed: {', '.join(map(repr, extra))}")


def extra_keys(schema: Mapping[str, Any], instance: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of an object that neither `properties` nor `patternProperties` of the schema covers."""
    known, by_pattern = schema.get("properties", {}), schema.get("patternProperties", {})
    for key in instance:
        if key not in known and not any(patterns.search(pattern, key) for pattern in by_pattern):
            yield key


def _unique_items(validator: Any, wanted: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if wanted and validator.is_type(instance, "array"):
        spelt = [canonical(_numbers_alike(item)) for item in instance]
        _spend(sum(map(len, spelt)) >> 7)
        if len(set(spelt)) < len(spelt):
            yield ValidationError(f"{instance!r} has non-unique elements")


def _numbers_alike(value: Any) -> Any:
    """Return the value with 1.0 as 1, which JSON Schema considers equal."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_numbers_alike(item) for item in value]
        case dict():
            return {key: _numbers_alike(item) for key, item in value.items()}
        case _:
            return value


_OURS: Mapping[str, Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "unevaluatedProperties": unevaluated_properties,
    "unevaluatedItems": unevaluated_items,
    "uniqueItems": _unique_items,
}
_FORMATS = FormatChecker(formats=())


@_FORMATS.checks("regex", raises=patterns.PatternRefused)
def _is_pattern(value: object) -> bool:
    if isinstance(value, str):
        patterns.check(value)
    return True
