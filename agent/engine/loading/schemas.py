"""The classes that a graph's schemas reach: what may be made of its checkpoints, found when it is loaded."""

from __future__ import annotations

import dataclasses
import typing
from collections import deque
from collections.abc import Iterator
from enum import Enum
from typing import Any

from langgraph.pregel import Pregel
from pydantic import BaseModel
from typing_extensions import TypeAliasType, is_typeddict

from agent.engine.decoding import Classes
from agent.engine.reach import reached
from agent.serving.modules import public_name

FURTHEST = 10_000
"""Types that are looked at: enough for any schema, and an end to one that makes new types of itself."""


def classes_of(graph: Pregel[Any, Any, Any, Any]) -> Classes:
    """Return the classes that the schemas of the graph, and of the graphs inside it, reach.

    Two classes of one module and one name cannot be told apart in a checkpoint, so neither is among them.
    """
    found: dict[tuple[str, str], set[type]] = {}
    graphs = [thing.it for thing in reached(graph) if isinstance(thing.it, Pregel)]
    waiting = deque(schema for one in graphs for schema in schemas_of(one))
    seen = set[int]()
    while waiting and len(seen) < FURTHEST:
        it = waiting.popleft()
        if id(it) in seen:
            continue
        seen.add(id(it))
        if isinstance(it, type) and _is_made(it):
            found.setdefault((public_name(it.__module__), it.__name__), set()).add(it)
        waiting.extend(_parts(it))
    return {key: next(iter(several)) for key, several in found.items() if len(several) == 1}


def schemas_of(graph: Pregel[Any, Any, Any, Any]) -> Iterator[Any]:
    """Yield the types of a graph's state, input, output and context, and of its nodes' input."""
    yield graph.context_schema
    for channel in graph.channels.values():
        yield getattr(channel, "ValueType", None)
        yield getattr(channel, "UpdateType", None)
    builder = getattr(graph, "builder", None)
    if builder is None:
        return
    yield from (builder.state_schema, builder.input_schema, builder.output_schema)
    yield from (node.input_schema for node in builder.nodes.values())
    yield from (branch.input_schema for several in builder.branches.values() for branch in several.values())


def _is_made(it: type) -> bool:
    """Whether LangGraph saves objects of this class as such, and makes them again from their fields."""
    if typing.get_origin(it) is not None:
        return False
    named = issubclass(it, tuple) and hasattr(it, "_fields")
    secret = hasattr(it, "get_secret_value")
    return named or secret or dataclasses.is_dataclass(it) or issubclass(it, Enum) or _is_model(it)


def _is_model(it: type) -> bool:
    return issubclass(it, BaseModel) or hasattr(it, "__fields__")  # the latter: pydantic's own version 1


def _parts(it: Any) -> Iterator[Any]:
    """Yield the types that a type is made of."""
    origin = typing.get_origin(it)
    if origin is typing.Literal:
        return
    if origin is typing.Annotated:
        yield typing.get_args(it)[0]
    elif origin is not None:
        yield origin
        yield from _flat(typing.get_args(it))
    elif isinstance(it, TypeAliasType) or type(it).__name__ == "TypeAliasType":
        yield it.__value__
    elif isinstance(it, typing.TypeVar):
        yield from (it.__bound__, *it.__constraints__)
    elif hasattr(it, "__supertype__"):
        yield it.__supertype__
    elif isinstance(it, type):
        yield from _fields(it)


def _flat(arguments: Any) -> Iterator[Any]:
    for one in arguments:
        yield from one if isinstance(one, list | tuple) else (one,)


def _fields(it: type) -> Iterator[Any]:
    if not (is_typeddict(it) or _is_made(it)):
        return
    if issubclass(it, BaseModel):
        yield from (field.annotation for field in it.model_fields.values())
        yield from it.__pydantic_generic_metadata__["args"]
    try:
        yield from typing.get_type_hints(it, include_extras=True).values()
    except Exception:  # an annotation may name what is imported for type checkers alone
        return
