"""A digest changes with everything it stands for, and with nothing else."""

import math
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.review.digest import call_digest, canonical, shown_digest

KEY = b"k" * 32
CALL: dict[str, Any] = {
    "agent": "mail",
    "thread_id": "t-1",
    "message_id": "m-1",
    "tool_call_id": "c-1",
    "attempt": 1,
    "tool": "send_email",
    "args": {"to": "alice@example.com"},
}
SHOWN: dict[str, Any] = {
    "call_digest": "ab",
    "summary": "Send an e-mail",
    "allowed_decisions": ["approve", "reject"],
    "policy_version": "p1",
}

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.0, -0.0, 1.0, 1.5])
    | st.text("a1", max_size=2)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("a1", max_size=1), inner, max_size=2),
    max_leaves=4,
)


def same(one: object, other: object) -> bool:
    """Type-exact equality, written out without the code under test."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return one == other


@given(values, values)
def test_two_values_are_spelt_alike_exactly_if_they_are_equal_to_the_type(one: object, other: object) -> None:
    assert (canonical(one) == canonical(other)) == same(one, other)


def test_the_spelling_is_sorted_tight_ascii_and_exact() -> None:
    value = {"b": [1, 1.0, -0.0, 1e21, 2**64 - 1], "a": "é😀", "ä": None, "A": True}
    spelt = rb'{"A":true,"a":"\u00e9\ud83d\ude00","b":[1,1.0,-0.0,1e+21,18446744073709551615],"\u00e4":null}'
    assert canonical(value) == spelt


def test_keys_are_sorted_by_code_point_not_by_escape() -> None:
    assert canonical({"\uffff": 1, "😀": 2}) == rb'{"\uffff":1,"\ud83d\ude00":2}'


def test_tuples_are_spelt_as_lists_and_enum_members_as_text() -> None:
    class Tier(StrEnum):
        ASK = "ask"

    assert canonical({"t": (Tier.ASK, "x")}) == b'{"t":["ask","x"]}'


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_float_that_is_not_finite_has_no_spelling(odd: object) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical({"a": [odd]})


@pytest.mark.parametrize("odd", [{1: "a"}, [{None: "a"}], {"a": {b"b"}}, object()])
def test_what_json_cannot_hold_has_no_spelling(odd: object) -> None:
    with pytest.raises(TypeError):
        canonical(odd)


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("agent", "other"),
        ("thread_id", "t-2"),
        ("message_id", "m-2"),
        ("tool_call_id", "c-2"),
        ("attempt", 2),
        ("tool", "delete_file"),
        ("args", {"to": "mallory@example.com"}),
    ],
)
def test_a_call_digest_changes_with_every_part_of_the_call(field: str, other: object) -> None:
    assert call_digest(KEY, **CALL) != call_digest(KEY, **{**CALL, field: other})


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("call_digest", "cd"),
        ("summary", "Send an e-mail "),
        ("allowed_decisions", ["reject", "approve"]),
        ("policy_version", None),
    ],
)
def test_a_shown_digest_changes_with_everything_on_the_card(field: str, other: object) -> None:
    assert shown_digest(KEY, **SHOWN) != shown_digest(KEY, **{**SHOWN, field: other})


def test_a_digest_cannot_be_made_without_the_key() -> None:
    assert call_digest(KEY, **CALL) != call_digest(b"other", **CALL)
    assert shown_digest(KEY, **SHOWN) != shown_digest(b"other", **SHOWN)


def test_the_order_in_which_arguments_were_named_does_not_count() -> None:
    one = call_digest(KEY, **{**CALL, "args": {"a": 1, "b": 2}})
    assert one == call_digest(KEY, **{**CALL, "args": {"b": 2, "a": 1}})


def test_digests_stay_what_they_were_for_actions_that_already_wait() -> None:
    assert call_digest(KEY, **CALL) == "f35522487a90f4e5df3645a578e162fc9960399178d53203f3a2f2f5ae2a8d77"
    assert shown_digest(KEY, **SHOWN) == "108cd69cb2e6a86ffbd0dbc26980946c05158497e61c98e6a5411d06093ff4a8"
