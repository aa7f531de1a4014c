"""How a tool takes its arguments: by its own parsing, as LangChain does it before it calls the tool's function.

LangChain's `tool_call_schema` is a subset for the model to read. It leaves out the schema's validators, aliases and
config, so nothing can be concluded from it about what the function gets. Three private names of LangChain are used
here (`_to_args_and_kwargs`, `_injected_args_keys`, `_run`); tests/engine/test_langchain_internals.py holds them.
"""

from __future__ import annotations

import copy
import inspect
import weakref
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any, get_type_hints

from pydantic import BaseModel, create_model

from agent.review.args import dumps
from agent.review.faults import Fault, refusal
from agent.review.fitting.json_form import json_form

CALL_ID = "call"
"""Stands for the call's id while arguments are only looked at; a tool that wants the id gets the real one when it runs."""


class Intake:
    """One tool's way of taking arguments."""

    def __init__(self, tool: Any) -> None:
        schema = getattr(tool, "args_schema", None)
        self.schema: Any = schema
        self.filled: Set[str] = frozenset(_filled(tool, schema))
        """Names that LangChain or the agent's own code gives, never the model."""
        self.model: type[BaseModel] | None = None
        """The whole schema, but that what is filled in may be absent; None where the schema is no pydantic model."""
        self._parsing = tool
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            self.model = _without(schema, self.filled & schema.model_fields.keys())
            if self.model is not schema:
                self._parsing = copy.copy(tool)
                self._parsing.args_schema = self.model

    def parse(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What the function would get of these arguments, by name. Raises what the tool's own checks raise."""
        own = {name: value for name, value in given.items() if name not in self.filled}
        positional, named = self._parsing._to_args_and_kwargs(copy.deepcopy(own), CALL_ID)
        if positional:
            raise refusal([Fault("args", "arguments by name", "one text")])
        return self.proper(named)

    def proper(self, named: Mapping[str, Any]) -> dict[str, Any]:
        """Of what a function is called with, the arguments that a model may give."""
        return {name: value for name, value in named.items() if name not in self.filled}

    def rebuild(self, args: Mapping[str, Any]) -> dict[str, Any] | None:
        """The function's arguments, made of their JSON form; None where that does not lead back to the same."""
        if self.model is None:
            is_plain = self.schema is None or isinstance(self.schema, Mapping)
            return copy.deepcopy(dict(args)) if is_plain else None
        try:
            value = self.model.model_validate_json(dumps(dict(args)), by_alias=False, by_name=True)
            made = {name: getattr(value, name) for name in args}
            return made if json_form(made) == dict(args) else None
        except Exception:  # whatever the tool's own checks raise: they do not take it
            return None


def intake_of(tool: Any) -> Intake:
    """The tool's intake, made once for each tool."""
    kept = _kept.get(id(tool))
    if kept is not None and kept[0]() is tool and kept[1].schema is getattr(tool, "args_schema", None):
        return kept[1]
    place, made = id(tool), Intake(tool)
    _kept[place] = (weakref.ref(tool, lambda _, drop=_kept.pop: drop(place, None)), made)  # type: ignore[misc]
    return made


_kept: dict[int, tuple[Callable[[], Any], Intake]] = {}


def _without(schema: type[BaseModel], names: Set[str]) -> type[BaseModel]:
    if not names:
        return schema
    absent: Any = dict.fromkeys(names, (Any, None))
    return create_model(schema.__name__, __base__=schema, **absent)


def _filled(tool: Any, schema: Any) -> Iterator[str]:
    yield from getattr(tool, "_injected_args_keys", ())
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        shown = tool.tool_call_schema
        yield from schema.model_fields.keys() - getattr(shown, "model_fields", {}).keys()
    for function in (getattr(tool, "_run", None), getattr(tool, "_arun", None)):
        yield from _given_by_langchain(function, "run_manager")
    for function in (getattr(tool, "func", None), getattr(tool, "coroutine", None)):
        yield from _given_by_langchain(function, "callbacks")


def _given_by_langchain(function: Callable[..., Any] | None, name: str) -> Iterator[str]:
    """What LangChain gives a function by its signature: a parameter of this name, and one for the run's config."""
    if function is None:
        return
    if name in inspect.signature(function).parameters:
        yield name
    try:
        hints = get_type_hints(function)
    except Exception:  # LangChain gives no config either where the hints cannot be resolved
        return
    configs = [named for named, hint in hints.items() if getattr(hint, "__name__", "") == "RunnableConfig"]
    yield from configs[:1]
