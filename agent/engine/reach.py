"""Which tools an agent can reach, and from where: those of its graph, of graphs inside it, and those its code refers to.

LangGraph names the tools of a `ToolNode`, and graphs that are nodes. A node that calls a tool by hand, and a tool that
calls a whole agent, are functions: what they refer to is found among their closures and globals, as LangGraph itself
looks for graphs there. What a function makes only when it is called cannot be found; such a tool still has its door.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from re import Pattern
from types import FunctionType, MethodType, ModuleType, NoneType
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableLambda, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.tools import BaseTool
from langgraph._internal._runnable import RunnableCallable, RunnableSeq
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.pregel._utils import get_function_nonlocals

Graph = Pregel[Any, Any, Any, Any]
NOTHING_BEHIND = (ModuleType, type, str, bytes, int, float, Pattern, NoneType)
FURTHEST = 5_000
"""Things that are looked at: enough for any agent, and an end where everything refers to everything."""


class Thing(NamedTuple):
    """Something that an agent can reach."""

    it: Any
    graph: str
    """The names of the nodes that lead to the graph it is called in; "" is the agent's own."""
    node: str
    """The same with the node that calls it: where a graph that it calls would be."""


@lru_cache(maxsize=64)
def reached(graph: Graph) -> tuple[Thing, ...]:
    """Everything that the graph's nodes are made of or refer to, the nearest first, each once in each place."""
    return tuple(_reached(graph))


def _reached(graph: Graph) -> Iterator[Thing]:
    waiting, seen = deque([Thing(graph, "", "")]), set[tuple[int, str]]()
    while waiting and len(seen) < FURTHEST:
        thing = waiting.popleft()
        if isinstance(thing.it, NOTHING_BEHIND) or (id(thing.it), thing.node) in seen:
            continue
        seen.add((id(thing.it), thing.node))
        yield thing
        waiting.extend(_behind(thing))


def tools_by_place(graph: Graph) -> Mapping[str, Mapping[str, Sequence[BaseTool]]]:
    """Return the tools that each graph calls, by the names of the nodes that lead there, and by their own names."""
    found: dict[str, dict[str, list[BaseTool]]] = {}
    for thing in reached(graph):
        if isinstance(thing.it, BaseTool):
            named = found.setdefault(thing.graph, {}).setdefault(thing.it.name, [])
            if not any(one is thing.it for one in named):
                named.append(thing.it)
    return found


def _behind(thing: Thing) -> Iterator[Thing]:
    if isinstance(thing.it, Pregel):
        for name, node in thing.it.nodes.items():
            yield Thing(node.bound, thing.node, f"{thing.node}|{name}".lstrip("|"))
        return
    for it in _parts(thing.it):
        yield Thing(it, thing.graph, thing.node)


def _parts(it: Any) -> Sequence[Any]:
    match it:
        case list() | tuple() | set() | frozenset():
            return list(it)
        case dict():
            return list(it.values())
        case partial():
            return [it.func, *it.args, *it.keywords.values()]
        case MethodType():
            return [it.__func__, it.__self__, *_kept_by(it.__self__)]
        case FunctionType():
            return [*get_function_nonlocals(it), getattr(it, "__wrapped__", None)]
    return _parts_of_runnable(it)


def _parts_of_runnable(it: Any) -> Sequence[Any]:
    match it:
        case ToolNode():
            return [*it.tools_by_name.values(), it._wrap_tool_call, it._awrap_tool_call]
        case BaseTool():
            return [getattr(it, "func", None), getattr(it, "coroutine", None), it._run, *_kept_by(it)]
        case RunnableCallable():
            return [it.func, it.afunc]
        case RunnableSeq() | RunnableSequence():
            return list(it.steps)
        case RunnableLambda():
            return [getattr(it, "func", None), getattr(it, "afunc", None), *it.deps]
        case RunnableBindingBase():
            return [it.bound]
    return ()


def _kept_by(owner: Any) -> list[Any]:
    """Yield what an object keeps in its own attributes."""
    return list(getattr(owner, "__dict__", {}).values())
