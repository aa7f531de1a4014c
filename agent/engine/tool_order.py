"""The calls of one `ToolNode`, one after the other in the model's order, in every run that has a gate.

LangGraph counts the questions of a task, and the graphs inside it, in the order in which they come: calls side by side
would get each other's answers, and go on from each other's checkpoints.
"""

from __future__ import annotations

import asyncio
import functools
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.prebuilt import ToolNode, tool_node

from agent.engine.door import is_gated

_langgraph_executor = vars(tool_node)["get_executor_for_config"]


def _one_at_a_time(config: RunnableConfig | None) -> AbstractContextManager[Executor]:
    """Return what runs the calls of one synchronous `ToolNode`."""
    alone: RunnableConfig = {"max_concurrency": 1} if is_gated() else {}
    return _langgraph_executor({**(config or {}), **alone})  # type: ignore[no-any-return]


@dataclass
class _Queue:
    """The calls of one execution of an asynchronous `ToolNode`."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    ended_by: BaseException | None = None
    """What one of them raised: none behind it starts then, as in a synchronous node."""


_queue: ContextVar[_Queue | None] = ContextVar("queue", default=None)
_langgraph_parse_input, _langgraph_arun_one = ToolNode._parse_input, ToolNode._arun_one


def _parse_input(self: ToolNode, *args: Any, **named: Any) -> Any:
    """Read what calls there are, which is the first that a node does, and begin a queue of them."""
    _queue.set(_Queue() if is_gated() else None)
    return _langgraph_parse_input(self, *args, **named)


async def _arun_one(self: ToolNode, *args: Any, **named: Any) -> Any:
    queue = _queue.get()
    if queue is None:
        return await _langgraph_arun_one(self, *args, **named)
    async with queue.turn:
        if queue.ended_by is not None:
            raise queue.ended_by
        try:
            return await _langgraph_arun_one(self, *args, **named)
        except BaseException as error:
            queue.ended_by = error
            raise


def keep_order() -> None:
    """Have every `ToolNode` of this process run its calls in order; a second time changes nothing."""
    vars(tool_node)["get_executor_for_config"] = _one_at_a_time
    ToolNode._parse_input = functools.wraps(_langgraph_parse_input)(_parse_input)  # type: ignore[method-assign]
    ToolNode._arun_one = functools.wraps(_langgraph_arun_one)(_arun_one)  # type: ignore[method-assign]
