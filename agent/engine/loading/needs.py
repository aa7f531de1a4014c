"""What a compiled graph needs, found by looking at it: nothing of it runs."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.tools import BaseTool
from langgraph._internal._runnable import RunnableCallable
from langgraph.prebuilt import ToolNode
from pydantic import BaseModel, TypeAdapter
from typing_extensions import is_typeddict

from agent.engine.asynchronous import has_no_synchronous_twin
from agent.engine.checkpoints import Graph
from agent.engine.reach import Thing, reached
from agent.review.needs import Needs
from agent.serving.options import AgentOptions

Schema = Mapping[str, Any]


def needs_of(graph: Graph, options: AgentOptions) -> Needs:
    """Return what the graph needs.

    Raises whatever its context schema raises where the context that is set for the agent does not fit it.
    """
    things = list(reached(graph))
    required = required_of(graph.context_schema)
    missing = tuple(name for name in required if name not in options.context)
    if not missing:
        context_of(graph.context_schema, options.context)
    return Needs(
        asynchronous=_each(_only_asynchronous(things)),
        messages="messages" in graph.channels,
        input_schema=_schema(graph.get_input_jsonschema) or _by_fields(_input_of(graph)),
        context_schema=_schema(partial(_json_schema, graph.context_schema))
        or _by_fields(graph.context_schema),
        missing_context=missing,
        store=_each(_asking_for_the_store(things)),
        stops_before=_nodes(graph, graph.interrupt_before_nodes),
        stops_after=_nodes(graph, graph.interrupt_after_nodes),
        without_ids=_each(_called_by_hand(things)),
    )


def required_of(schema: Any) -> tuple[str, ...]:
    """Return the fields of a context schema that have no default."""
    if is_typeddict(schema):
        return tuple(sorted(schema.__required_keys__))
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return tuple(name for name, field in schema.model_fields.items() if field.is_required())
    if isinstance(schema, type) and dataclasses.is_dataclass(schema):
        return tuple(
            field.name for field in dataclasses.fields(schema) if field.init and _has_no_default(field)
        )
    return ()


def context_of(schema: Any, values: Mapping[str, Any]) -> Any:
    """Return the context that LangGraph makes of these values; None where the graph declares none."""
    if schema is None:
        return dict(values) or None
    made = isinstance(schema, type) and (issubclass(schema, BaseModel) or dataclasses.is_dataclass(schema))
    return schema(**values) if made else dict(values)


def _has_no_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _input_of(graph: Graph) -> Any:
    return getattr(getattr(graph, "builder", None), "input_schema", None)


def _by_fields(schema: Any) -> Schema:
    """Return the JSON Schema of a class field by field, for a class that pydantic refuses as a whole.

    That is so of each `typing.TypedDict` before Python 3.12, and of a class with a field that has no JSON form.
    """
    try:
        hints = typing.get_type_hints(schema)
    except Exception:  # None, or an annotation that names what is imported for type checkers alone
        return {}
    properties = {name: _schema(partial(_json_schema, hint)) for name, hint in hints.items()}
    return {"type": "object", "properties": properties, "required": list(required_of(schema))}


def _json_schema(schema: Any) -> Schema:
    return {} if schema is None else TypeAdapter(schema).json_schema()


def _schema(make: Any) -> Schema:
    try:
        found = make()
    except Exception:  # a type that JSON Schema has no words for
        return {}
    return found if isinstance(found, Mapping) else {}


def _nodes(graph: Graph, named: Any) -> tuple[str, ...]:
    everything = [name for name in graph.nodes if not name.startswith("__")]
    return tuple(everything if named == "*" else named or ())


def _only_asynchronous(things: Sequence[Thing]) -> Iterator[str]:
    return (str(getattr(it, "name", None) or node) for it, _, node in things if has_no_synchronous_twin(it))


def _asking_for_the_store(things: Sequence[Thing]) -> Iterator[str]:
    for it, _, node in things:
        if isinstance(it, RunnableCallable) and "store" in it.func_accepts:
            yield it.name or node


def _called_by_hand(things: Sequence[Thing]) -> Iterator[str]:
    """Yield the tools that no `ToolNode` calls, which would give each call its id."""
    nodes = [thing.it for thing in things if isinstance(thing.it, ToolNode)]
    kept = {id(tool) for node in nodes for tool in node.tools_by_name.values()}
    return (thing.it.name for thing in things if isinstance(thing.it, BaseTool) and id(thing.it) not in kept)


def _each(names: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
