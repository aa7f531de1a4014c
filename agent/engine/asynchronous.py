"""Graphs with parts that are only asynchronous, driven by a worker that has no event loop of its own.

Most graphs run synchronously, which costs fewer switches between threads. One that has an asynchronous node, tool or
middleware without a synchronous twin is stepped on a loop that lives as long as the run: between two steps nothing of it
goes on, so what is told of a step is on record before the next one begins.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator
from contextvars import Context
from typing import Any

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool
from langgraph._internal._runnable import RunnableCallable
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel

from agent.engine.reach import reached

Graph = CompiledStateGraph[Any, Any, Any, Any]
MIDDLEWARE = "langchain.agents.middleware"
HOOKS = ("before_agent", "before_model", "after_model", "after_agent", "wrap_model_call", "wrap_tool_call")


def is_only_asynchronous(graph: Pregel[Any, Any, Any, Any]) -> bool:
    """Whether the graph, or something that it can reach, cannot run without an event loop."""
    return any(has_no_synchronous_twin(thing.it) for thing in reached(graph))


def stepped(stream: AsyncIterator[Any], context: Context) -> Generator[Any]:
    """Yield the parts of the stream, each computed when it is asked for, on a loop that ends with the stream."""
    ended = object()

    async def step() -> Any:
        return await anext(stream, ended)

    with asyncio.Runner() as runner:
        try:
            while (part := runner.run(step(), context=context)) is not ended:
                yield part
        finally:
            runner.run(_closed(stream), context=context)


def update_state(graph: Graph, config: RunnableConfig, values: Any, as_node: str | None) -> None:
    """Write to the thread's state as this node, and run the routers behind it on a loop."""
    with asyncio.Runner() as runner:
        runner.run(graph.aupdate_state(config, values, as_node=as_node))


async def _closed(stream: Any) -> None:
    await stream.aclose()


def has_no_synchronous_twin(it: Any) -> bool:
    """Whether a node, a tool or a middleware can run only asynchronously."""
    match it:
        case CompiledStateGraph():
            routers = (one for several in it.builder.branches.values() for one in several.values())
            return any(has_no_synchronous_twin(one.path) for one in routers)
        case RunnableCallable():
            return it.func is None and it.afunc is not None
        case RunnableLambda():
            return not hasattr(it, "func") and hasattr(it, "afunc")
        case StructuredTool() if type(it)._run is StructuredTool._run:
            return it.func is None and it.coroutine is not None
        case BaseTool():
            return type(it)._arun is not BaseTool._arun and _only_raises(type(it)._run)
    return _is_asynchronous_middleware(it)


def _only_raises(function: Any) -> bool:
    """Whether a tool's function says that there is none: the usual way to write a tool that is only asynchronous."""
    return NotImplementedError.__name__ in getattr(getattr(function, "__code__", None), "co_names", ())


def _is_asynchronous_middleware(it: Any) -> bool:
    """Whether it is middleware of `create_agent` with an asynchronous hook alone."""
    bases = [one for one in type(it).__mro__ if one.__module__.startswith(MIDDLEWARE)]
    base = next((one for one in bases if one.__name__ == "AgentMiddleware"), None)
    return base is not None and any(
        getattr(type(it), f"a{hook}") is not getattr(base, f"a{hook}")
        and getattr(type(it), hook) is getattr(base, hook)
        for hook in HOOKS
    )
