"""An engine that is opened on first use: importing LangChain and LangGraph takes longer than all the rest."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agent.ports import Inside, Look, Moment, Token
from agent.review.agents import Agent, LoadFailure
from agent.review.policy import Policy
from agent.review.threads import Run

if TYPE_CHECKING:
    from agent.engine.local import LocalEngine


class LazyEngine:
    """An engine that opens the real one once, when it is first needed.

    What every page shows of the agents is known before. Every other method raises what opening the engine raises.
    """

    def __init__(
        self,
        policies: Mapping[str, Policy],
        broken: Mapping[str, LoadFailure],
        models: Sequence[str],
        make: Callable[[], LocalEngine],
    ) -> None:
        """`policies` are those of the agents that `make` will serve, by name."""
        self._policies, self._broken, self._models, self._make = policies, broken, models, make
        self._turn = threading.Lock()
        self.wanted = threading.Event()
        """Set when somebody needs the engine, or when opening it no longer holds anybody up."""
        self._engine: LocalEngine | None = None

    def open(self) -> LocalEngine:
        """Return the engine, opened. Other callers wait, so that no two threads import parts of the same packages."""
        self.wanted.set()
        if self._engine is None:
            with self._turn:
                if self._engine is None:
                    self._engine = self._make()
        return self._engine

    def shut(self) -> None:
        if self._engine is not None:
            self._engine.shut()

    def agents(self) -> Sequence[str]:
        return tuple(self._policies)

    def tools(self) -> Sequence[str]:
        return sorted({tool for policy in self._policies.values() for tool in policy.tools})

    def broken(self) -> Mapping[str, LoadFailure]:
        return self._broken

    def models(self) -> Sequence[str]:
        return self._models

    def agent(self, name: str) -> Agent:
        return self.open().agent(name)

    def stream(self, run: Run, stop: threading.Event, hear: Callable[[Token], None]) -> Iterator[Moment]:
        return self.open().stream(run, stop, hear)

    def look(self, agent: str, thread_id: str) -> Look:
        return self.open().look(agent, thread_id)

    def waiting(self, agent: str, thread_id: str) -> tuple[str, ...]:
        return self.open().waiting(agent, thread_id)

    def forget(self, thread_id: str) -> None:
        self.open().forget(thread_id)

    def inside(self, agent: str, thread_id: str, *, steps: int = 20) -> Inside:
        return self.open().inside(agent, thread_id, steps=steps)
