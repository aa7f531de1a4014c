"""Agents of ours whose policy is fooled wherever it is shown other values than the function receives."""

from __future__ import annotations

from agent.bootstrap import DemoAgent
from agent.demos.world import World
from agent.review.agents import Agent
from agent.review.policy import Case, Policy, Tier, ToolPolicy
from tests.received.rows_values import alias_with_default, extra_allow, stripped, unit_that_multiplies
from tests.received.table import BY_NAME

IN_ETC = {"properties": {"path": {"pattern": "^/etc/"}}, "required": ["path"]}
BIG = {"properties": {"amount": {"minimum": 100}}, "required": ["amount"]}
COPIED = {"required": ["bcc"]}


def _policy(tier: Tier) -> Policy:
    return Policy(
        {
            stripped.__name__: ToolPolicy(tier, cases=(Case(Tier.DENY, IN_ETC, "Not in /etc."),)),
            alias_with_default.__name__: ToolPolicy(tier, cases=(Case(Tier.DENY, BIG, "Too much."),)),
            unit_that_multiplies.__name__: ToolPolicy(tier, cases=(Case(Tier.DENY, BIG, "Too much."),)),
            extra_allow.__name__: ToolPolicy(tier, cases=(Case(Tier.DENY, COPIED, "No copies."),)),
        }
    )


def _own(name: str, policy: Policy) -> DemoAgent:
    def define(_: World) -> Agent:
        tools = [BY_NAME[tool].make() for tool in policy.tools]
        return Agent(name=name, title=name, tools=tools, policy=policy, prompt="You are tested.")

    return DemoAgent(define, lambda _: policy)


asking = _own("asking", _policy(Tier.ASK))
free = _own("free", _policy(Tier.AUTO))
remembering = _own(
    "remembering",
    Policy(
        {
            name: ToolPolicy(Tier.ASK)
            for name in (
                "unit_that_multiplies",
                "other_person_and_sum",
                "plain_default",
                "fresh_text",
                "alias",
            )
        }
    ),
)
