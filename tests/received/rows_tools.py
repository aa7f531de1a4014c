"""Rows about the ways in which LangChain lets a tool be made, and about the arguments that are not the model's."""

from __future__ import annotations

from typing import Annotated, Any

from langchain.tools import ToolRuntime
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, StructuredTool, tool
from langgraph.prebuilt import InjectedState, InjectedStore
from pydantic import BaseModel, Field

from tests.received.rows import REFUSED, row
from tests.received.writing import tool_of, write

NAMED = {
    "title": "named",
    "type": "object",
    "properties": {"command": {"type": "string"}, "shell": {"type": "string", "default": "sh"}},
    "required": ["command"],
}

# Schemas of every make.


@row({"command": "ls"}, {"command": "ls"}, {"command": "pwd", "shell": "zsh"}, open_schema=True)
def json_schema() -> BaseTool:
    return tool_of("json_schema", NAMED)


@row({"command": "ls", "odd": [1]}, {"command": "ls", "odd": [1]}, {"command": "pwd"}, open_schema=True)
def json_schema_and_more() -> BaseTool:
    return tool_of("json_schema_and_more", NAMED)


@row({"command": 5}, {"command": 5}, {"command": "pwd"}, open_schema=True, may_refuse=True)
def json_schema_unfit() -> BaseTool:
    return tool_of("json_schema_unfit", NAMED)


@row({"a": "5", "b": [1, {"c": None}]}, {"a": "5", "b": [1, {"c": None}]}, {"a": 1, "b": 2}, {"a": 1, "b": 2})
def no_type_hints() -> BaseTool:
    @tool
    def no_type_hints(a, b):  # type: ignore[no-untyped-def]
        """Take anything."""
        return write("no_type_hints", {"a": a, "b": b})

    return no_type_hints


@row({"to": "x", "count": "3"}, {"to": "x", "count": 3}, {"to": "y"}, {"to": "y", "count": 1})
def function() -> BaseTool:
    @tool
    def function(to: str, count: int = 1) -> str:
        """Take two."""
        return write("function", {"to": to, "count": count})

    return function


@row({}, {})
def no_arguments() -> BaseTool:
    @tool
    def no_arguments() -> str:
        """Take nothing."""
        return write("no_arguments", {})

    return no_arguments


@row({"n": "3"}, {"n": 3}, {"n": "4"}, {"n": 4})
def subclass() -> BaseTool:
    class Arguments(BaseModel):
        n: int

    class Subclass(BaseTool):
        name: str = "subclass"
        description: str = "A class with a schema."
        args_schema: type[BaseModel] = Arguments

        def _run(self, n: int) -> str:
            return write("subclass", {"n": n})

    return Subclass()


@row({"n": "3"}, {"n": "3"}, {"n": 4}, {"n": 4}, open_schema=True)
def subclass_without_schema() -> BaseTool:
    class SubclassWithoutSchema(BaseTool):
        name: str = "subclass_without_schema"
        description: str = "A class without a schema, to which nothing converts its argument."

        def _run(self, n: int) -> str:
            return write("subclass_without_schema", {"n": n})

    return SubclassWithoutSchema()


@row({"to": "x", "n": "2"}, {"to": "x", "n": 2}, {"to": "y", "n": 3}, {"to": "y", "n": 3})
def from_function() -> BaseTool:
    def run(to: str, n: int) -> str:
        return write("from_function", {"to": to, "n": n})

    return StructuredTool.from_function(run, name="from_function", description="Infer.", infer_schema=True)


@row({"to": "x", "n": 1}, {"to": "x", "n": 1}, {"to": "y", "n": 2}, {"to": "y", "n": 2})
def annotated_field() -> BaseTool:
    @tool
    def annotated_field(to: str, n: Annotated[int, Field(ge=0, description="How many")]) -> str:
        """Take two."""
        return write("annotated_field", {"to": to, "n": n})

    return annotated_field


@row({"to": "x"}, {"to": "x"}, may_refuse=True)
def star_args() -> BaseTool:
    @tool
    def star_args(to: str, *args: Any) -> str:
        """Take more by place."""
        return write("star_args", {"to": to, **({"args": args} if args else {})})

    return star_args


@row({"to": "x"}, {"to": "x"}, {"to": "y"}, {"to": "y"}, may_refuse=True)
def star_kwargs() -> BaseTool:
    @tool
    def star_kwargs(to: str, **kwargs: Any) -> str:
        """Take more by name."""
        return write("star_kwargs", {"to": to, **kwargs})

    return star_kwargs


@row({"to": "x", "kwargs": {"bcc": "eve"}}, {"to": "x", "kwargs": {"bcc": "eve"}}, may_refuse=True)
def star_kwargs_given() -> BaseTool:
    @tool
    def star_kwargs_given(to: str, **kwargs: Any) -> str:
        """Take more by name."""
        return write("star_kwargs_given", {"to": to, **kwargs})

    return star_kwargs_given


# Arguments that come from elsewhere.


@row({"to": "x"}, {"to": "x"}, {"to": "y"}, {"to": "y"}, injected=frozenset({"user"}))
def injected() -> BaseTool:
    @tool
    def injected(to: str, user: Annotated[str, InjectedToolArg] = "nobody") -> str:
        """Take one that no model gives."""
        return write("injected", {"to": to, "user": user})

    return injected


@row({"to": "x", "user": "root"}, {"to": "x"}, {"to": "y"}, injected=frozenset({"user"}), may_refuse=True)
def injected_but_given() -> BaseTool:
    @tool
    def injected_but_given(to: str, user: Annotated[str, InjectedToolArg] = "nobody") -> str:
        """Take one that no model may give."""
        return write("injected_but_given", {"to": to, "user": user})

    return injected_but_given


