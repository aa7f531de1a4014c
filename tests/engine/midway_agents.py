"""Agents whose tools act before they ask: by themselves, or through a helper inside them."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

from agent.demos.model import DemoModel
from tests.engine.external_agents import batched, did, look, nested

__all__ = ["batched", "boss", "itself", "nested", "plain_boss", "question"]


@tool
def task(description: str) -> str:
    """Give work to a helper."""
    return str(batched.invoke({"messages": [HumanMessage(description)]})["messages"][-1].text)


@tool
def publish(text: str) -> str:
    """Prepare something, then ask before it is published."""
    did(f"prepared {text}")
    answer = interrupt(
        {
            "action_requests": [{"name": "publish", "args": {"text": text}}],
            "review_configs": [{"action_name": "publish", "allowed_decisions": ["approve", "reject"]}],
        }
    )
    return did(f"published {text}") if answer["decisions"][0]["type"] == "approve" else "not published"


@tool
def book(room: str) -> str:
    """Hold a room, then ask which day."""
    did(f"held {room}")
    return did(f"booked {room} on {interrupt('Which day?')}")


def _plain(*tools: Any) -> Any:
    """A graph of a model and LangGraph's tool node."""

    def model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [DemoModel().bind_tools(list(tools)).invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode(list(tools)))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
    graph.add_edge("tools", "model")
    return graph.compile()


plain_boss = _plain(task)
boss = create_agent(DemoModel(), [task])
itself = create_agent(DemoModel(), [publish, look])
question = _plain(book, look)
