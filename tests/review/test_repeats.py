"""The same call again is told by what would run, not by how it was written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.review.repeats import MOST_REJECTIONS, is_loop, same_call

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(alphabet="aäA \u200b", max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=5,
)
ARGS = st.dictionaries(st.sampled_from("ab"), VALUES, max_size=2)


@given(ARGS)
def test_the_order_of_arguments_makes_no_other_call(args: dict[str, Any]) -> None:
    assert same_call("send", args) == same_call("send", dict(reversed(args.items())))


@given(ARGS, ARGS)
def test_two_calls_are_the_same_only_with_the_same_canonical_arguments(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    alike = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (same_call("send", one) == same_call("send", other)) is alike


@pytest.mark.parametrize("other", [1.0, True, "1", [1], None])
def test_values_that_python_takes_for_equal_are_told_apart(other: Any) -> None:
    assert same_call("send", {"n": 1}) != same_call("send", {"n": other})


def test_another_tool_is_another_call() -> None:
    assert same_call("send", {}) != same_call("find", {})


def test_it_is_a_loop_once_it_was_rejected_often_enough() -> None:
    found = [is_loop({"rejected_before": times}) for times in range(MOST_REJECTIONS + 1)]
    assert found == [False] * MOST_REJECTIONS + [True]
    assert not is_loop({})
