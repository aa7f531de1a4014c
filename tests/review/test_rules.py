"""Remembered rules: what can be made into one, and that it allows exactly what it was made for."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent.review import rules
from agent.review.actions import Action, ActionState, Key
from agent.review.agents import Agent
from agent.review.errors import RuleRefused
from agent.review.events import Event, EventKind, UnsealedEvent, instant, seal
from agent.review.policy import Case, Policy, Tier, ToolPolicy
from agent.review.repeats import same_call
from agent.review.rules import CallForRules, Rule, RuleEnd, Why
from agent.review.screening import Proposal, screen
from tests.review.test_decisions import schema_tool

NOW = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
ANY = {"type": "object"}
ARGS = {"path": "notes/a.txt", "content": "hi", "mode": 1}


def an_agent(schema: dict[str, Any] = ANY, **policy: Any) -> Agent:
    tools = [schema_tool("write", schema), schema_tool("read", ANY)]
    policies = {"write": ToolPolicy(**{"tier": Tier.ASK, **policy}), "read": ToolPolicy(Tier.AUTO)}
    return Agent("files", "Files", tools, Policy(policies), "")


def an_action(args: dict[str, Any] | None = None, tool: str = "write") -> Action:
    return Action(
        key=Key("t-1", "m-1", "c1"),
        agent="files",
        tool=tool,
        args=ARGS if args is None else args,
        proposed_tool=tool,
        proposed=args,
        tier="ask",
        why="",
        summary="",
        allowed=("approve",),
        policy_version="1",
        state=ActionState.PENDING,
        position=0,
    )


def a_rule(args: dict[str, Any] | None = None, *free: str, **changes: Any) -> Rule:
    choices = {"scope": "agent", "lasting": "15 minutes", "by": "ana", "now": NOW, **changes}
    agent = choices.pop("agent", None) or an_agent()
    return rules.make(agent, an_action(args), rule_id="rule-1", free=free, **choices)


def whys(rule: Rule, args: dict[str, Any]) -> dict[str, Why]:
    return {one.subject: one.why for one in rules.differences(rule, CallForRules(args))}


# What a rule allows.

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.0, -0.0, 1.0, 2.0, 1.5])
    | st.text("aA1а \u200b", max_size=3)  # with a Cyrillic а and a zero width space
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "A", "b"]), inner, max_size=2)
    ),
    max_leaves=5,
)
arguments = st.dictionaries(st.sampled_from(["to", "To", "t\u043e", "body", "n"]), values, max_size=4)


def same(one: Any, other: Any) -> bool:
    """Equal to the type, written out without the code under test."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return bool(one == other)


@given(arguments, arguments, st.data())
def test_a_rule_allows_a_call_exactly_if_each_bound_argument_is_the_same_and_no_other_is_there(
    made_from: dict[str, Any], call: dict[str, Any], data: st.DataObject
) -> None:
    free = data.draw(st.sets(st.sampled_from(sorted(made_from)))) if made_from else set()
    assume(not made_from or set(made_from) - free)
    rule = a_rule(made_from, *free)
    # Take over some values, or most pairs would differ everywhere.
    call |= (
        {name: made_from[name] for name in data.draw(st.sets(st.sampled_from(sorted(made_from))))}
        if made_from
        else {}
    )
    bound = set(made_from) - free
    expected = set(call) <= set(made_from) and all(
        name in call and same(call[name], made_from[name]) for name in bound
    )
    assert (rules.differences(rule, CallForRules(call)) == ()) == expected


def swapped(text: str) -> list[str]:
    """The text with one letter in the other case, and with one that passes for another."""
    cased = [text[:n] + c.swapcase() + text[n + 1 :] for n, c in enumerate(text) if c.swapcase() != c]
    fakes = {"a": "а", "e": "е", "o": "о", "c": "с", "p": "р", "1": "l", "0": "O", "-": "‐", ".": "․"}
    faked = [text[:n] + fakes[c] + text[n + 1 :] for n, c in enumerate(text) if c in fakes]
    spaced = [
        text[:n] + space + text[n:] for n in range(len(text) + 1) for space in (" ", "\u00a0", "\u200b", "\n")
    ]
    return [one for one in [*cased, *faked, *spaced] if one != text]


