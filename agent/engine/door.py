"""The door of every tool: what LangChain has made ready for a tool's function passes it, and nothing else does.

LangChain parses a tool's arguments, adds what is injected, and only then calls the tool's `_run` (or `_arun`). Here
`BaseTool.run` and `arun`, through which every tool of every graph is called, hand a copy of the tool to LangChain whose
`_run` is the door. The door asks the gate of the run that the code belongs to. Because this holds for the class, no tool
can lack its door: not one in a graph inside a tool, and not one that was made a moment ago.

Code that belongs to no run passes freely, unless the tool is one that an agent here is known to use: then it was
started in a thread of its own, where nobody can tell what was approved, and does not run.
"""

from __future__ import annotations

import copy
import functools
import weakref
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass
from typing import Any, Protocol, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from agent.engine.places import task_of
from agent.review.actions import Action, Key
from agent.review.errors import ArgumentsRefused
from agent.review.fitting.intake import intake_of
from agent.review.fitting.json_form import json_form

OUTSIDE = (
    "{tool} was not run: it was started outside of its agent's run, in a thread of its own, where nobody can tell what "
    "was approved. Start such threads with contextvars.copy_context().run."
)


@dataclass
class Entering:
    """One call on its way to its tool's function."""

    tool: BaseTool
    call_id: str | None
    config: RunnableConfig
    entered: dict[str, Any] | None
    """The arguments as they entered the tool, in JSON; None where they have no exact JSON form."""
    received: dict[str, Any] | None = None
    """What its function is about to receive, in JSON; None where that has no exact JSON form."""
    key: Key | None = None
    """The action it is, where the graph that calls it says so."""
    inside: Action | None = None
    """The action in whose tool it is called."""
    announced: bool = False
    """LangChain told its callbacks of it."""
    reached: bool = False
    """It came as far as the door."""


@dataclass(frozen=True)
class Go:
    """The call may run, with exactly these arguments, as this action."""

    action: Action
    args: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """The call does not run; this is its result."""

    value: Any


class Gate(Protocol):
    """What stands at every door of one run."""

    def enter(self, entering: Entering, named: Mapping[str, Any]) -> Go | Answer:
        """Whether the call may run, committed before it does. Raises `Stop` where the run may not go on."""

    def left(self, action: Action, returned: Any) -> Any:
        """Commit that the function returned. Returns what the graph is to get of it."""

    def raised(self, action: Action, error: BaseException) -> None:
        """Commit that the function raised."""

    def never_reached(self, entering: Entering, outcome: Any) -> None:
        """Commit that the tool's own checks refused the call, so that its function was not called."""


_gate: ContextVar[Gate | None] = ContextVar("gate", default=None)
_calling: ContextVar[Key | None] = ContextVar("calling", default=None)
_inside: ContextVar[Action | None] = ContextVar("inside", default=None)
_entering: ContextVar[Entering | None] = ContextVar("entering", default=None)
_known: dict[int, Callable[[], Any]] = {}


def under(gate: Gate) -> Context:
    """A context in which this gate is at the door of every tool that is called, and of what that starts in turn."""
    context = copy_context()
    context.run(_gate.set, gate)
    return context


@contextmanager
def calling(key: Key) -> Iterator[None]:
    """Say which action the next call of a tool is."""
    before = _calling.set(key)
    try:
        yield
    finally:
        _calling.reset(before)


def know(tool: Any) -> None:
    """Note that an agent here uses this tool: outside of a run of its agent it does not run."""
    place = id(tool)
    _known[place] = weakref.ref(tool, lambda _, drop=_known.pop: drop(place, None))  # type: ignore[misc]


def announce() -> Entering | None:
    """The call on its way to its door that LangChain's callbacks are told of now; None for one without a door."""
    found = _entering.get()
    if found is None or found.announced:
        return None
    found.announced = True
    return found


