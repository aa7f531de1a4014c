"""A plain LangGraph thread, called as any program would call it, that keeps what went over the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot

from agent.ports import Inside
from agent.review import shapes


@dataclass(frozen=True)
class Sent:
    """One thing that went over the wire."""

    what: str
    """What it is and which way it goes, in our words."""
    value: str
    """The text itself."""


class PlainThread:
    """One thread of a graph. What a call raises is kept, not raised: the lessons are about it."""

    def __init__(self, graph: CompiledStateGraph[Any, Any, Any, Any]) -> None:
        self._graph = graph
        self._config: RunnableConfig = {"configurable": {"thread_id": "lesson"}}
        self.wire: list[Sent] = []
        self.raised: list[str] = []
        """What each call raised, or ""."""

    def invoke(self, given: Any, *, at: RunnableConfig | None = None) -> None:
        """Call `graph.invoke(given, config)`; `at` is the config of a checkpoint, by default the last one."""
        from_there = "" if at is None else f", {dict(at)!r}"
        self.wire.append(Sent("To the graph", f"invoke({_written(given)}{from_there})"))
        try:
            self._graph.invoke(given, at or self._config)
        except Exception as error:  # a node may raise anything on an answer
            self.raised.append(f"{type(error).__name__}: {error}")
            self.wire.append(Sent("The graph raises", self.raised[-1]))
            return
        self.raised.append("")
        for interrupt in self.snapshot.interrupts:
            self.wire.append(
                Sent("The graph asks", f"Interrupt(id={interrupt.id!r}, value={interrupt.value!r})")
            )

    @property
    def snapshot(self) -> StateSnapshot:
        """The thread's last checkpoint."""
        return self._graph.get_state(self._config)

    @property
    def waits_for(self) -> str:
        """The id of the interrupt that waits, or ""."""
        return next((str(one.id) for one in self.snapshot.interrupts), "")

    def inside(self) -> Inside:
        """Return the graph, with the node that runs next or waits."""
        drawn, snapshot = self._graph.get_graph(), self.snapshot
        payloads: Mapping[str, Any] = {str(one.id): one.value for one in snapshot.interrupts}
        return Inside(
            nodes=tuple(drawn.nodes),
            edges=tuple((edge.source, edge.target, edge.conditional) for edge in drawn.edges),
            at=tuple(snapshot.next),
            payloads=payloads,
            pauses={name: shapes.read(value) for name, value in payloads.items()},
            steps=(),
        )


def _written(given: Any) -> str:
    return f"Command(resume={given.resume!r})" if isinstance(given, Command) else repr(given)