def twisted(value: Any) -> list[Any]:
    """Everything that a careless comparison would take for this value."""
    found: list[Any] = [[value], {"value": value}, None if value is not None else ""]
    match value:
        case bool():
            found += [int(value), float(value), str(value).lower(), str(value), not value]
        case int():
            found += [float(value), str(value), f" {value}", value + 1]
            found += [bool(value)] if value in (0, 1) else []
        case float():
            found += [str(value), value + 0.5, *([int(value)] if value.is_integer() else []), -value]
        case str():
            found += [*swapped(value), value.encode().decode("latin-1") + "\x00"]
            found += [int(value)] if value.isascii() and value.isdigit() else []
        case list():
            found += [
                [*value, None],
                value[:-1] if value else [[]],
                *([value[::-1]] if value != value[::-1] else []),
            ]
            found += [
                [*value[:n], twist, *value[n + 1 :]]
                for n, one in enumerate(value)
                for twist in twisted(one)[:4]
            ]
        case dict():
            found += [
                {**value, "extra": None},
                *({k: v for k, v in value.items() if k != name} for name in value),
            ]
            found += [{**value, name: twist} for name, one in value.items() for twist in twisted(one)[:4]]
    return [one for one in found if not same(one, value)]


DEFAULTS = {"defaults": ["args.mode", 'args["odd key"]']}


@pytest.mark.parametrize(
    ("args", "free"),
    [
        ({"path": "a", "mode": 1}, ["path"]),
        ({"path": "a", "content": "b", "mode": 1}, ["path", "content"]),
        ({"path": "a", "mode": 1, "odd key": 2}, ["path"]),
        ({"path": "a", "mode": 1}, ["path", "mode"]),
        ({"mode": 1, "odd key": 2}, ["mode"]),
        ({"path": "a"}, ["path"]),
    ],
    ids=str,
)
def test_a_rule_that_leaves_free_all_that_the_call_gave_is_refused_whatever_defaults_stay_bound(
    args: dict[str, Any], free: list[str]
) -> None:
    action = replace(an_action(args), notes=DEFAULTS)
    with pytest.raises(RuleRefused, match=r"would allow anything.* Leave (at least one|each) as it is"):
        remembered(action, *free)


@pytest.mark.parametrize(
    ("args", "free"),
    [
        ({"path": "a", "content": "b", "mode": 1}, ["path"]),
        ({"path": "a", "mode": 1}, ["mode"]),
        ({"path": "a", "mode": 1}, []),
        ({"mode": 1}, []),
        ({}, []),
    ],
    ids=str,
)
def test_a_rule_that_binds_something_the_call_gave_is_made(args: dict[str, Any], free: list[str]) -> None:
    rule = remembered(replace(an_action(args), notes=DEFAULTS), *free)
    assert set(rule.bound) == set(args) - set(free)


def test_a_default_that_the_call_gave_itself_counts_as_given() -> None:
    agent = an_agent(COERCING)
    for args, made in (({"to": "a"}, False), ({"to": "a", "n": 1}, True)):
        (call,) = screen(agent, "m-1", [Proposal("c1", "write", args)])
        action = call.as_action("t-1", "files", 0)
        if made:
            assert remembered(action, "to", agent=agent).bound == {"n": 1}
        else:
            with pytest.raises(RuleRefused, match="Leave at least one as it is: to"):
                remembered(action, "to", agent=agent)


def test_after_an_edit_to_another_tool_its_arguments_count_as_given() -> None:
    action = replace(an_action({"path": "a", "mode": 1}), proposed_tool="read", notes=DEFAULTS)
    assert remembered(action, "path").bound == {"mode": 1}


def remembered(action: Action, *free: str, agent: Agent | None = None) -> Rule:
    choices: Any = {"scope": "agent", "lasting": "15 minutes", "by": "ana", "now": NOW}
    return rules.make(agent or an_agent(), action, rule_id="rule-1", free=free, **choices)


@settings(max_examples=60)
@given(st.text("ab0.-e A", max_size=5) | values, st.booleans())
def test_nothing_that_passes_for_a_bound_value_is_taken_for_it(value: Any, through_the_agent: bool) -> None:
    agent, args = an_agent(), {"to": value, "body": "hi"}
    rule = a_rule(args, "body")
    for twist in twisted(value):
        call = {"to": twist, "body": "other"}
        if through_the_agent:
            (screened,) = screen(agent, "m-1", [Proposal("c1", "write", call)], remembered=[rule])
            assert (screened.fate, screened.rule_id) == ("ask", None), twist
        else:
            assert whys(rule, call) == {"to": Why.OTHER_VALUE}, twist


@pytest.mark.parametrize("name", ["To", "tо", "to ", "cc", ""])
def test_an_argument_under_another_name_is_neither_the_bound_one_nor_allowed_beside_it(name: str) -> None:
    rule = a_rule({"to": "a"})
    assert whys(rule, {name: "a"}) == {"to": Why.MISSING, name: Why.EXTRA}
    assert whys(rule, {"to": "a", name: "a"}) == {name: Why.EXTRA}


def test_the_order_of_keys_means_nothing_and_that_of_lists_all() -> None:
    rule = a_rule({"to": [{"a": 1, "b": 2}, 3]})
    assert whys(rule, {"to": [{"b": 2, "a": 1}, 3]}) == {}
    assert whys(rule, {"to": [3, {"a": 1, "b": 2}]}) == {"to": Why.OTHER_VALUE}


