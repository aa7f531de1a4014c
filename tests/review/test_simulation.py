"""What another policy would have made of the past."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.review.agents import Agent
from agent.review.events import Event, Fact, Kind, seal
from agent.review.policy import Case, Policy, Tier, ToolPolicy
from agent.review.simulation import edit, line_of, simulate
from tests.review.test_decisions import SchemaTool

TO = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
AGENT = Agent(
    name="mail",
    title="Mail",
    tools=[SchemaTool(name, TO) for name in ("find", "move", "send", "wipe")],
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


def proposal(tool: str, tier: str, *, agent: str = "mail", **data: Any) -> Event:
    args: dict[str, Any] = {"to": "a"}
    known = {"args": None if tier == "deny" else args, "proposed": args, "tier": tier, "attempt": 1, **data}
    fact = Fact(kind=Kind.ACTION_PROPOSED, at="2030", thread_id="t", agent=agent, tool=tool, data=known)
    return seal(fact, seq=1, previous="0" * 64, salt="s")


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


def test_the_line_to_write_names_both_tiers() -> None:
    assert line_of("move", Tier.LOG, Tier.ASK) == '"move": ToolPolicy(Tier.ASK, …),  # was Tier.LOG'
