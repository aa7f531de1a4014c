"""The moments at which a server can be stopped, and how its own functions are made to pass them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agent.demos.model import DemoModel
from agent.demos.world import World
from agent.engine.checkpointer import FencedSaver
from agent.engine.guard import Guard
from agent.engine.supervisor import Supervisor
from agent.ledger.sqlite import SqliteLedger, SqliteTransaction
from agent.review.events import EventKind, UnsealedEvent
from tests.faults.orders import Orders

DECISION = "before the decision's commit"
RESUME = "after the decision's commit, before the resume"
GUARD = "before the guard's commit"
FIRST_LINE = "before a tool's first line"
EFFECT = "after a tool's effect, before its return"
TOOL_END = "before the commit of a tool's end"
CHECKPOINT = "before a checkpoint"
IN_CHECKPOINT = "inside a checkpoint's transaction"
MODEL = "during the model call"
RUN_END = "before the commit of a run's end"
RECONCILE = "during reconcile, before its commit"
RECONCILED = "during reconcile, after its commit"

BY_FACT = {
    EventKind.DECISION_MADE: DECISION,
    EventKind.EXECUTION_STARTED: GUARD,
    EventKind.EXECUTION_FINISHED: TOOL_END,
    EventKind.RUN_ENDED: RUN_END,
}


def watch(orders: Orders) -> None:
    """From now on this process's console follows the orders at each of the moments."""
    _watch_transactions(orders)
    _before(Supervisor, "start", orders, lambda _, run, *__: RESUME if run.delivery.kind == "resume" else "")
    _before(Supervisor, "_enqueue", orders, lambda _, live: RECONCILED if live.recovered else "")
    _after(Guard, "enter", orders, FIRST_LINE)
    _after(World, "send", orders, EFFECT)
    _before(FencedSaver, "put", orders, lambda *_: CHECKPOINT)
    _before(FencedSaver, "put_writes", orders, lambda *_: CHECKPOINT)
    _watch_checkpoints(orders)
    _watch_model(orders)


def _before(owner: Any, name: str, orders: Orders, moment: Callable[..., str]) -> None:
    original = getattr(owner, name)

    def passing(*args: Any, **more: Any) -> Any:
        orders.passing(moment(*args))
        return original(*args, **more)

    setattr(owner, name, passing)


def _after(owner: Any, name: str, orders: Orders, moment: str) -> None:
    original = getattr(owner, name)

    def passing(*args: Any, **more: Any) -> Any:
        found = original(*args, **more)
        orders.passing(moment)
        return found

    setattr(owner, name, passing)


def _watch_transactions(orders: Orders) -> None:
    """What a transaction of the ledger does tells which moment its commit is."""
    write, append, take_over = SqliteLedger.write, SqliteTransaction.append, SqliteTransaction.take_over

    def appending(self: Any, *facts: UnsealedEvent) -> None:
        append(self, *facts)
        vars(self).setdefault("moments", []).extend(BY_FACT.get(fact.kind, "") for fact in facts)

    def taking_over(self: SqliteTransaction, run_id: str, owner: str, fence: int) -> bool:
        taken = take_over(self, run_id, owner, fence)
        vars(self).setdefault("moments", []).extend([RECONCILE] if taken else [])
        return taken

    @contextmanager
    def writing(self: Any) -> Iterator[Any]:
        with write(self) as tx:
            yield tx
            for moment in dict.fromkeys(vars(tx).get("moments", ())):
                orders.passing(moment)

    SqliteLedger.write = writing  # type: ignore[method-assign]
    SqliteTransaction.append = appending  # type: ignore[method-assign]
    SqliteTransaction.take_over = taking_over  # type: ignore[method-assign]


def _watch_checkpoints(orders: Orders) -> None:
    cursor = FencedSaver.cursor

    @contextmanager
    def watched(self: Any, transaction: bool = True) -> Iterator[Any]:
        with cursor(self, transaction) as found:
            yield found
            if transaction and getattr(self._writing, "run", None):
                orders.passing(IN_CHECKPOINT)

    FencedSaver.cursor = watched  # type: ignore[method-assign]


def _watch_model(orders: Orders) -> None:
    stream = DemoModel._stream

    def watched(self: Any, *args: Any, **more: Any) -> Iterator[Any]:
        for place, piece in enumerate(stream(self, *args, **more)):
            yield piece
            if place == 0:
                orders.passing(MODEL)

    DemoModel._stream = watched  # type: ignore[method-assign]
