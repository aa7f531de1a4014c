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
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph._internal._constants import CONFIG_KEY_CHECKPOINTER as CHECKPOINTER
from langgraph._internal._constants import CONFIG_KEY_SCRATCHPAD as SCRATCHPAD
from langgraph._internal._constants import CONFIG_KEY_SEND as SEND
from langgraph._internal._scratchpad import PregelScratchpad
from langgraph.checkpoint.serde.types import RESUME

from agent.engine.namespaces import task_of
from agent.review.actions import Action, Key
from agent.review.arguments.fitting.intake import by_position, intake_of
from agent.review.arguments.fitting.json_form import json_form
from agent.review.errors import ArgumentsRefused

OUTSIDE = (
    "{tool} was not run: it was started outside of its agent's run, in a thread of its own, where nobody can tell what "
    "was approved. Start such threads with contextvars.copy_context().run."
)


@dataclass
class Turns:
    """How many of its task's turns a call took: LangGraph finds answers, and graphs inside, by their number in the task."""

    pad: PregelScratchpad | None = None
    send: Callable[[Sequence[tuple[str, Any]]], None] = lambda writes: None
    asked: int = 0
    inside: int = 0

    def counted(self, config: RunnableConfig) -> RunnableConfig:
        """Return the same config, with LangGraph's counters of interrupts and subgraphs watched."""
        named = config.get("configurable") or {}
        pad = named.get(SCRATCHPAD)
        if not isinstance(pad, PregelScratchpad):
            return config
        self.pad, self.send = pad, named.get(SEND, self.send)
        own = replace(pad, interrupt_counter=self._asks, subgraph_counter=self._calls_a_graph)
        return {**config, "configurable": {**named, SCRATCHPAD: own}}

    def skip(self, asked: int, inside: int) -> None:
        """Take as many turns as the call took when it ran: what comes behind it in its task gets the next ones."""
        for _ in range(asked if self.pad else 0):
            turn, answers = self._asks(), cast(PregelScratchpad, self.pad).resume
            if turn < len(answers):  # kept with the task, as a question that is asked again keeps it
                self.send([(RESUME, answers[: turn + 1])])
        for _ in range(inside if self.pad else 0):
            self._calls_a_graph()

    def _asks(self) -> int:
        self.asked += 1
        return cast(PregelScratchpad, self.pad).interrupt_counter()

    def _calls_a_graph(self) -> int:
        self.inside += 1
        return cast(PregelScratchpad, self.pad).subgraph_counter()


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
    turns: Turns = field(default_factory=Turns)

    @property
    def is_paired(self) -> bool:
        """Whether its function returns a content together with an artifact."""
        return self.tool.response_format != "content"


@dataclass(frozen=True)
class Go:
    """The call may run, with exactly these arguments, as this action."""

    action: Action
    args: Mapping[str, Any]
    by_position: tuple[Any, ...] = ()
    """Those of them that LangChain hands over without a name."""


@dataclass(frozen=True)
class NotRun:
    """The call does not run; this is its result."""

    value: Any


class Gate(Protocol):
    """What stands at every door of one run."""

    def enter(self, entering: Entering, named: Mapping[str, Any]) -> Go | NotRun:
        """Whether the call may run, committed before it does. Raises `Stop` where the run may not go on."""

    def left(self, action: Action, returned: Any, turns: Turns, *, paired: bool) -> Any:
        """Commit that the function returned, a content `paired` with its artifact or one thing. Returns it for the graph."""

    def raised(self, action: Action, error: BaseException, turns: Turns) -> None:
        """Commit that the function raised."""

    def never_reached(self, entering: Entering, outcome: Any) -> None:
        """Commit that the tool's own checks refused the call, so that its function was not called."""


_gate: ContextVar[Gate | None] = ContextVar("gate", default=None)
_calling: ContextVar[Key | None] = ContextVar("calling", default=None)
_inside: ContextVar[Action | None] = ContextVar("inside", default=None)
_entering: ContextVar[Entering | None] = ContextVar("entering", default=None)
_known: dict[int, Callable[[], Any]] = {}
"""What the tools of agents here are known by, by id; each with a weak reference to it."""


def under(gate: Gate) -> Context:
    """Return a context in which this gate is at the door of every tool that is called, directly or by another tool."""
    context = copy_context()
    context.run(_gate.set, gate)
    return context


def is_gated() -> bool:
    """Whether this code belongs to a run with a gate."""
    return _gate.get() is not None


@contextmanager
def calling(key: Key) -> Iterator[None]:
    """Say which action the next call of a tool is."""
    before = _calling.set(key)
    try:
        yield
    finally:
        _calling.reset(before)


