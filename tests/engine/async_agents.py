"""Agents with parts that are only asynchronous, as their own authors would write them."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

from agent.demos.model import DemoModel
from tests.engine.external_agents import did, look


@tool
async def slow(text: str) -> str:
    """Take a while."""
    await asyncio.sleep(0.1)
    return did(f"slow {text}")


@tool
async def quick(text: str) -> str:
    """Take no while."""
    return did(f"quick {text}")


@tool
async def question(text: str) -> str:
    """Ask the person."""
    return str(interrupt(text))


@tool
async def stuck(text: str) -> str:
    """Have an effect, and then never end."""
    did(f"began {text}")
    await asyncio.sleep(60)
    return did(f"ended {text}")


def _model(*tools: Any) -> Any:
    async def model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await DemoModel().bind_tools(list(tools)).ainvoke(state["messages"])]}

    return model


def _plain(tools: Any, *known: Any) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("model", _model(*known))
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
    graph.add_edge("tools", "model")
    return graph.compile()


ordered = _plain(ToolNode([slow, quick, question]), slow, quick, question)


async def _gives_up(state: MessagesState) -> dict[str, Any]:
    (call,) = state["messages"][-1].tool_calls  # type: ignore[union-attr]
    try:
        result = await asyncio.wait_for(stuck.ainvoke({**call, "type": "tool_call"}), 0.1)
    except TimeoutError:
        result = ToolMessage("it took too long", tool_call_id=call["id"])
    return {"messages": [result]}


impatient = _plain(_gives_up, stuck)


class Counting(AgentMiddleware):
    """Middleware that its author wrote for a server alone."""

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        did("asked the model")
        return await handler(request)


with_middleware = create_agent(DemoModel(), [look], middleware=[Counting()])


async def _router(state: MessagesState) -> str:
    return "answer"


routed = (
    StateGraph(MessagesState)
    .add_node("answer", lambda state: {"messages": [AIMessage("routed")]})
    .add_conditional_edges(START, _router, ["answer"])
    .add_edge("answer", END)
    .compile()
)
synchronous = create_agent(DemoModel(), [look])