def test_a_free_argument_may_have_any_value_or_be_absent() -> None:
    rule = a_rule(ARGS, "content")
    assert whys(rule, {**ARGS, "content": {"any": [1]}}) == {}
    assert whys(rule, {"path": "notes/a.txt", "mode": 1}) == {}


@pytest.mark.parametrize("changes", [{"agent": "other"}, {"tool": "read"}])
def test_a_rule_says_nothing_of_another_agents_or_tools_calls(changes: dict[str, Any]) -> None:
    rule = replace(a_rule(), **changes)
    assert rules.allowing([rule], an_agent(), "write", CallForRules(ARGS)) is None


# What is decided when the call is proposed.

COERCING = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "n": {"type": "integer", "default": 1}},
    "required": ["to"],
}


def screened(args: Any, *remembered: Rule, agent: Agent | None = None) -> tuple[str, str | None]:
    (call,) = screen(agent or an_agent(), "m-1", [Proposal("c1", "write", args)], remembered=remembered)
    return call.fate, call.rule_id


def test_an_allowed_call_runs_with_the_rules_name_on_it() -> None:
    (call,) = screen(an_agent(), "m-1", [Proposal("c1", "write", ARGS)], remembered=[a_rule()])
    assert (call.fate, call.rule_id, call.tier) == ("run", "rule-1", "ask")


def test_defaults_count_as_arguments() -> None:
    agent = an_agent(COERCING)
    rule = a_rule({"to": "a", "n": 1}, agent=agent)
    assert screened({"to": "a"}, rule, agent=agent) == ("run", "rule-1")
    assert screened({"to": "a", "n": 2}, rule, agent=agent) == ("ask", None)


@pytest.mark.parametrize("odd", [{"to": "a", "extra": 1}, {"to": "a", "n": "1"}, {"to": "a", "n": 1.0}])
def test_a_call_that_the_schema_had_to_change_is_asked_about(odd: dict[str, Any]) -> None:
    agent = an_agent(COERCING)
    assert screened(odd, a_rule({"to": "a", "n": 1}, agent=agent), agent=agent)[0] != "run"


def test_a_rule_allows_nothing_once_the_tools_arguments_are_others() -> None:
    changed = an_agent({"type": "object", "description": "now it also notifies everybody"})
    assert screened(ARGS, a_rule()) == ("run", "rule-1")
    assert screened(ARGS, a_rule(), agent=changed) == ("ask", None)
    assert "not those the rule was made for" in rules.disabled(a_rule(), changed)


@pytest.mark.parametrize(
    "policy",
    [{"irreversible": True}, {"remember": False}, {"dangerous": "content"}, {"allowed": ("reject",)}],
    ids=str,
)
def test_a_rule_allows_nothing_that_the_policy_came_to_forbid(policy: dict[str, Any]) -> None:
    assert screened(ARGS, a_rule(ARGS, "content"), agent=an_agent(**policy)) == ("ask", None)


def test_a_denied_tool_stays_denied() -> None:
    assert screened(ARGS, a_rule(), agent=an_agent(tier=Tier.DENY)) == ("answered", None)


def test_a_call_that_runs_anyway_uses_no_rule() -> None:
    assert screened(ARGS, a_rule(), agent=an_agent(tier=Tier.LOG)) == ("run", None)


def test_what_a_person_rejected_in_this_turn_is_asked_about_whatever_is_remembered() -> None:
    proposal, rejected = Proposal("c1", "write", ARGS), {same_call("write", ARGS): 1}
    (call,) = screen(an_agent(), "m-1", [proposal], rejected=rejected, remembered=[a_rule()])
    assert (call.fate, call.rule_id) == ("ask", None)


def test_a_call_that_only_a_case_of_the_policy_asks_about_can_be_remembered() -> None:
    agent = an_agent(tier=Tier.LOG, cases=(Case(Tier.ASK, lambda args: args["path"] == "notes/a.txt"),))
    assert screened(ARGS, a_rule(agent=agent), agent=agent) == ("run", "rule-1")


# Where and when it holds.


def at(**later: float) -> str:
    return instant(NOW + timedelta(**later))


def test_a_rule_holds_from_its_making_until_its_end() -> None:
    rule = a_rule()
    assert [rules.in_force(rule, "t-9", at(minutes=n)) for n in (-1, 0, 14.99, 15, 16)] == [
        False,
        True,
        True,
        False,
        False,
    ]


def test_a_rule_of_one_thread_holds_there_alone() -> None:
    rule = a_rule(scope="thread")
    assert [rules.in_force(rule, name, at()) for name in ("t-1", "t-2")] == [True, False]


@pytest.mark.parametrize("end", RuleEnd)
def test_a_rule_that_has_ended_holds_at_no_time(end: RuleEnd) -> None:
    assert not rules.in_force(replace(a_rule(), ended=end), "t-1", at())


