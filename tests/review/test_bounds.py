"""A text within its limit is whole; a longer one is its beginning and a line that identifies the whole."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.review.bounds import LARGEST, MAX_RESULT, SMALLEST, bounded
from agent.review.errors import PolicyError
from agent.review.policy import Policy, Tier, ToolPolicy


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("letter", ["x", "ü", "✓", "𝄞", "\ud800"])
def test_a_text_of_exactly_the_limit_is_whole_and_of_one_byte_more_is_cut(letter: str) -> None:
    text = "a" * (SMALLEST - size(letter)) + letter
    assert bounded(text, SMALLEST) == text
    cut = bounded(f"{text}a", SMALLEST)
    digest = hashlib.sha256(f"{text}a".encode("utf-8", "surrogatepass")).hexdigest()
    assert cut.endswith(f"a\n[Cut here. The whole is 1,001 bytes, SHA-256 {digest}.]")
    assert size(cut) == SMALLEST


@given(
    st.text(st.characters(categories=None), min_size=300).map(lambda text: text * 5),
    st.integers(1_000, 1_100),
)
def test_what_is_kept_is_a_beginning_within_the_limit_and_stays_as_it_is(text: str, limit: int) -> None:
    kept = bounded(text, limit)
    assert size(kept) <= limit
    assert bounded(kept, limit) == kept
    beginning = kept.rpartition("\n[Cut here. ")[0]
    assert kept == text or (text.startswith(beginning) and size(kept) > limit - 4)


def test_the_limit_is_of_a_tools_policy() -> None:
    entry = ToolPolicy(Tier.AUTO)
    policy = Policy({"one": entry, "two": replace(entry, max_result=5_000_000)})
    assert [policy.max_result_of(name) for name in ("one", "two", "three")] == [
        MAX_RESULT,
        5_000_000,
        MAX_RESULT,
    ]
    assert policy.version != Policy({"one": entry, "two": entry}).version


@pytest.mark.parametrize("limit", [SMALLEST - 1, LARGEST + 1, 0, -1, True, 2_000.0, "1 MB", None])
def test_a_limit_that_cannot_hold_stops_the_start(limit: object) -> None:
    policy = Policy({"one": ToolPolicy(Tier.AUTO, max_result=limit)})  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match=r"one \(.*, line \d+\): max_result is .*; write a number of bytes"):
        policy.check({"one": []})


@pytest.mark.parametrize("limit", [SMALLEST, MAX_RESULT, LARGEST])
def test_any_limit_between_may_be_named(limit: int) -> None:
    Policy({"one": ToolPolicy(Tier.AUTO, max_result=limit)}).check({"one": []})
