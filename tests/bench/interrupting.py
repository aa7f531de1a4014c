"""A graph for `langgraph dev`: it proposes one call of a tool, then waits, without a model. The server alone loads it."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

TOOL = "send_email"


def propose(state: MessagesState) -> dict[str, Any]:
    args = {"to": "person@example.com", "subject": "Notes", "body": "The notes of the meeting."}
    return {"messages": [AIMessage("", tool_calls=[{"name": TOOL, "args": args, "id": "c"}])]}


def ask(state: MessagesState) -> None:
    """Interrupt with what LangChain's middleware for people in the loop would ask."""
    proposed = state["messages"][-1]
    assert isinstance(proposed, AIMessage)
    requests = [
        {"name": call["name"], "args": call["args"], "description": "Tool execution requires approval"}
        for call in proposed.tool_calls
    ]
    allowed = {"action_name": TOOL, "allowed_decisions": ["approve", "edit", "reject"]}
    interrupt({"action_requests": requests, "review_configs": [allowed]})


graph = StateGraph(MessagesState).add_sequence([propose, ask]).add_edge(START, "propose").compile()
