"""What a scenario expects of a value: an exact value, a pattern, a schema, or anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from agent.review import json_schemas, patterns
from agent.review.arguments.args import dumps
from agent.review.digest import canonical

Kind = Literal["exact", "pattern", "schema", "any"]
KINDS: tuple[Kind, ...] = ("exact", "pattern", "schema", "any")


@dataclass(frozen=True)
class Matcher:
    """An expectation of one value."""

    kind: Kind
    value: Any = True

    def fits(self, found: Any) -> bool:
        """Return whether the value is as expected. Types count: 1, 1.0, true and "1" are four values.

        A value that takes too much work to check does not fit.
        """
        match self.kind:
            case "any":
                return True
            case "pattern":
                return isinstance(found, str) and _is_true(lambda: patterns.search(self.value, found))
            case "schema":
                return _is_true(lambda: json_schemas.Schema(self.value).fits(found))
            case "exact":
                return canonical(found) == canonical(self.value)

    def __str__(self) -> str:
        match self.kind:
            case "any":
                return "anything"
            case "pattern":
                return f"text with the pattern {self.value}"
            case "schema":
                return f"a value that fits {dumps(self.value)}"
            case "exact":
                return dumps(self.value)


def read(given: Any) -> Matcher:
    """Read a matcher: an object with exactly one of the four keys, or else the exact value itself.

    Raises `ValueError` for an invalid pattern or schema.
    """
    if isinstance(given, Matcher):
        return given
    if not isinstance(given, Mapping) or len(given) != 1 or next(iter(given)) not in KINDS:
        return Matcher("exact", given)
    ((kind, value),) = given.items()
    if kind == "pattern":
        patterns.check(value)
    if kind == "schema":
        _check_schema(value)
    if kind == "any" and value is not True:
        raise ValueError("any accepts only true; write `any: true`")
    return Matcher(kind, value)


def write(matcher: Matcher) -> Any:
    """Return the matcher in its written form, which `read` reads back."""
    value = matcher.value
    looks_like_one = isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in KINDS
    return value if matcher.kind == "exact" and not looks_like_one else {matcher.kind: value}


def _is_true(told: Callable[[], bool]) -> bool:
    try:
        return told()
    except (json_schemas.TooMuchWork, patterns.PatternRefused):
        return False


def _check_schema(value: Any) -> None:
    if not isinstance(value, Mapping):
        raise ValueError("a schema is an object; write a JSON Schema")
    if fault := json_schemas.fault_of(value):
        raise ValueError(fault)


def _described(kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {kind: value}, "required": [kind], "additionalProperties": False}


SCHEMA = {
    "description": "The exact value; or one of `exact`, `pattern` (a regular expression found in a text), "
    "`schema` (a JSON Schema), `any: true`.",
    "anyOf": [
        _described("exact", {}),
        _described("pattern", {"type": "string"}),
        _described("schema", {"type": "object"}),
        _described("any", {"const": True}),
        {},
    ],
}
Expected = Annotated[Any, BeforeValidator(read), PlainSerializer(write), WithJsonSchema(SCHEMA)]
"""A field that holds a `Matcher`, written in any form that `read` accepts."""


def args_fit(expected: Mapping[str, Matcher], found: Any, *, whole: bool) -> bool:
    """Return whether arguments are as expected: all of them if `whole`, else only the named ones."""
    if not isinstance(found, Mapping) or (whole and found.keys() != expected.keys()):
        return False
    return all(name in found and matcher.fits(found[name]) for name, matcher in expected.items())