def know(tool: Any) -> None:
    """Note that an agent here uses this tool: outside of a run of its agent neither it nor a copy of it runs."""
    for it in (tool, *_makings(tool)):
        place = id(it)
        with suppress(TypeError):  # a function of a kind that cannot be referred to weakly
            _known[place] = weakref.ref(it, lambda _, drop=_known.pop, at=place: drop(at, None))  # type: ignore[misc]


def _makings(tool: Any) -> list[Any]:
    """Return what every copy of the tool shares with it: its functions, or a class of its own."""
    functions = [one for name in ("func", "coroutine") if (one := getattr(tool, name, None)) is not None]
    is_langchains = type(tool).__module__.startswith("langchain_core.tools")
    return functions if functions or is_langchains else [type(tool)]


def announce() -> Entering | None:
    """Return the call that LangChain's callbacks are being notified of, if its tool has a door."""
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
    if config := kwargs.get("config"):
        kwargs["config"] = entering.turns.counted(config)
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
    if config := kwargs.get("config"):
        kwargs["config"] = entering.turns.counted(config)
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
        if isinstance(found, NotRun):
            return found.value
        with _within(found.action):
            try:
                returned = function(*found.by_position, **found.args)
            except BaseException as error:
                gate.raised(found.action, error, entering.turns)
                raise
        return gate.left(found.action, returned, entering.turns, paired=entering.is_paired)

    return door


def _async_door(
    gate: Gate, entering: Entering, function: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(function)
    async def door(*args: Any, **named: Any) -> Any:
        found = _enter(gate, entering, args, named)
        if isinstance(found, NotRun):
            return found.value
        with _within(found.action):
            try:
                returned = await function(*found.by_position, **found.args)
            except BaseException as error:
                gate.raised(found.action, error, entering.turns)
                raise
        return gate.left(found.action, returned, entering.turns, paired=entering.is_paired)

    return door


def _enter(gate: Gate, entering: Entering, args: tuple[Any, ...], named: Mapping[str, Any]) -> Go | NotRun:
    entering.reached = True
    placed = by_position(entering.tool, args, named)
    whole = placed | dict(named)
    with suppress(ArgumentsRefused):
        entering.received = json_form(intake_of(entering.tool).proper(whole))  # type: ignore[assignment]
    found = gate.enter(entering, whole)
    if isinstance(found, Go) and placed:
        left = {name: value for name, value in found.args.items() if name not in placed}
        return Go(found.action, left, tuple(found.args[name] for name in placed))
    return found


@contextmanager
def _within(action: Action) -> Iterator[None]:
    inside, called = _inside.set(action), _calling.set(None)
    try:
        yield
    finally:
        _inside.reset(inside)
        _calling.reset(called)


def _on_its_way(tool: BaseTool, tool_input: Any, kwargs: Mapping[str, Any]) -> Entering:
    given = tool_input if isinstance(tool_input, Mapping) else by_position(tool, (tool_input,), {})
    try:
        entered: Any = json_form(intake_of(tool).proper(given))
    except ArgumentsRefused:
        entered = None
    config = cast(RunnableConfig, kwargs.get("config") or {})
    if not task_of(config):  # it was called by hand: with no config, or with one of its own
        config = var_child_runnable_config.get() or config
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
    """Return the gate of the run whose config a thread was given without the run's context."""
    handlers = getattr(callbacks, "handlers", callbacks)
    found = (one for one in handlers or () if isinstance(one, BaseCallbackHandler) and hasattr(one, "enter"))
    return next(found, None)  # type: ignore[return-value]


def _check_known(tool: BaseTool, kwargs: Mapping[str, Any]) -> None:
    if not any((known := _known.get(id(it))) and known() is it for it in (tool, *_makings(tool))):
        return
    config = kwargs.get("config") or {}
    named = config.get("configurable") or {}
    # Of a thread that another client of the same checkpoints runs, the saver has no fence.
    if getattr(named.get(CHECKPOINTER), "fence", None) is not None or not (
        task_of(config) and named.get("thread_id")
    ):
        raise ToolException(OUTSIDE.format(tool=tool.name))


def error_result(tool: BaseTool, call_id: str | None, text: str) -> Any:
    """Return what the function would have to return for the call's result to be this error."""
    if call_id is None:
        return text if tool.response_format == "content" else (text, None)
    message = ToolMessage(text, tool_call_id=call_id, name=tool.name, status="error")
    return message if tool.response_format == "content" else (message, None)
