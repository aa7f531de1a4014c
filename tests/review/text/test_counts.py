"""A count agrees with its noun and its verb."""

from __future__ import annotations

import pytest

from agent.review.decisions import check_decisions
from agent.review.errors import InvalidDecision
from agent.review.text.counts import are, counted
from agent.review.text.secrets import MASK, masked
from tests.review.test_decisions import AGENT, APPROVE, SECRET, mail


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 copies are"), (1, "1 copy is"), (2, "2 copies are"), (1_204, "1,204 copies are")],
)
def test_one_is_singular_and_all_else_plural(count: int, said: str) -> None:
    assert f"{counted(count, 'copy', 'copies')} {are(count)}" == said


def test_a_regular_plural_needs_no_word_of_its_own() -> None:
    assert [counted(count, "event") for count in (1, 3)] == ["1 event", "3 events"]


@pytest.mark.parametrize(
    ("waiting", "needs"), [(1, "needs 1 decision, one per"), (2, "needs 2 decisions, one per")]
)
def test_a_refusal_counts_the_decisions_it_needs(waiting: int, needs: str) -> None:
    with pytest.raises(InvalidDecision, match=needs):
        check_decisions([APPROVE] * 3, [mail()] * waiting, AGENT, SECRET)


def test_a_mask_of_one_character_is_a_mask() -> None:
    found = masked({"password": "x"})
    assert found == {"password": "…[1 character masked]"}
    assert MASK.search(found["password"])
    assert masked(found) == found