@pytest.mark.parametrize(
    ("lasting", "hours", "ends"),
    [
        ("15 minutes", 0, "2030-01-01T12:15:00.000000Z"),
        ("30 days", 0, "2030-01-31T12:00:00.000000Z"),
        ("today", 0, "2030-01-02T00:00:00.000000Z"),
        ("today", 9, "2030-01-01T15:00:00.000000Z"),
        ("today", -10, "2030-01-01T10:00:00.000000Z"),
    ],
)
def test_a_rule_always_ends_and_today_is_the_persons_own(lasting: str, hours: int, ends: str) -> None:
    moment = NOW if hours >= 0 else NOW - timedelta(hours=12)
    zone = timezone(timedelta(hours=hours))
    assert a_rule(lasting=lasting, now=moment.astimezone(zone)).expires_at == ends


# What no rule is made of.


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"irreversible": True}, "cannot be undone"),
        ({"remember": False}, "every time"),
        ({"allowed": ("respond",), "effects": False}, "not a call to approve"),
        ({"tier": Tier.LOG}, "does not ask"),
        ({"tier": Tier.DENY}, "does not ask"),
    ],
)
def test_the_policy_says_what_is_never_remembered(policy: dict[str, Any], said: str) -> None:
    with pytest.raises(RuleRefused, match=said):
        a_rule(agent=an_agent(**policy))


def test_an_agent_that_gates_itself_asks_whatever_is_remembered() -> None:
    with pytest.raises(RuleRefused, match="gates itself"):
        a_rule(agent=replace(an_agent(), gates_itself=True))


@pytest.mark.parametrize("free", [("nothing",), ("path", "content", "mode"), ("Path",)])
def test_what_is_free_is_chosen_among_the_calls_own_arguments_and_never_all_of_them(
    free: tuple[str, ...],
) -> None:
    with pytest.raises(RuleRefused):
        a_rule(ARGS, *free)


def test_the_dangerous_argument_is_never_free() -> None:
    with pytest.raises(RuleRefused, match="dangerous"):
        a_rule(ARGS, "path", agent=an_agent(dangerous="path"))


@pytest.mark.parametrize("odd", [{"scope": "everybody"}, {"lasting": "for ever"}])
def test_a_scope_or_a_time_there_is_none_of_is_refused(odd: dict[str, Any]) -> None:
    with pytest.raises(RuleRefused, match="Use one of"):
        a_rule(**odd)


def test_a_call_without_arguments_can_be_remembered_and_is_matched_by_none_with_some() -> None:
    rule = a_rule({})
    assert whys(rule, {}) == {}
    assert whys(rule, {"any": None}) == {"any": Why.EXTRA}


# What it would have done.


def a_proposal(seq: int, args: dict[str, Any] | None, **data: Any) -> Event:
    about = {"args": args, "notes": {}, "tier": "ask", **data}
    thread = about.pop("thread", "t-1")
    fact = UnsealedEvent(
        kind=EventKind.ACTION_PROPOSED, at=at(), thread_id=thread, tool_call_id=f"c{seq}", data=about
    )
    return seal(fact, seq=seq, previous="0" * 64, salt="s", key=b"k")


def test_it_is_foreseen_what_a_rule_would_have_allowed_and_what_came_near() -> None:
    proposals = [
        a_proposal(7, ARGS),
        a_proposal(6, {"path": "x", "content": "y", "mode": True}),
        a_proposal(5, {**ARGS, "content": "other"}),
        a_proposal(4, {**ARGS, "path": "notes/A.txt"}),
        a_proposal(3, ARGS, notes={"dropped": ["args.x"]}),
        a_proposal(2, ARGS, tier="log"),
        a_proposal(1, None),
    ]
    found = rules.foresee(a_rule(ARGS, "content"), proposals)
    assert found.looked_at == 5
    assert [one.seq for one in found.matches] == [7, 5]
    assert [(one.seq, [(d.subject, d.why) for d in one.differences]) for one in found.near_misses] == [
        (4, [("path", Why.OTHER_VALUE)]),
        (3, [("the arguments", Why.ALTERED)]),
        (6, [("path", Why.OTHER_VALUE), ("mode", Why.OTHER_VALUE)]),
    ]


def test_a_call_on_another_thread_is_foreseen_as_missed_by_a_rule_of_one_thread() -> None:
    found = rules.foresee(a_rule(scope="thread"), [a_proposal(1, ARGS, thread="t-2")])
    assert not found.matches
    assert [one.why for one in found.near_misses[0].differences] == [Why.OTHER_THREAD]


def test_a_proposal_whose_data_was_erased_is_passed_over() -> None:
    erased = replace(a_proposal(1, ARGS), data=None)
    assert rules.foresee(a_rule(), [erased]).looked_at == 0
