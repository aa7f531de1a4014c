"""What another policy would have made of the past."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.review.agents import Agent
from agent.review.events import Event, EventKind, UnsealedEvent, seal
from agent.review.policy import Case, Policy, Tier, ToolPolicy
from agent.review.simulation import edit, line_of, simulate
from tests.review.test_decisions import schema_tool

TO = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
AGENT = Agent(
    name="mail",
    title="Mail",
    tools=[schema_tool(name, TO) for name in ("find", "move", "send", "wipe")],
    policy=Policy(
        {
            "find": ToolPolicy(Tier.AUTO, effects=False),
            "move": ToolPolicy(Tier.LOG),
            "send": ToolPolicy(Tier.ASK),
            "wipe": ToolPolicy(Tier.DENY),
        }
    ),
    prompt="",
)


def proposal(
    tool: str, tier: str, *, agent: str = "mail", seq: int = 1, call: str = "c", **data: Any
) -> Event:
    args: dict[str, Any] = {"to": "a"}
    known = {"args": None if tier == "deny" else args, "proposed": args, "tier": tier, "attempt": 1, **data}
    about: dict[str, Any] = {"at": "2030", "thread_id": "t", "agent": agent, "tool_call_id": call}
    fact = UnsealedEvent(kind=EventKind.ACTION_PROPOSED, tool=tool, data=known, **about)
    return seal(fact, seq=seq, previous="0" * 64, salt="s", key=b"k")


def decision(kind: str, *, seq: int, call: str = "c") -> Event:
    about: dict[str, Any] = {"at": "2030", "thread_id": "t", "agent": "mail", "tool_call_id": call}
    fact = UnsealedEvent(kind=EventKind.DECISION_MADE, tool="send", data={"type": kind}, **about)
    return seal(fact, seq=seq, previous="0" * 64, salt="s", key=b"k")


TRAIL = [
    *[proposal("find", "auto")] * 6,
    *[proposal("move", "log")] * 3,
    proposal("send", "ask"),
    proposal("wipe", "deny"),
]


def test_the_past_under_the_policy_as_it_stands_is_as_it_was() -> None:
    found = simulate(AGENT, AGENT.policy, TRAIL)
    assert found.recorded == found.now == found.edited == {"auto": 6, "log": 3, "ask": 1, "deny": 1}
    assert found.changed == ()


def test_asking_for_everything_asks_for_all_but_what_is_denied() -> None:
    found = simulate(AGENT, edit(AGENT.policy, {}, ask_for_everything=True), TRAIL)
    assert found.edited == {Tier.ASK: 10, Tier.DENY: 1}
    assert len(found.changed) == 9


@pytest.mark.parametrize(
    ("tool", "tier", "asked"), [("move", Tier.ASK, 4), ("send", Tier.LOG, 0), ("wipe", Tier.ASK, 2)]
)
def test_another_tier_for_one_tool_changes_what_would_have_been_asked(
    tool: str, tier: Tier, asked: int
) -> None:
    found = simulate(AGENT, edit(AGENT.policy, {tool: tier}), TRAIL)
    assert found.edited[Tier.ASK] == asked
    assert {one.past.tool for one in found.changed} == {tool}


def test_conditions_still_count_in_an_edited_policy() -> None:
    strict = ToolPolicy(Tier.LOG, cases=(Case(Tier.ASK, {"properties": {"to": {"const": "b"}}}),))
    agent = replace(AGENT, policy=Policy({**AGENT.policy.tools, "move": strict}))
    trail = [proposal("move", "log"), proposal("move", "log", args={"to": "b"})]
    assert simulate(agent, edit(agent.policy, {"move": Tier.AUTO}), trail).edited == {"auto": 1, "ask": 1}


@pytest.mark.parametrize("tool", ["wipe", "gone"])
def test_what_would_not_fit_its_tool_is_refused_under_any_policy(tool: str) -> None:
    trail = [proposal(tool, "deny", proposed={"to": 3}), proposal(tool, "deny", proposed="{")]
    assert simulate(AGENT, edit(AGENT.policy, {"wipe": Tier.AUTO}), trail).edited == {Tier.DENY: 2}


def test_what_was_asked_once_more_counts_once() -> None:
    trail = [proposal("send", "ask"), proposal("send", "ask", attempt=2)]
    assert len(simulate(AGENT, AGENT.policy, trail).judged) == 1


def test_another_agents_actions_are_not_judged() -> None:
    assert simulate(AGENT, AGENT.policy, [proposal("send", "ask", agent="library")]).judged == ()


def test_an_erased_proposal_is_counted_as_that() -> None:
    found = simulate(AGENT, AGENT.policy, [replace(TRAIL[0], data=None)])
    assert (found.judged, found.unreadable) == ((), 1)


@pytest.mark.parametrize("kind", ["reject", "edit"])
def test_what_a_person_did_not_let_run_as_proposed_is_told_and_comes_first(kind: str) -> None:
    trail = [
        proposal("send", "ask", seq=1, call="a"),
        decision("approve", seq=2, call="a"),
        proposal("send", "ask", seq=3, call="b"),
        decision(kind, seq=4, call="b"),
    ]
    found = simulate(AGENT, edit(AGENT.policy, {"send": Tier.AUTO}), trail)
    assert [one.past.decided for one in found.changed] == [kind, "approve"]
    assert [one.is_against_a_person for one in found.changed] == [True, False]
    assert len(found.freed) == 2


def test_a_decision_belongs_to_the_last_proposal_under_its_call_id() -> None:
    trail = [
        proposal("send", "ask", seq=1),
        decision("reject", seq=2),
        proposal("send", "ask", seq=3),
        decision("approve", seq=4),
    ]
    found = simulate(AGENT, AGENT.policy, reversed(trail))
    assert [one.past.decided for one in found.judged] == ["approve", "reject"]


def test_a_decision_on_a_call_asked_about_once_more_belongs_to_the_call() -> None:
    trail = [
        proposal("send", "ask", seq=1),
        decision("approve", seq=2),
        proposal("send", "ask", seq=3, attempt=2),
        decision("reject", seq=4),
    ]
    assert [one.past.decided for one in simulate(AGENT, AGENT.policy, trail).judged] == ["reject"]


def test_nothing_is_freed_by_a_stricter_policy_or_between_the_tiers_that_run_unasked() -> None:
    edited = edit(AGENT.policy, {"find": Tier.LOG, "move": Tier.ASK})
    assert simulate(AGENT, edited, TRAIL).freed == ()


def test_what_cannot_be_undone_is_marked() -> None:
    entry = replace(AGENT.policy.tools["send"], irreversible=True)
    agent = replace(AGENT, policy=Policy({**AGENT.policy.tools, "send": entry}))
    found = simulate(agent, edit(agent.policy, {"send": Tier.LOG, "wipe": Tier.LOG}), TRAIL)
    assert {(one.past.tool, one.irreversible) for one in found.freed} == {("send", True), ("wipe", False)}


def test_the_line_to_write_names_both_tiers() -> None:
    assert line_of("move", Tier.LOG, Tier.ASK) == '"move": ToolPolicy(Tier.ASK, …),  # was Tier.LOG'
