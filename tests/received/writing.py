"""Tools that write down what their function received, to a list and to a file, and how such a tool is made."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, ToolCall
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import MessagesState
from pydantic import BaseModel

from tests.received.spelling import spelt

RECEIVED: list[tuple[str, dict[str, Any]]] = []
"""Each call that reached a function's first line: the tool, and every argument, as the objects that they were."""
FILE: list[Path] = []
"""The file that the same goes to, one line of JSON each, with the type of every value."""
_writing = threading.Lock()


def write(tool: str, given: Mapping[str, Any]) -> str:
    """Write down what a function received; what it would give its caller is what it wrote."""
    line = json.dumps([tool, {name: spelt(value) for name, value in given.items()}], sort_keys=True)
    with _writing:
        RECEIVED.append((tool, dict(given)))
        if FILE:
            with FILE[-1].open("a", encoding="ascii") as file:
                file.write(line + "\n")
    return f"{tool} ran"


def last_calls(state: MessagesState) -> list[ToolCall]:
    """The tool calls of the message that the model wrote last."""
    message = state["messages"][-1]
    assert isinstance(message, AIMessage)
    return message.tool_calls


def written(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """What the file says was received, spelt with its types."""
    lines = path.read_text("ascii").splitlines() if path.exists() else []
    return [(tool, given) for tool, given in map(json.loads, lines)]


def tool_of(name: str, schema: type[BaseModel] | dict[str, Any]) -> BaseTool:
    """A tool with these arguments, whose function takes whatever it is given."""

    def run(**given: Any) -> str:
        return write(name, given)

    return StructuredTool(name=name, description=f"Write down {name}.", args_schema=schema, func=run)
