"""What a reviewer types again before an irreversible call can be approved."""

from __future__ import annotations

import pytest

from agent.review.policy import Policy, Tier, ToolPolicy
from agent.review.retype import is_typed, to_type

POLICY = Policy(
    {
        "send": ToolPolicy(Tier.ASK, irreversible=True, dangerous="to"),
        "drop": ToolPolicy(Tier.ASK, irreversible=True),
        "rename": ToolPolicy(Tier.ASK, dangerous="to"),
    }
)


def test_it_is_the_dangerous_value_as_it_is_shown() -> None:
    assert to_type(POLICY, "send", {"to": "a@b.c", "body": "x"}) == "a@b.c"
    assert to_type(POLICY, "send", {"to": 1_000}) == "1000"


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("send", {}),
        ("send", None),
        ("drop", {"to": "x"}),
        ("rename", {"to": "x"}),
        ("unheard of", {"to": "x"}),
    ],
)
def test_nothing_is_typed_where_nothing_irreversible_has_a_dangerous_value(
    tool: str, args: dict[str, str] | None
) -> None:
    assert to_type(POLICY, tool, args) is None
    assert is_typed(POLICY, tool, args, "")


@pytest.mark.parametrize("typed", ["", "a@b.d", "A@b.c", " a@b.c", "a@b.c\u200b"])
def test_only_the_very_same_characters_count(typed: str) -> None:
    assert not is_typed(POLICY, "send", {"to": "a@b.c"}, typed)
    assert is_typed(POLICY, "send", {"to": "a@b.c"}, "a@b.c")
