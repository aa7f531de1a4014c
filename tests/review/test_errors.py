"""What is refused is refused in words that say what to do."""

from __future__ import annotations

import re

import pytest

from agent.review import errors
from agent.review.errors import ReviewError

EXAMPLES: list[ReviewError] = [
    errors.UnknownThread("t"),
    errors.UnknownAgent("a", ["mail"]),
    errors.UnknownAgent("", []),
    errors.UnknownAgent("a", []),
    errors.UnknownModel("m", ["demo"]),
    errors.ThreadBusy("t"),
    errors.ThreadStuck("t"),
    errors.ThreadArchived("t"),
    errors.OutcomeUnknown("t", "send_email"),
    errors.ReviewPending("t", "r"),
    errors.NoPendingReview("t"),
    errors.NoPendingReview("t", "The last one, r, was ended by ana."),
    errors.ReviewIdNeeded("t", ["r", "s"]),
    errors.AlreadyDecided("r", "approve", "ana", "12:03"),
    errors.ReviewExpired("r", "12:03"),
    errors.ReviewChanged("It is not what was on your screen."),
    errors.ArgumentsRefused(["to: expected text, got 3"]),
    errors.PayloadUnreadable(["it is not JSON"]),
    errors.NothingToRetry("t"),
    errors.NothingToStop("t"),
    errors.NothingToSettle("t", "c"),
    errors.StillAlive("send_email", 7),
    errors.LedgerUnavailable("database is locked"),
    errors.LedgerUnavailable("attempt to write a readonly database"),
    errors.CheckpointsUnavailable("database disk image is malformed"),
]
REMEDY = re.compile(
    r"[.!] (Check|Use|Wait|Settle|Decide|Open|Name|Ask|Look|Fix|Send|There is nothing to stop|End|Free|Allow|Restore) ?[^.]*\.?"
)


def classes() -> set[str]:
    found, waiting = set(), [ReviewError]
    while waiting:
        children = waiting.pop().__subclasses__()
        found |= {child.__name__ for child in children if child.__module__ == errors.__name__}
        waiting += children
    return found


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: error.code)
def test_a_message_is_whole_sentences(error: ReviewError) -> None:
    assert re.fullmatch(r"[A-Z0-9“a-z].*[.]|.*: [^.]+", str(error), re.S)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: error.code)
def test_a_message_ends_in_a_remedy(error: ReviewError) -> None:
    assert REMEDY.search(str(error)), str(error)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: error.code)
def test_the_code_is_the_name_of_the_class(error: ReviewError) -> None:
    assert error.code == type(error).__name__


def test_the_tree_at_the_head_of_the_module_names_every_error() -> None:
    tree = (errors.__doc__ or "").partition("ReviewError")[2].partition("Every message")[0]
    assert set(re.findall(r"[A-Z]\w+", tree)) == classes()


def test_who_came_too_late_is_told_who_decided_what_and_when() -> None:
    told = str(errors.AlreadyDecided("r-12", "reject", "ana", "12:03"))
    assert all(word in told for word in ("r-12", "reject", "ana", "12:03"))


def test_every_faulty_setting_is_on_a_line_of_its_own() -> None:
    assert str(errors.SettingsError(["A: use b", "C: use d"])).count("\n") == 2
