"""Agents with two helpers at work at the same time, whose models give their calls the same ids."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Send

from agent.demos.model import DemoModel
from tests.received.writing import write


@tool
def send(to: str) -> str:
    """Send; somebody is asked first."""
    write("send", {"to": to})
    return f"sent to {to}"


@tool
def note(text: str) -> str:
    """Note; nobody is asked."""
    write("note", {"text": text})
    return f"noted {text}"


def helper(**how: Any) -> Any:
    return create_agent(
        DemoModel(), [send, note], middleware=[HumanInTheLoopMiddleware({"send": True})], **how
    )


_inner = helper(name="helper")


@tool
def task(description: str) -> str:
    """Give work to a helper."""
    return str(_inner.invoke({"messages": [HumanMessage(description)]})["messages"][-1].text)


two_tools = create_agent(DemoModel(), [task])
SPLIT = "\n---\n"


def _each(state: MessagesState) -> list[Send]:
    parts = str(state["messages"][-1].text).split(SPLIT)
    return [Send("helper", {"messages": [HumanMessage(one)]}) for one in parts]


two_branches = (
    StateGraph(MessagesState)
    .add_node("helper", helper())
    .add_conditional_edges(START, _each, ["helper"])
    .add_edge("helper", END)
    .compile()
)
