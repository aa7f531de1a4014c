"""Patterns of files, tools and people: what they mean on RE2, and what is not taken."""

from __future__ import annotations

import re
import time

import pytest

from agent.review.patterns import MOST_WORK, PatternRefused, check, search


@pytest.mark.parametrize(
    ("pattern", "text", "found", "python"),
    [
        (r"^\d+$", "٣", False, True),
        (r"^\w+$", "é", False, True),
        (r"^\s$", "\N{NO-BREAK SPACE}", False, True),
        (r"^\s$", "\v", False, True),
        (r"é\b", "é", False, True),
        (r"a$", "a\n", False, True),
        (r"a\Z", "a", True, True),
        (r"a\Z", "a\n", False, False),
        (r"^[\u00e9\u0416]$", "é", True, True),
        (r"^[^\u00e9]$", "é", False, False),
        (r"^[\u4e00-\u9fa5]+$", "中文", True, True),
        (r"\\Z", r"\Z", True, True),
        (r"^[{,3}]$", ",", True, True),
        (r"^.$", "\n", False, False),
        (r"^.$", "😀", True, True),
        (r"(?i)^É$", "é", True, True),
        (r"^(?:a|b){2}$", "ab", True, True),
        ("", "", True, True),
    ],
)
def test_a_pattern_means_what_the_docstring_says(pattern: str, text: str, found: bool, python: bool) -> None:
    assert search(pattern, text) is found
    assert bool(re.search(pattern, text)) is python


@pytest.mark.parametrize(
    ("pattern", "text"), [(r"^\pL+$", "éЖ"), (r"^\p{Greek}$", "λ"), (r"^\x{1F600}\z", "😀")]
)
def test_what_only_re2_knows_is_found(pattern: str, text: str) -> None:
    assert search(pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", r"(a)\1", r"(?P<n>a)(?P=n)", "(?>a)", "a++", "(a)?(?(1)b|c)",
        "(?#c)a", "(?x)a", "(?a)a", "(?L)a", "a{,3}", "a{,}", "a{1001}", "(", "[", "*", r"\N", r"\ud83d\ude00", "\ud800",
        "a" * 10_001, "(?:" * 4_000, r"\pL{900}\pL{900}",
    ],
)  # fmt: skip
def test_what_is_not_taken_is_refused_with_a_remedy(pattern: str) -> None:
    for ask in (lambda: check(pattern), lambda: search(pattern, "a")):
        with pytest.raises(PatternRefused, match=r"Write|at most"):
            ask()


def test_half_of_a_surrogate_pair_in_a_text_is_searched_too() -> None:
    assert search("b$", "a\ud800b")


@pytest.mark.parametrize(
    "pattern", ["^(a|aa)+$", "(a+)+$", "(.*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y"]
)
def test_a_pattern_that_would_backtrack_for_ever_is_answered_at_once(pattern: str) -> None:
    started = time.process_time()
    assert not search(pattern, "a" * 1_000_000 + "!")
    assert time.process_time() - started < 2


def test_a_search_that_is_too_much_work_is_refused() -> None:
    pattern = "(?:a?){1000}b"
    assert not search(pattern, "a" * 1_000)
    with pytest.raises(PatternRefused, match="smaller repetitions"):
        search(pattern, "a" * (MOST_WORK // 1_000))
