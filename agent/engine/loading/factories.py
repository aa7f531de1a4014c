"""What a configuration's variable may be: a graph, compiled or not, or a factory of one, as LangGraph's servers take it.

A factory may be synchronous or not, and may return a context manager. It takes nothing, a config, LangGraph's
`ServerRuntime`, or the last two. The console calls it once, when it opens, and leaves the context when it closes.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import typing
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack
from typing import Any, TypeGuard

from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel
from langgraph.store.base import BaseStore
from langgraph_sdk import runtime as sdk

from agent.engine.checkpoints import Graph

log = logging.getLogger(__name__)

CONTEXTS = (AbstractAsyncContextManager, AbstractContextManager)
LEAVING = 10.0
"""Seconds that a factory's contexts are given to close."""
NO_GRAPH = "{found} is neither a compiled graph, nor a StateGraph, nor a factory of one"
KNOWN = {"ServerRuntime": sdk.ServerRuntime, "RunnableConfig": RunnableConfig}
"""Names that a factory's annotations may use though they are imported for type checkers alone."""


class Factories:
    """Calls factories on one event loop, and keeps open what they opened until it is closed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave = asyncio.Event()
        self._held: list[Future[None]] = []

    def called(self, factory: Callable[..., Any], configurable: Mapping[str, Any], runtime: Any) -> Any:
        """Return what a factory makes. Raises what it raises, and TypeError for one with other parameters."""
        made = factory(**arguments_of(factory, {"configurable": dict(configurable)}, runtime))
        if not inspect.isawaitable(made) and not isinstance(made, CONTEXTS):
            return made
        entered: Future[Any] = Future()
        self._held.append(asyncio.run_coroutine_threadsafe(self._hold(made, entered), self._running()))
        return entered.result()

    def close(self) -> None:
        """Leave the contexts that factories opened. Idempotent."""
        if (loop := self._loop) is None:
            return
        self._loop = None
        loop.call_soon_threadsafe(self._leave.set)
        wait(self._held, timeout=LEAVING)
        loop.call_soon_threadsafe(loop.stop)

    async def _hold(self, made: Any, entered: Future[Any]) -> None:
        """Enter and leave in one task: a context of anyio's, such as an MCP session, may be left in no other."""
        try:
            if inspect.isawaitable(made):
                made = await made
            async with AsyncExitStack() as opened:
                if isinstance(made, AbstractAsyncContextManager):
                    made = await opened.enter_async_context(made)
                elif isinstance(made, AbstractContextManager):
                    made = opened.enter_context(made)
                else:
                    return entered.set_result(made)
                entered.set_result(made)
                await self._leave.wait()
        except BaseException as error:
            if entered.done():
                log.exception("what a graph factory opened could not be closed")
            else:
                entered.set_exception(error)

    def _running(self) -> asyncio.AbstractEventLoop:
        """Return a loop in a thread of its own, which outlives the call: what a factory opened may belong to its loop."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=_serve, args=(self._loop,), name="factories", daemon=True).start()
        return self._loop


def runtime_of(context: Any, store: BaseStore | None) -> Any:
    """Return the `ServerRuntime` that a factory is called with."""
    return sdk._ExecutionRuntime(access_context="threads.create_run", store=store, context=context)  # type: ignore[arg-type]


def graph_of(found: Any, store: BaseStore | None) -> Graph:
    """Return a graph compiled, with this store if it has none of its own. Raises TypeError for what is no graph."""
    graph = found.compile() if isinstance(found, StateGraph) else found
    if not is_graph(graph):
        raise TypeError(NO_GRAPH.format(found=repr(found)[:200]))
    return graph if graph.store is not None or store is None else graph.copy(update={"store": store})


def is_factory(found: Any) -> bool:
    return callable(found) and not isinstance(found, Pregel | StateGraph)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


def is_graph(found: Any) -> TypeGuard[Graph]:
    return isinstance(found, Pregel)


def arguments_of(factory: Callable[..., Any], config: RunnableConfig, runtime: Any) -> dict[str, Any]:
    """Return what a factory is called with, by its signature. Raises TypeError for one that takes anything else."""
    parameters = list(inspect.signature(factory).parameters.values())
    runtimes = [one.name for one in parameters if _is_runtime(one, _hints(factory).get(one.name))]
    configs = [one.name for one in parameters if one.name not in runtimes]
    if len(configs) > 1 or len(runtimes) > 1:
        named = ", ".join(one.name for one in parameters)
        raise TypeError(
            f"a graph factory takes a config, a ServerRuntime, both or nothing; this takes {named}"
        )
    return {**dict.fromkeys(runtimes, runtime), **dict.fromkeys(configs, config)}


def _hints(factory: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(factory, localns=dict(KNOWN))
    except Exception:  # an annotation may name anything
        return {}


def _is_runtime(parameter: inspect.Parameter, hint: Any) -> bool:
    if hint is None and parameter.annotation is inspect.Parameter.empty:
        return parameter.name == "runtime"
    if isinstance(hint, type):
        return issubclass(hint, sdk._ServerRuntimeBase)
    parts = (hint, typing.get_origin(hint), *typing.get_args(hint)[:1])
    return any(part is sdk.ServerRuntime for part in parts)