@row({"n": "1"}, {"n": 1}, {"n": 2}, {"n": 2}, injected=frozenset({"call_id"}))
def call_id() -> BaseTool:
    @tool
    def call_id(n: int, call_id: Annotated[str, InjectedToolCallId]) -> str:
        """Take the call's id."""
        return write("call_id", {"n": n, "call_id": call_id})

    return call_id


@row({"n": "1"}, {"n": 1}, {"n": 2}, {"n": 2}, injected=frozenset({"state"}), graph_only=True)
def with_state() -> BaseTool:
    @tool
    def with_state(n: int, state: Annotated[Any, InjectedState]) -> str:
        """Take the graph's state."""
        return write("with_state", {"n": n, "state": len(state["messages"])})

    return with_state


@row({"n": 1, "state": {"messages": []}}, {"n": 1}, {"n": 2}, injected=frozenset({"state"}), graph_only=True)
def state_but_given() -> BaseTool:
    @tool
    def state_but_given(n: int, state: Annotated[Any, InjectedState]) -> str:
        """Take the graph's state, whatever the model says it is."""
        return write("state_but_given", {"n": n, "state": len(state["messages"])})

    return state_but_given


@row({"n": "1"}, {"n": 1}, {"n": 2}, {"n": 2}, injected=frozenset({"runtime"}), graph_only=True)
def with_runtime() -> BaseTool:
    @tool
    def with_runtime(n: int, runtime: ToolRuntime) -> str:
        """Take the tool's runtime."""
        return write("with_runtime", {"n": n, "runtime": runtime.tool_call_id})

    return with_runtime


@row({"n": "1"}, {"n": 1}, {"n": 2}, {"n": 2}, injected=frozenset({"store"}), graph_only=True)
def with_store() -> BaseTool:
    @tool
    def with_store(n: int, store: Annotated[Any, InjectedStore()]) -> str:
        """Take the store."""
        return write("with_store", {"n": n, "store": type(store).__name__})

    return with_store


@row({"n": "1"}, {"n": 1}, {"n": 2}, {"n": 2}, injected=frozenset({"settings"}))
def with_config() -> BaseTool:
    @tool
    def with_config(n: int, settings: RunnableConfig) -> str:
        """Take the run's config."""
        return write("with_config", {"n": n, "settings": sorted(settings)[:1]})

    return with_config


@row({"n": "1"}, {"n": 1}, {"n": 2}, {"n": 2}, injected=frozenset({"callbacks"}))
def with_callbacks() -> BaseTool:
    @tool
    def with_callbacks(n: int, callbacks: Any = None) -> str:
        """Take LangChain's callbacks."""
        return write("with_callbacks", {"n": n, "callbacks": type(callbacks).__name__})

    return with_callbacks


@row({"n": "1"}, {"n": 1}, {"n": 2}, {"n": 2}, injected=frozenset({"run_manager"}))
def with_run_manager() -> BaseTool:
    class WithRunManager(BaseTool):
        name: str = "with_run_manager"
        description: str = "Take LangChain's run manager."

        class Arguments(BaseModel):
            n: int

        args_schema: type[BaseModel] = Arguments

        def _run(self, n: int, run_manager: Any = None) -> str:
            return write("with_run_manager", {"n": n, "run_manager": type(run_manager).__name__})

    return WithRunManager()


# Arguments of the model's that have the name of one of LangChain's.


class Callbacks(BaseModel):
    n: int
    callbacks: str


class RunManager(BaseModel):
    n: int
    run_manager: str = "none"


@row({"n": "1", "callbacks": "c"}, {"n": 1, "callbacks": "c"}, {"n": 2, "callbacks": "d"}, may_refuse=True)
def argument_callbacks() -> BaseTool:
    return tool_of("argument_callbacks", Callbacks)


@row({"n": 1, "callbacks": "c"}, {"n": 1}, injected=frozenset({"callbacks"}), may_refuse=True)
def argument_callbacks_by_name() -> BaseTool:
    def run(n: int, callbacks: Any) -> str:
        return write("argument_callbacks_by_name", {"n": n, "callbacks": callbacks})

    name = "argument_callbacks_by_name"
    return StructuredTool(name=name, description="Take callbacks.", args_schema=Callbacks, func=run)


@row({"n": 1, "run_manager": "r"}, {"n": 1}, {"n": 2}, {"n": 2}, may_refuse=True)
def argument_run_manager() -> BaseTool:
    return tool_of("argument_run_manager", RunManager)


@row({"to": "x", "config": "staging"}, {"to": "x"}, injected=frozenset({"config"}), may_refuse=True)
def argument_config() -> BaseTool:
    @tool
    def argument_config(to: str, config: str = "production") -> str:
        """Take a config, which LangChain keeps for itself: the function always gets its own default."""
        return write("argument_config", {"to": to, "config": config})

    return argument_config


@row({"to": "x", "v__args": ["y"]}, {"to": "x"}, {"to": "y"}, {"to": "y"}, may_refuse=True)
def odd_name() -> BaseTool:
    @tool
    def odd_name(to: str) -> str:
        """Take one."""
        return write("odd_name", {"to": to})

    return odd_name


@row({"to": "x", "self": "y"}, REFUSED, open_schema=True)
def argument_self() -> BaseTool:
    return tool_of("argument_self", {**NAMED, "required": []})


@row({}, REFUSED)
def missing() -> BaseTool:
    @tool
    def missing(to: str) -> str:
        """Take one."""
        return write("missing", {"to": to})

    return missing
