"""Pages that follow the record leave the server its time for what people do."""

from __future__ import annotations

from pages.parts.watch import Allowance


class Clock:
    """Seconds, as the test sets them."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_no_more_than_the_share_goes_to_pages_drawn_by_themselves() -> None:
    clock = Clock()
    allowance = Allowance(share=0.1, most=1.0, clock=clock)
    granted = 0
    for tick in range(1, 10_001):
        clock.now = tick / 100  # a hundred pages a second ask for it
        granted += allowance.grants(0.05)
    assert 0.1 * 100 <= granted * 0.05 <= 0.1 * 100 + 1.0 + 0.05


def test_what_was_saved_while_nothing_happened_is_there_at_once() -> None:
    clock = Clock()
    allowance = Allowance(share=0.1, most=1.0, clock=clock)
    clock.now = 1_000.0
    granted = [allowance.grants(0.25)]
    for _ in range(5):
        clock.now += 0.25
        granted.append(allowance.grants(0.25))
    # A second of what was saved, and the share of the time that has passed.
    assert granted == [True] * 5 + [False]
    clock.now += 2.0
    assert allowance.grants(0.25)


def test_one_page_at_a_time_is_drawn_by_itself() -> None:
    clock = Clock()
    allowance = Allowance(share=0.1, most=1.0, clock=clock)
    assert allowance.grants(0.25)
    clock.now += 0.24
    assert not allowance.grants(0.25)
    clock.now += 0.01
    assert allowance.grants(0.25)


def test_a_page_that_takes_long_is_drawn_too_and_less_often() -> None:
    clock = Clock()
    allowance = Allowance(share=0.1, most=1.0, clock=clock)
    assert allowance.grants(60.0)
    clock.now = 589.0
    assert not allowance.grants(60.0)
    clock.now = 591.0
    assert allowance.grants(60.0)
