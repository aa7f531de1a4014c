"""Checking values by JSON Schemas: as the library does, except for patterns, and with a sure end."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema.validators import validator_for
from referencing import Registry

from agent.review.arguments.fitting import received
from agent.review.errors import ArgumentsRefused
from agent.review.json_schemas import Schema, TooMuchWork, fault_of
from agent.review.patterns import PatternRefused
from agent.review.questions import QUESTION, SentAnswer, answer_fault
from tests.review.test_decisions import schema_tool, waiting

ENDLESS = "^(a|aa)+$"
LONG = "a" * 60 + "!"
DRAFTS = [
    "http://json-schema.org/draft-03/schema#",
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]
WITH_PATTERNS: list[tuple[dict[str, Any], Any]] = [
    ({"pattern": ENDLESS}, LONG),
    ({"properties": {"x": {"pattern": ENDLESS}}}, {"x": LONG}),
    ({"patternProperties": {ENDLESS: False}}, {LONG: 1}),
    ({"patternProperties": {ENDLESS: {}}, "additionalProperties": False}, {LONG: 1}),
    ({"patternProperties": {ENDLESS: {}}, "additionalProperties": {"type": "string"}}, {LONG: 1}),
    ({"items": {"$schema": DRAFTS[-1], "pattern": ENDLESS}}, [LONG]),
]
NEWER: list[tuple[dict[str, Any], Any]] = [
    ({"propertyNames": {"pattern": ENDLESS}}, {LONG: 1}),
    ({"contains": {"pattern": ENDLESS}}, [LONG]),
    ({"not": {"not": {"pattern": ENDLESS}}}, LONG),
    ({"if": {"pattern": ENDLESS}, "else": False}, LONG),
    ({"oneOf": [{"pattern": ENDLESS}, {"const": 1}]}, LONG),
    ({"patternProperties": {ENDLESS: {}}, "unevaluatedProperties": False}, {LONG: 1}),
    ({"allOf": [{"patternProperties": {ENDLESS: {}}}], "unevaluatedProperties": False}, {LONG: 1}),
]


@pytest.mark.parametrize("draft", DRAFTS)
def test_no_keyword_of_any_draft_backtracks(draft: str) -> None:
    newer = draft in DRAFTS[4:]
    for schema, value in [*WITH_PATTERNS, *(NEWER if newer else [])]:
        started = time.process_time()
        Schema({"$schema": draft, **schema}).fits(value)
        assert time.process_time() - started < 1, schema


@pytest.mark.parametrize(("schema", "value"), [*WITH_PATTERNS[:1], *WITH_PATTERNS[3:], *NEWER])
def test_what_no_pattern_finds_does_not_fit(schema: dict[str, Any], value: Any) -> None:
    assert not Schema(schema).fits(value)


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("schema", [{"pattern": "(?=a)"}, {"patternProperties": {"(?=a)": {}}}])
def test_a_pattern_that_re2_does_not_take_is_named(draft: str, schema: dict[str, Any]) -> None:
    assert "(?=a)" in fault_of({"$schema": draft, "properties": {"x": schema}})
    with pytest.raises(PatternRefused):
        Schema({"$schema": draft, **schema}).errors("a" if "pattern" in schema else {"a": 1})


# Without patterns every verdict is the library's.
VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, 2.5, "", "a", "ab"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
LEAVES = st.sampled_from(
    [
        True,
        False,
        {},
        {"type": "integer"},
        {"type": "string"},
        {"const": 1},
        {"enum": ["a", True]},
        {"uniqueItems": True},
    ]
)


def _larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=2)
    by_name = st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "properties": by_name,
            "patternProperties": st.dictionaries(st.sampled_from(["a", "^[bc]"]), inner, max_size=2),
            "additionalProperties": inner,
            "unevaluatedProperties": inner,
            "dependentSchemas": by_name,
            "prefixItems": some,
            "items": inner,
            "contains": inner,
            "unevaluatedItems": inner,
            "uniqueItems": st.booleans(),
            "allOf": some,
            "anyOf": some,
            "oneOf": some,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
        },
    )


@settings(max_examples=300, deadline=None)
@given(st.recursive(LEAVES, _larger, max_leaves=6), VALUES)
def test_every_verdict_is_the_librarys(schema: Any, value: Any) -> None:
    whole = {"$schema": DRAFTS[-1], "allOf": [schema]}
    library = validator_for(whole)(whole, registry=Registry())
    assert Schema(whole).fits(value) == library.is_valid(value)


@pytest.mark.parametrize(
    ("value", "unique"),
    [
        ([1, True], True),
        ([1, 1.0], False),
        ([{"a": 1}, {"a": 1.0}], False),
        ([[1, "1"], [1, "1"]], False),
        ([None, False, 0, ""], True),
        ([{}, []], True),
    ],
)
def test_elements_are_told_apart_as_json_schema_does(value: list[Any], unique: bool) -> None:
    assert Schema({"uniqueItems": True}).fits(value) is unique


def _nested(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {"op": "leaf"}
    for _ in range(depth):
        found = {"op": "and", "args": [found]}
    return found


FORMS = [{"properties": {"op": {"const": op}, "args": {"items": {"$ref": "#"}}}} for op in ("and", "or")]
RECURSIVE = {"oneOf": FORMS}


def test_a_union_that_holds_itself_is_given_up_in_time() -> None:
    started = time.process_time()
    with pytest.raises(TooMuchWork):
        Schema(RECURSIVE).fits(_nested(40))
    assert time.process_time() - started < 5


def test_arguments_that_cannot_be_checked_are_refused() -> None:
    for schema, said in (
        (RECURSIVE, "too many steps"),
        ({"properties": {"op": {"pattern": "(?=a)"}}}, "without lookaround"),
    ):
        with pytest.raises(ArgumentsRefused, match=said):
            received(schema_tool("t", schema), _nested(40), unknown="drop")


def test_an_answer_that_cannot_be_checked_is_refused() -> None:
    asked = waiting(QUESTION, {"question": "?", "answer_schema": {"pattern": "(?=a)"}}, ["respond"], 0)
    assert "Close the review instead" in answer_fault(asked, SentAnswer("a"))
    fine = waiting(QUESTION, {"question": "?", "answer_schema": {"pattern": ENDLESS}}, ["respond"], 0)
    assert "does not match" in answer_fault(fine, SentAnswer(LONG))
