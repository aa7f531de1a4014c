"""What a reviewer is told of arguments that a tool's JSON Schema does not take: the place, what fits there, what came."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import StructuredTool

from agent.review.arguments.fitting import received
from agent.review.errors import ArgumentsRefused

POINT = {
    "title": "Point",
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
}
CIRCLE = {
    "type": "object",
    "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
    "required": ["kind", "radius"],
}
LINE = {
    "type": "object",
    "properties": {"kind": {"const": "line"}, "to": {"$ref": "#/$defs/Point"}},
    "required": ["kind", "to"],
}
NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def faults_of(part: dict[str, Any], value: object) -> list[str]:
    """What is said of this value as the one argument `a`, whose schema is `part`."""
    schema = {"type": "object", "properties": {"a": part}, "$defs": {"Point": POINT, "Named": NAMED}}
    tool = StructuredTool(name="t", description="Do it.", args_schema=schema, func=lambda **_: None)
    with pytest.raises(ArgumentsRefused) as refused:
        received(tool, {"a": value}, unknown="refuse")
    return [str(fault) for fault in refused.value.faults]


@pytest.mark.parametrize(
    ("part", "value", "told"),
    [
        ({"type": "string"}, 7, "args.a: expected text, got 7"),
        ({"type": ["boolean", "null"]}, "no", 'args.a: expected true or false or null, got "no"'),
        ({"enum": ["day", 2]}, "week", 'args.a: expected one of "day", 2, got "week"'),
        ({"const": "yes"}, "no", 'args.a: expected "yes", got "no"'),
        ({"minimum": 3}, 2, "args.a: expected at least 3, got 2"),
        ({"exclusiveMaximum": 3}, 3, "args.a: expected less than 3, got 3"),
        ({"multipleOf": 5}, 7, "args.a: expected a multiple of 5, got 7"),
        ({"maxLength": 2}, "abc", 'args.a: expected at most 2 characters, got "abc"'),
        ({"minItems": 1}, [], "args.a: expected at least 1 elements, got []"),
        ({"pattern": "^a"}, "b", 'args.a: expected text matching "^a", got "b"'),
        ({"oneOf": [{"minimum": 0}, {"maximum": 9}]}, 5, "args.a: expected exactly one of its forms"),
        ({"not": {"type": "integer"}}, 5, "args.a: expected a value its schema takes ("),
        (POINT, {}, "args.a.x: expected integer, got nothing"),
        ({"required": ["x"]}, {}, "args.a.x: expected a value, got nothing"),
    ],
)
def test_a_value_that_does_not_fit_is_told_with_what_would(
    part: dict[str, Any], value: object, told: str
) -> None:
    (fault,) = faults_of(part, value)
    assert fault.startswith(told)


def test_each_key_that_no_schema_names_is_told_with_those_that_it_does() -> None:
    closed = {**POINT, "additionalProperties": False}
    assert faults_of(closed, {"x": 1, "y": 2, "z": "s"}) == [
        "args.a.y: expected no such argument (known: x), got 2",
        'args.a.z: expected no such argument (known: x), got "s"',
    ]


def test_a_value_near_no_form_of_a_union_is_told_the_types_of_all() -> None:
    assert faults_of({"anyOf": [{"type": "integer"}, {"type": "array"}]}, "x") == [
        'args.a: expected integer or list, got "x"'
    ]


def test_a_value_is_told_the_faults_of_the_forms_that_it_is_near_to_by_their_names() -> None:
    forms = {"anyOf": [POINT, {"$ref": "#/$defs/Named"}, NAMED, {"type": "integer"}]}
    assert sorted(faults_of(forms, {})) == [
        "args.a.name: expected text (for Named) or text (for form 3), got nothing",
        "args.a.x: expected integer (for Point), got nothing",
    ]


def test_a_mark_says_which_form_was_meant() -> None:
    shapes = {"oneOf": [CIRCLE, LINE]}
    assert faults_of(shapes, {"kind": "circle", "radius": "wide"}) == [
        'args.a.radius: expected number, got "wide"'
    ]
    assert faults_of(shapes, {"kind": "line", "to": {"x": "1"}}) == ['args.a.to.x: expected integer, got "1"']
