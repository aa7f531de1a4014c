"""What a call depends on: noted when it is proposed, compared later, and never in the way of seeing the call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agent.review.preconditions import ChangedFact, Precondition, Since, noted, since

SHELF: dict[str, Any] = {}


def read(_: Mapping[str, Any]) -> dict[str, Any]:
    if "broken" in SHELF:
        raise OSError("gone")
    return dict(SHELF)


def fault(facts: Mapping[str, Any]) -> str:
    return "" if facts["stock"] > 0 else "No copy is left."


STOCK = Precondition("A copy is on the shelf.", read, fault)


@pytest.fixture(autouse=True)
def shelf() -> None:
    SHELF.clear()
    SHELF["stock"] = 1


def test_a_tool_without_a_precondition_notes_nothing_and_nothing_changes() -> None:
    assert noted(None, {}) == {}
    assert since(None, {}, {}) == Since()


def test_what_is_as_it_was_is_not_mentioned() -> None:
    assert since(STOCK, {}, noted(STOCK, {})) == Since()


def test_a_fact_that_changed_is_told_as_it_was_and_as_it_is() -> None:
    notes = noted(STOCK, {})
    SHELF["stock"] = 0
    assert since(STOCK, {}, notes) == Since((ChangedFact("stock", 1, 0),), "No copy is left.")


def test_a_fact_that_came_or_went_is_told() -> None:
    notes = noted(STOCK, {}) | {"facts": {"stock": 1, "reserved": 2}}
    SHELF["waiting"] = 3
    assert since(STOCK, {}, notes).changed == (
        ChangedFact("reserved", 2, None),
        ChangedFact("waiting", None, 3),
    )


def test_a_call_that_would_have_failed_from_the_start_is_told_to_fail() -> None:
    SHELF["stock"] = 0
    assert since(STOCK, {}, noted(STOCK, {})) == Since(fault="No copy is left.")


def test_facts_that_could_not_be_read_then_are_said_to_be_unknown() -> None:
    SHELF["broken"] = True
    notes = noted(STOCK, {})
    assert notes == {"facts_unread": "OSError"}
    SHELF.pop("broken")
    assert since(STOCK, {}, notes) == Since(unread="OSError")


def test_facts_that_cannot_be_read_now_change_nothing_that_was_noted() -> None:
    notes = noted(STOCK, {})
    SHELF["broken"] = True
    assert since(STOCK, {}, notes) == Since(unread="OSError")


@pytest.mark.parametrize("value", [object(), float("nan"), "\ud800"], ids=["object", "nan", "half"])
def test_facts_that_no_record_can_hold_are_not_noted(value: Any) -> None:
    SHELF["odd"] = value
    assert list(noted(STOCK, {})) == ["facts_unread"]


def test_a_rule_that_raises_says_that_nobody_can_tell() -> None:
    notes = noted(STOCK, {})
    SHELF["stock"] = None
    assert since(STOCK, {}, notes).fault == "Whether it would succeed cannot be told (TypeError)."
