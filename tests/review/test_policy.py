"""What the policy says of a call, and what it refuses to be."""

from __future__ import annotations

import inspect
import itertools
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agent.review.conditions import Condition
from agent.review.errors import PolicyError
from agent.review.policy import Case, Policy, Tier, ToolPolicy, seconds
from agent.review.preconditions import Precondition

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


def outside(args: Any) -> bool:
    return not args["to"].endswith("@example.com")


OUTSIDE = {"properties": {"to": {"not": {"pattern": "@example[.]com$"}}}, "required": ["to"]}


@pytest.mark.parametrize("when", [outside, OUTSIDE], ids=["predicate", "schema"])
def test_only_calls_that_meet_the_condition_are_asked_about(when: Condition) -> None:
    entry = ToolPolicy(Tier.AUTO, cases=(Case(Tier.ASK, when, why="It leaves the company."),))
    assert judged(entry, to="bob@example.com") is Tier.AUTO
    policy = Policy({"tool": entry})
    verdict = policy.judge("tool", {"to": "bob@example.org"})
    assert (verdict.tier, verdict.why) == (Tier.ASK, "It leaves the company.")
    assert verdict.allowed == entry.allowed


def raises(_: Any) -> bool:
    raise KeyError("to")


BROKEN: list[Condition] = [
    raises,
    {"$ref": "https://example.com/elsewhere.json"},
    {"$ref": "#/kept", "kept": {"properties": {"to": {"pattern": "(?=a)"}}}},
]


@pytest.mark.parametrize("when", BROKEN, ids=["predicate", "schema", "pattern"])
@pytest.mark.parametrize("tier", Tier)
def test_a_condition_that_cannot_be_evaluated_counts_as_met(tier: Tier, when: Condition) -> None:
    strictest = Tier.DENY if tier is Tier.DENY else Tier.ASK
    assert judged(ToolPolicy(Tier.AUTO, cases=(Case(tier, when),)), to="a") is strictest


def test_a_condition_that_cannot_be_evaluated_frees_nothing_that_is_denied() -> None:
    assert judged(ToolPolicy(Tier.DENY, cases=(Case(Tier.AUTO, raises),))) is Tier.DENY


@pytest.mark.parametrize("said", list(itertools.product(Tier, repeat=3)), ids="-".join)
def test_the_strictest_of_all_that_is_said_counts(said: tuple[Tier, Tier, Tier]) -> None:
    base, first, second = said
    entry = ToolPolicy(base, cases=(Case(first, lambda _: True), Case(second, {})))
    order = [Tier.AUTO, Tier.LOG, Tier.ASK, Tier.DENY]
    assert order.index(judged(entry)) == max(map(order.index, said))


def test_a_tier_may_be_written_as_text() -> None:
    assert judged(ToolPolicy("ask")) is Tier.ASK  # type: ignore[arg-type]


def test_a_misspelt_entry_is_named_with_the_tools_there_are() -> None:
    with pytest.raises(PolicyError, match=r"snd_email.*send_email"):
        Policy({"snd_email": ASK}).check({"send_email": ()})


def test_an_unknown_decision_is_named() -> None:
    with pytest.raises(PolicyError, match="aprove"):
        Policy({"tool": replace(ASK, allowed=("aprove",))}).check({"tool": ()})


def test_asking_without_a_possible_decision_is_refused() -> None:
    with pytest.raises(PolicyError, match="allows no decision"):
        Policy({"tool": replace(ASK, allowed=())}).check({"tool": ()})


def test_answering_in_place_of_a_tool_with_effects_is_refused() -> None:
    with pytest.raises(PolicyError, match="respond"):
        Policy({"tool": replace(ASK, allowed=("respond",))}).check({"tool": ()})


