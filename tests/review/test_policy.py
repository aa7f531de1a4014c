"""What the policy says of a call, and what it refuses to be."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agent.review.errors import PolicyError
from agent.review.policy import Policy, Tier, ToolPolicy, seconds

ASK = ToolPolicy(Tier.ASK, why="It reaches somebody.")


def judged(entry: ToolPolicy, **args: Any) -> Tier:
    return Policy({"tool": entry}).judge("tool", args).tier


@pytest.mark.parametrize("tier", Tier)
def test_a_tool_is_judged_by_its_tier(tier: Tier) -> None:
    assert judged(ToolPolicy(tier)) is tier


def test_a_tool_that_no_entry_names_is_denied() -> None:
    assert Policy({}).judge("tool", {}).tier is Tier.DENY


@pytest.mark.parametrize("tier", [Tier.AUTO, Tier.LOG, Tier.DENY])
def test_only_what_is_asked_about_can_be_decided(tier: Tier) -> None:
    assert Policy({"tool": ToolPolicy(tier)}).judge("tool", {}).allowed == ()


def test_a_verdict_gives_the_reviewer_the_reason() -> None:
    assert Policy({"tool": ASK}).judge("tool", {}).why == "It reaches somebody."


def test_a_condition_that_holds_asks() -> None:
    assert judged(replace(ASK, when=lambda args: args["amount"] > 10), amount=11) is Tier.ASK


def test_a_condition_that_does_not_hold_lets_the_call_run() -> None:
    assert judged(replace(ASK, when=lambda args: args["amount"] > 10), amount=9) is Tier.AUTO


def test_a_condition_that_raises_asks() -> None:
    assert judged(replace(ASK, when=lambda args: args["missing"])) is Tier.ASK


def test_a_condition_never_frees_what_is_denied() -> None:
    assert judged(ToolPolicy(Tier.DENY, when=lambda _: False)) is Tier.DENY


def test_a_misspelt_entry_is_named_with_the_tools_there_are() -> None:
    with pytest.raises(PolicyError, match=r"snd_email.*send_email"):
        Policy({"snd_email": ASK}).check(["send_email"])


def test_an_unknown_decision_is_named() -> None:
    with pytest.raises(PolicyError, match="aprove"):
        Policy({"tool": replace(ASK, allowed=("aprove",))}).check(["tool"])


def test_asking_without_a_possible_decision_is_refused() -> None:
    with pytest.raises(PolicyError, match="allows no decision"):
        Policy({"tool": replace(ASK, allowed=())}).check(["tool"])


def test_answering_in_place_of_a_tool_with_effects_is_refused() -> None:
    with pytest.raises(PolicyError, match="respond"):
        Policy({"tool": replace(ASK, allowed=("respond",))}).check(["tool"])


def test_answering_in_place_of_a_tool_without_effects_is_fine() -> None:
    Policy({"tool": replace(ASK, allowed=("respond",), effects=False)}).check(["tool"])


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(PolicyError) as refused:
        Policy({"a": replace(ASK, allowed=()), "b": ASK}).check(["a"])
    assert len(refused.value.problems) == 2


VARIANTS = {
    "tier": replace(ASK, tier=Tier.LOG),
    "allowed": replace(ASK, allowed=("approve",)),
    "effects": replace(ASK, effects=False),
    "irreversible": replace(ASK, irreversible=True),
    "dangerous": replace(ASK, dangerous="to"),
    "idempotent": replace(ASK, idempotent=True),
    "precondition": replace(ASK, precondition="It is there."),
    "approve_by": replace(ASK, approve_by=timedelta(hours=2)),
    "execute_by": replace(ASK, execute_by=None),
    "when": replace(ASK, when=lambda _: True),
}


@pytest.mark.parametrize("other", VARIANTS.values(), ids=VARIANTS)
def test_the_version_changes_with_what_a_reviewer_relies_on(other: ToolPolicy) -> None:
    assert Policy({"tool": other}).version != Policy({"tool": ASK}).version


def test_the_version_changes_with_the_clocks_of_the_console() -> None:
    assert Policy({"tool": ASK}, approve_by=None).version != Policy({"tool": ASK}).version


def test_the_order_of_the_entries_does_not_change_the_version() -> None:
    log = ToolPolicy(Tier.LOG)
    assert Policy({"a": ASK, "b": log}).version == Policy({"b": log, "a": ASK}).version


def test_a_tool_keeps_its_own_clock() -> None:
    policy = Policy({}, approve_by=timedelta(hours=24))
    assert policy.approve_by_of(replace(ASK, approve_by=None)) is None
    assert policy.approve_by_of(ASK) == timedelta(hours=24)


def test_for_ever_has_no_seconds() -> None:
    assert (seconds(None), seconds(timedelta(minutes=1))) == (None, 60.0)
