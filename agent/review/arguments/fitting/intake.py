"""How a tool takes its arguments: by its own parsing, as LangChain does before it calls the tool's function.

LangChain's `tool_call_schema` is a subset for the model to read. It leaves out the schema's validators, aliases and
config, so it does not say what the function gets. Private names of LangChain are used here: `_to_args_and_kwargs`,
`_injected_args_keys`, `_filter_injected_args` and `_run`. tests/received/ tests what they do.
"""

from __future__ import annotations

import copy
import inspect
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, get_type_hints

from pydantic import BaseModel, create_model

from agent.review.arguments.args import dumps
from agent.review.arguments.argument_faults import ArgumentFault, refusal
from agent.review.arguments.fitting.json_form import json_form
from agent.review.arguments.json_paths import path

CALL_ID = "call"
"""Used as the call's id while arguments are only looked at; a tool that wants the id gets the real one when it runs."""


class Intake:
    """One tool's way of taking arguments."""

    def __init__(self, tool: Any) -> None:
        schema = getattr(tool, "args_schema", None)
        self.schema: Any = schema
        injected, kept = frozenset(_injected(tool, schema)), frozenset(_kept_by_langchain(tool))
        self.filled: Set[str] = injected | kept
        """The names of arguments that LangChain or the agent's own code gives, never the model."""
        self.unreachable: Set[str] = kept & _names(schema) - injected
        """Arguments that the schema asks the model for, and that LangChain gives in the model's place."""
        self.model: type[BaseModel] | None = None
        """The complete schema, except that `filled` may be absent; None if the schema is not a pydantic model."""
        self._parsing = tool
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            self.model = _without(schema, self.filled & schema.model_fields.keys())
            if self.model is not schema:
                self._parsing = copy.copy(tool)
                self._parsing.args_schema = self.model

    def parse(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the function would get of these arguments, by name. Raises what the tool's own checks raise."""
        own = {name: value for name, value in given.items() if name not in self.filled}
        positional, named = self._parsing._to_args_and_kwargs(copy.deepcopy(own), CALL_ID)
        return self.proper(by_position(self._parsing, positional, named) | named)

    def proper(self, named: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of a function's arguments that a model may give."""
        return {name: value for name, value in named.items() if name not in self.filled}

    def rebuild(self, args: Mapping[str, Any], like: Mapping[str, Any]) -> dict[str, Any] | None:
        """Make the function's arguments from their JSON form; None if the result does not have the same JSON form.

        An argument whose value is JSON itself, to judge by the one of this name in `like`, is taken as it is.
        """
        if args.keys() != like.keys():
            return None
        made = copy.deepcopy(dict(args))
        others = [name for name in args if not is_json(like[name])]
        if not others:
            return made
        if self.model is None:
            return None
        try:
            value = self.model.model_validate_json(dumps(made), by_alias=False, by_name=True)
            made |= {name: getattr(value, name) for name in others}
            is_same = json_form(made) == dict(args) and _kinds(made) == _kinds(like)
            return made if is_same else None
        except Exception:  # whatever the tool's own checks raise, they do not accept it
            return None


def by_position(tool: Any, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return, by name, what LangChain passes to a function by position: the first as the tool's first argument."""
    if not args:
        return {}
    try:
        first = next(iter(tool.args), "input")
    except Exception:  # a schema that names no arguments
        first = "input"
    names = [first, *(f"argument {number}" for number in range(2, len(args) + 1))]
    if taken := [name for name in names if name in named]:
        raise refusal([ArgumentFault(path((name,)), "one value", "two") for name in taken])
    return dict(zip(names, args, strict=True))


def intake_of(tool: Any) -> Intake:
    """Return the tool's intake, made once for each tool."""
    kept = _kept.get(id(tool))
    if kept is not None and kept[0]() is tool and kept[1].schema is getattr(tool, "args_schema", None):
        return kept[1]
    place, made = id(tool), Intake(tool)
    _kept[place] = (weakref.ref(tool, lambda _, drop=_kept.pop: drop(place, None)), made)  # type: ignore[misc]
    return made


_kept: dict[int, tuple[Callable[[], Any], Intake]] = {}


def _kinds(value: Any) -> Set[type]:
    """Return the types of a value and of all in it: pydantic does not check a default, which may be of any type."""
    inner = value.values() if isinstance(value, Mapping) else value
    parts = inner if isinstance(inner, Iterable) and not isinstance(inner, str | bytes) else ()
    return frozenset({type(value)}).union(*map(_kinds, parts))


def is_json(value: Any) -> bool:
    """Return whether a value is its own JSON form, types included."""
    match value:
        case dict() if type(value) is dict:
            return all(type(name) is str and is_json(inner) for name, inner in value.items())
        case list() if type(value) is list:
            return all(map(is_json, value))
    return value is None or type(value) in (bool, int, float, str)


def _without(schema: type[BaseModel], names: Set[str]) -> type[BaseModel]:
    if not names:
        return schema
    absent: Any = dict.fromkeys(names, (Any, None))
    return create_model(schema.__name__, __base__=schema, **absent)


def _names(schema: Any) -> Set[str]:
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return schema.model_fields.keys()
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties.keys() if isinstance(properties, Mapping) else frozenset()


def _injected(tool: Any, schema: Any) -> Iterator[str]:
    """Yield what the agent's own code gives: LangChain strips it from what a model proposes."""
    yield from getattr(tool, "_injected_args_keys", ())
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        fields = set(schema.model_fields) - {"run_manager", "callbacks"}
        yield from fields - tool._filter_injected_args(dict.fromkeys(fields)).keys()


def _kept_by_langchain(tool: Any) -> Iterator[str]:
    for function in (getattr(tool, "_run", None), getattr(tool, "_arun", None)):
        yield from _given_by_langchain(function, "run_manager")
    for function in (getattr(tool, "func", None), getattr(tool, "coroutine", None)):
        yield from _given_by_langchain(function, "callbacks")


def _given_by_langchain(function: Callable[..., Any] | None, name: str) -> Iterator[str]:
    """Yield what LangChain gives a function by its signature: a parameter of this name, and one for the run's config."""
    if function is None:
        return
    if name in inspect.signature(function).parameters:
        yield name
    try:
        hints = get_type_hints(function)
    except Exception:  # if the hints cannot be resolved, LangChain gives no config either
        return
    configs = [named for named, hint in hints.items() if getattr(hint, "__name__", "") == "RunnableConfig"]
    yield from configs[:1]