def test_answering_in_place_of_a_tool_without_effects_is_fine() -> None:
    Policy({"tool": replace(ASK, allowed=("respond",), effects=False)}).check({"tool": ()})


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (ToolPolicy("aks"), "unknown tier 'aks'; use auto, log, ask, deny"),  # type: ignore[arg-type]
        (ToolPolicy(Tier.AUTO, cases=(Case("aks", {}),)), "unknown tier 'aks'"),  # type: ignore[arg-type]
        (ToolPolicy(Tier.AUTO, cases=(Case(Tier.ASK, {"type": "thing"}),)), "this is not a JSON Schema"),
        *(
            (ToolPolicy(Tier.AUTO, cases=(Case(Tier.ASK, schema),)), "Write it without lookaround")
            for schema in (
                {"properties": {"to": {"pattern": "(?!a)"}}},
                {"properties": {"to": {"format": "email", "not": {"pattern": r"(a)\1"}}}},
                {"patternProperties": {"a(?=b)": {}}, "unevaluatedProperties": False},
                {"propertyNames": {"pattern": "(?<=a)b"}},
            )
        ),
        (ToolPolicy(Tier.AUTO, cases=(Case(Tier.ASK, "to"),)), "neither a JSON Schema"),  # type: ignore[arg-type]
        (ToolPolicy(Tier.AUTO, allowed=(), cases=(Case(Tier.LOG, {}),)), "allows no decision"),
        (replace(ASK, allowed=("",)), "unknown decision ''"),
        (replace(ASK, allowed="approve"), "write a tuple"),  # type: ignore[arg-type]
        (replace(ASK, irreversible=True, undo="Somehow."), "only one of these"),
        (replace(ASK, on_expiry="stop"), "unknown on_expiry 'stop'; use go_on, end_turn"),  # type: ignore[arg-type]
        (
            replace(ASK, irreversible=True, dangerous="too"),
            "'too', which is not one of its arguments; it has to, body",
        ),
    ],
)
def test_what_an_entry_cannot_mean_is_said(entry: ToolPolicy, said: str) -> None:
    with pytest.raises(PolicyError) as refused:
        Policy({"tool": entry}).check({"tool": ("to", "body")})
    assert said in str(refused.value)
    assert "tests.review.test_policy, line" in str(refused.value)


def test_a_dangerous_argument_that_the_tool_has_is_fine() -> None:
    Policy({"tool": replace(ASK, irreversible=True, dangerous="to")}).check({"tool": ("to", "body")})


def test_a_problem_names_the_line_of_its_entry() -> None:
    entry, line = ToolPolicy(Tier.ASK, allowed=()), inspect.stack()[0].lineno
    with pytest.raises(PolicyError) as refused:
        Policy({"tool": entry}).check({"tool": ()})
    assert f"tool ({__name__}, line {line}): " in str(refused.value)


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(PolicyError) as refused:
        Policy({"a": replace(ASK, allowed=()), "b": ASK}).check({"a": ()})
    assert len(refused.value.problems) == 2


VARIANTS = {
    "tier": replace(ASK, tier=Tier.LOG),
    "allowed": replace(ASK, allowed=("approve",)),
    "effects": replace(ASK, effects=False),
    "irreversible": replace(ASK, irreversible=True),
    "dangerous": replace(ASK, dangerous="to"),
    "idempotent": replace(ASK, idempotent=True),
    "precondition": replace(ASK, precondition=Precondition("It is there.", lambda _: {}, lambda _: "")),
    "approve_by": replace(ASK, approve_by=timedelta(hours=2)),
    "execute_by": replace(ASK, execute_by=None),
    "on_expiry": replace(ASK, on_expiry="end_turn"),
    "a case": replace(ASK, cases=(Case(Tier.DENY, {}),)),
    "a schema": replace(ASK, cases=(Case(Tier.DENY, {"maxProperties": 1}),)),
}


@pytest.mark.parametrize("other", VARIANTS.values(), ids=VARIANTS)
def test_the_version_changes_with_what_a_reviewer_relies_on(other: ToolPolicy) -> None:
    assert Policy({"tool": other}).version != Policy({"tool": ASK}).version


def test_the_version_changes_with_the_clocks_of_the_console() -> None:
    assert Policy({"tool": ASK}, approve_by=None).version != Policy({"tool": ASK}).version


def test_what_happens_on_expiry_is_set_for_all_tools_or_for_one() -> None:
    ending, going_on = replace(ASK, on_expiry="end_turn"), replace(ASK, on_expiry="go_on")
    assert not Policy({"tool": ASK}).ends_turn("tool")
    assert Policy({"tool": ending}).ends_turn("tool")
    assert Policy({"tool": ASK}, on_expiry="end_turn").ends_turn("tool")
    assert not Policy({"tool": going_on}, on_expiry="end_turn").ends_turn("tool")
    assert Policy({}, on_expiry="end_turn").ends_turn("another")
    with pytest.raises(PolicyError, match="unknown on_expiry 'stop'"):
        Policy({}, on_expiry="stop").check({})  # type: ignore[arg-type]


def test_the_order_of_the_entries_does_not_change_the_version() -> None:
    log = ToolPolicy(Tier.LOG)
    assert Policy({"a": ASK, "b": log}).version == Policy({"b": log, "a": ASK}).version


def test_a_tool_keeps_its_own_clock() -> None:
    policy = Policy({}, approve_by=timedelta(hours=24))
    assert policy.approve_by_of(replace(ASK, approve_by=None)) is None
    assert policy.approve_by_of(ASK) == timedelta(hours=24)


def test_for_ever_has_no_seconds() -> None:
    assert (seconds(None), seconds(timedelta(minutes=1))) == (None, 60.0)
