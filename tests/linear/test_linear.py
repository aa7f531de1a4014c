"""Twice the text takes at most two and a half times as long, for every function that reads outside text.

Up to a quarter of a million characters; `python -m tests.linear` goes on to a million.
"""

from __future__ import annotations

import pytest

from tests.linear.growth import CASES, MOST, SIZES, Timed, ratio, worst


@pytest.mark.parametrize("name", CASES)
def test_twice_the_text_takes_twice_the_time(name: str) -> None:
    found, size = worst(name, SIZES[1:3])
    assert found <= MOST, f"{size:,} characters take {found:.1f} times as long as half of them"


def test_what_is_quadratic_is_noticed() -> None:
    def quadratic(text: str) -> int:
        return sum(text.count("b") for _ in range(len(text) // 300))

    smaller, larger = (Timed(quadratic, "a" * size) for size in SIZES[1:3])
    smaller.again()
    assert ratio(smaller, larger) > MOST
