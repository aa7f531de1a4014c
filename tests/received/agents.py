"""The whole table as six agents: two of ours under a policy, and four graphs as their own authors write them."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, ToolRetryMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore

from agent.bootstrap import DemoAgent
from agent.demos.model import DemoModel
from agent.demos.world import World
from agent.review.agents import Agent
from agent.review.policy import Policy, Tier, ToolPolicy
from tests.received.table import ROWS

KINDS = ("own_ask", "own_auto", "created", "nested", "boss", "retried")
OWN = ("own_ask", "own_auto")
ASKING = tuple(kind for kind in KINDS if kind != "own_auto")
STORE = InMemoryStore()
_bound: dict[tuple[str, ...], Any] = {}


class Quick(DemoModel):
    """The demo model, to which the same tools are described once: a hundred of them take longer than a turn."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        names = tuple(one.name for one in tools)
        if names not in _bound:
            _bound[names] = super().bind_tools(tools, **kwargs)
        return _bound[names]


def tools() -> list[BaseTool]:
    return [row.make() for row in ROWS]


def own(name: str, tier: Tier) -> DemoAgent:
    """An agent of ours with the table's tools, all in this tier."""

    def policy(_: World) -> Policy:
        return Policy({row.name: ToolPolicy(tier) for row in ROWS})

    def define(world: World) -> Agent:
        return Agent(name=name, title=name, tools=tools(), policy=policy(world), prompt="You are tested.")

    return DemoAgent(define, policy)


def asking(*more: Any, **how: Any) -> Any:
    """LangChain's own agent, which asks about each tool of the table."""
    gate = HumanInTheLoopMiddleware({row.name: True for row in ROWS})
    return create_agent(Quick(), tools(), middleware=[gate, *more], store=STORE, **how)


own_ask = own("own_ask", Tier.ASK)
own_auto = own("own_auto", Tier.AUTO)
created = asking()
nested = (
    StateGraph(MessagesState)
    .add_node("helper", asking(name="helper"))
    .add_edge(START, "helper")
    .add_edge("helper", END)
    .compile(store=STORE)
)
retried = asking(ToolRetryMiddleware(max_retries=1, initial_delay=0))
_helper = asking(name="helper_in_a_tool")


@tool
def task(description: str) -> str:
    """Give work to a helper."""
    return str(_helper.invoke({"messages": [HumanMessage(description)]})["messages"][-1].text)


boss = create_agent(Quick(), [task], store=STORE)
