"""Agents of another make, as their own authors would write them, and what their tools did."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

from agent.demos.model import DemoModel

EFFECTS: list[Path] = []
"""Where effects are written, one line each, so that they outlive the process that had them."""


def did(what: str) -> str:
    with EFFECTS[-1].open("a") as file:
        file.write(f"{what}\n")
    return f"did {what}"


def effects() -> list[str]:
    return EFFECTS[-1].read_text().splitlines() if EFFECTS[-1].exists() else []


@tool
def send(to: str, count: int = 1) -> str:
    """Send something."""
    return did(f"send {to} {count}")


@tool
def look(text: str) -> str:
    """Look something up."""
    return did(f"look {text}")


@tool
def burst() -> str:
    """Fail."""
    did("burst")
    raise RuntimeError("it burst")


def _shell(**args: Any) -> str:
    return did(f"shell {sorted(args.items())}")


shell = StructuredTool(
    name="shell",
    description="Run a command.",
    func=_shell,
    args_schema={
        "title": "shell",
        "type": "object",
        "properties": {"command": {"type": "string"}, "shell": {"type": "string", "default": "sh"}},
        "required": ["command"],
    },
)
TOOLS = [send, look, burst, shell]
GATED = {"send": True, "burst": True, "shell": {"allowed_decisions": ["approve", "edit", "reject"]}}

batched = create_agent(DemoModel(), TOOLS, middleware=[HumanInTheLoopMiddleware(GATED)])  # type: ignore[arg-type]
per_call = create_agent(
    DemoModel(),
    TOOLS,
    middleware=[HumanInTheLoopMiddleware(GATED, interrupt_mode="per_call")],  # type: ignore[arg-type]
)

breakpoint_before = create_agent(DemoModel(), TOOLS, interrupt_before=["tools"])


def _only_asynchronous(one: Any) -> StructuredTool:
    """The tool as an MCP adapter would make it: with a coroutine and no other function."""

    async def work(**args: Any) -> str:
        await asyncio.sleep(0)
        return str(one.func(**args))

    return StructuredTool(
        name=one.name, description=one.description, args_schema=one.args_schema, coroutine=work
    )


ASYNCHRONOUS = [_only_asynchronous(one) for one in TOOLS]
async_batched = create_agent(DemoModel(), ASYNCHRONOUS, middleware=[HumanInTheLoopMiddleware(GATED)])  # type: ignore[arg-type]
async_per_call = create_agent(
    DemoModel(),
    ASYNCHRONOUS,
    middleware=[HumanInTheLoopMiddleware(GATED, interrupt_mode="per_call")],  # type: ignore[arg-type]
)


def _model(*tools: Any) -> Any:
    def model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [DemoModel().bind_tools(list(tools)).invoke(state["messages"])]}

    return model


@tool
def careful(to: str) -> str:
    """Send something, after having asked by itself."""
    answer = interrupt(
        {
            "action_requests": [{"name": "careful", "args": {"to": to}}],
            "review_configs": [{"action_name": "careful", "allowed_decisions": ["approve", "reject"]}],
        }
    )
    kind = answer["decisions"][0]["type"]
    return did(f"careful {to}") if kind == "approve" else "not done"


def tool_node() -> Any:
    """A plain graph of a model and LangGraph's tool node, whose tool asks in its own middle."""
    graph = StateGraph(MessagesState)
    graph.add_node("model", _model(careful, look))
    graph.add_node("tools", ToolNode([careful, look]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def question() -> Any:
    """A graph that asks a question about no call."""

    def ask(state: MessagesState) -> dict[str, Any]:
        answer = interrupt({"question": "Which colour?"})
        return {"messages": [AIMessage(f"You said {answer!r}.")]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    return graph.compile()


def nested() -> Any:
    """A graph with a whole agent inside it."""
    graph = StateGraph(MessagesState)
    graph.add_node("inner", batched)
    graph.add_edge(START, "inner")
    return graph.compile()


no_graph = "nothing of the kind"


def broken_factory() -> Any:
    raise ValueError("its key is missing")