def _run(self: BaseTool, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
    gate = _gate.get() or _gate_among(kwargs.get("callbacks"))
    if gate is None:
        _check_known(self, kwargs)
        return _langchain_run(self, tool_input, *args, **kwargs)
    entering = _on_its_way(self, tool_input, kwargs)
    twin = copy.copy(self)
    object.__setattr__(twin, "_run", _sync_door(gate, entering, self._run))
    before = _entering.set(entering)
    try:
        output = _langchain_run(twin, tool_input, *args, **kwargs)
    except BaseException as error:
        _unreached(gate, entering, error)
        raise
    finally:
        _entering.reset(before)
    _unreached(gate, entering, output)
    return output


async def _arun(self: BaseTool, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
    gate = _gate.get() or _gate_among(kwargs.get("callbacks"))
    if gate is None:
        _check_known(self, kwargs)
        return await _langchain_arun(self, tool_input, *args, **kwargs)
    entering = _on_its_way(self, tool_input, kwargs)
    twin = copy.copy(self)
    # Where it has no asynchronous function of its own, LangChain calls the other one, in a thread.
    if _is_asynchronous(self):
        object.__setattr__(twin, "_arun", _async_door(gate, entering, self._arun))
    else:
        object.__setattr__(twin, "_run", _sync_door(gate, entering, self._run))
    before = _entering.set(entering)
    try:
        output = await _langchain_arun(twin, tool_input, *args, **kwargs)
    except BaseException as error:
        _unreached(gate, entering, error)
        raise
    finally:
        _entering.reset(before)
    _unreached(gate, entering, output)
    return output


_langchain_run, _langchain_arun = BaseTool.run, BaseTool.arun
BaseTool.run = functools.wraps(BaseTool.run)(_run)  # type: ignore[method-assign]
BaseTool.arun = functools.wraps(BaseTool.arun)(_arun)  # type: ignore[method-assign]


def _sync_door(gate: Gate, entering: Entering, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def door(*args: Any, **named: Any) -> Any:
        found = _enter(gate, entering, args, named)
        if isinstance(found, Answer):
            return found.value
        with _within(found.action):
            try:
                returned = function(*args, **found.args)
            except BaseException as error:
                gate.raised(found.action, error)
                raise
        return gate.left(found.action, returned)

    return door


def _async_door(
    gate: Gate, entering: Entering, function: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(function)
    async def door(*args: Any, **named: Any) -> Any:
        found = _enter(gate, entering, args, named)
        if isinstance(found, Answer):
            return found.value
        with _within(found.action):
            try:
                returned = await function(*args, **found.args)
            except BaseException as error:
                gate.raised(found.action, error)
                raise
        return gate.left(found.action, returned)

    return door


def _enter(gate: Gate, entering: Entering, args: tuple[Any, ...], named: Mapping[str, Any]) -> Go | Answer:
    entering.reached = True
    named = by_position(entering.tool, args) | dict(named)
    with suppress(ArgumentsRefused):
        entering.received = json_form(intake_of(entering.tool).proper(named))  # type: ignore[assignment]
    found = gate.enter(entering, named)
    if isinstance(found, Go) and args:  # a text alone, which LangChain hands over by position
        return Go(found.action, {name: value for name, value in named.items() if value is not args[0]})
    return found


def by_position(tool: BaseTool, args: tuple[Any, ...]) -> dict[str, Any]:
    """A text that is handed over by position, under the name of the tool's one argument."""
    return {next(iter(tool.args), "input"): args[0]} if args else {}


@contextmanager
def _within(action: Action) -> Iterator[None]:
    inside, called = _inside.set(action), _calling.set(None)
    try:
        yield
    finally:
        _inside.reset(inside)
        _calling.reset(called)


def _on_its_way(tool: BaseTool, tool_input: Any, kwargs: Mapping[str, Any]) -> Entering:
    given = tool_input if isinstance(tool_input, Mapping) else by_position(tool, (tool_input,))
    try:
        entered: Any = json_form(intake_of(tool).proper(given))
    except ArgumentsRefused:
        entered = None
    config = cast(RunnableConfig, kwargs.get("config") or {})
    return Entering(
        tool, kwargs.get("tool_call_id"), config, entered, key=_calling.get(), inside=_inside.get()
    )


def _unreached(gate: Gate, entering: Entering, outcome: Any) -> None:
    if not entering.reached:
        gate.never_reached(entering, outcome)


def _is_asynchronous(tool: BaseTool) -> bool:
    if isinstance(tool, StructuredTool) and type(tool)._arun is StructuredTool._arun:
        return tool.coroutine is not None
    return type(tool)._arun is not BaseTool._arun


def _gate_among(callbacks: Any) -> Gate | None:
    """The gate of the run whose config a thread of its own was given, without the run's context."""
    handlers = getattr(callbacks, "handlers", callbacks)
    found = (one for one in handlers or () if isinstance(one, BaseCallbackHandler) and hasattr(one, "enter"))
    return next(found, None)  # type: ignore[return-value]


def _check_known(tool: BaseTool, kwargs: Mapping[str, Any]) -> None:
    known = _known.get(id(tool))
    if known is None or known() is not tool:
        return
    if not task_of(kwargs.get("config") or {}):  # else it is in a graph that another client runs
        raise ToolException(OUTSIDE.format(tool=tool.name))


def error_result(tool: BaseTool, call_id: str | None, text: str) -> Any:
    """What a function would have to return for the call to get this error as its result."""
    if call_id is None:
        return text if tool.response_format == "content" else (text, None)
    message = ToolMessage(text, tool_call_id=call_id, name=tool.name, status="error")
    return message if tool.response_format == "content" else (message, None)
