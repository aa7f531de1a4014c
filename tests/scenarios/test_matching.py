"""What a scenario expects of one value."""

from __future__ import annotations

from typing import Any

import pytest

from agent.scenarios.matching import args_fit, read, write


@pytest.mark.parametrize(
    ("given", "fitting", "other"),
    [
        (1, 1, 1.0),
        (True, True, 1),
        ("10", "10", 10),
        (None, None, ""),
        (2**64 - 1, 2**64 - 1, float(2**64)),
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, {"a": 1}),
        ({"exact": {"any": True}}, {"any": True}, "anything else"),
        ({"pattern": "^mov"}, "moved", "it moved"),
        ({"pattern": "1"}, "1", 1),
        ({"schema": {"type": "integer"}}, 3, "3"),
        ({"exact": 1, "any": True}, {"exact": 1, "any": True}, 1),
    ],
)
def test_a_value_fits_what_is_expected_to_the_type(given: Any, fitting: Any, other: Any) -> None:
    assert read(given).fits(fitting)
    assert not read(given).fits(other)


@pytest.mark.parametrize("value", [None, 0, "", [], {"a": float(1)}])
def test_anything_fits_anything(value: Any) -> None:
    assert read({"any": True}).fits(value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"pattern": "("}, "not a regular expression"),
        ({"pattern": 3}, "not a regular expression"),
        ({"schema": {"type": "number-ish"}}, "not a JSON Schema"),
        ({"any": False}, "any: true"),
    ],
)
def test_what_cannot_be_an_expectation_is_refused(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(given)


@pytest.mark.parametrize(
    "given", [1, "text", None, {"a": 1}, {"pattern": "x"}, {"any": True}, {"exact": {"any": True}}]
)
def test_what_is_written_is_read_as_the_same(given: Any) -> None:
    assert write(read(given)) == given


def test_a_pattern_that_would_search_for_ever_fits_nothing() -> None:
    assert not read({"pattern": "^(a|aa)+$"}).fits("a" * 60 + "!")


def test_a_schema_fetches_nothing() -> None:
    expected = read({"schema": {"$ref": "http://127.0.0.1:1/schema.json"}})
    with pytest.raises(Exception, match="Unresolvable"):
        expected.fits(1)


def test_whole_arguments_have_no_further_name_and_named_ones_may() -> None:
    expected = {"to": read("bob")}
    assert args_fit(expected, {"to": "bob", "cc": "eve"}, whole=False)
    assert not args_fit(expected, {"to": "bob", "cc": "eve"}, whole=True)
    assert not args_fit(expected, {"cc": "eve"}, whole=False)
    assert not args_fit(expected, None, whole=False)
