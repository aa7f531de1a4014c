"""The real server, started so that it can be stopped at a named moment: the product itself knows nothing of it."""

from __future__ import annotations

import faulthandler
import json
import logging
import signal
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults.orders import Orders
from tests.forked import begin

ENOUGH = 2**32 - 2
"""SQLite's own limit on pages."""


@dataclass(frozen=True)
class Start:
    """What one server is started with."""

    port: int
    environment: dict[str, str]
    orders: Path
    log: Path


def serve(start: Start) -> None:
    """Run the server in this process, as `python app.py` does, until it is ended."""
    begin(start.environment, start.log)
    logging.basicConfig()
    logging.getLogger("agent").setLevel(logging.INFO)
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    _prepare(Orders(start.orders))
    import app

    app.app.run(config={"server.port": start.port})


def _prepare(orders: Orders) -> None:
    from agent import bootstrap
    from agent.engine import supervisor
    from tests.faults import moments

    # A freeze is told from a pause for breath by seconds here, not by half a minute.
    supervisor.SWEEP_SECONDS, supervisor.BEAT_SECONDS = 0.05, 0.2
    is_lost = supervisor.Supervisor._is_lost

    def is_lost_by_orders(self: Any, run: Any) -> bool:
        self._lease = orders.standing().lease
        return is_lost(self, run)

    supervisor.Supervisor._is_lost = is_lost_by_orders  # type: ignore[method-assign]

    def clock() -> datetime:
        return bootstrap.utc_now() + timedelta(seconds=orders.standing().clock)

    bootstrap.open_console = partial(bootstrap.open_console, clock=clock)
    moments.watch(orders)
    _make_ill(orders)


def _make_ill(orders: Orders) -> None:
    """Every connection is given the page limit, the leave to write and the patience that the orders name."""
    from agent.demos.world import World
    from agent.engine.checkpointer import FencedSaver
    from agent.ledger.sqlite import SqliteLedger

    lent, connection = SqliteLedger._lent, World._connection
    made, cursor = FencedSaver.__init__, FencedSaver.cursor

    @contextmanager
    def lent_ill(self: Any) -> Iterator[Any]:
        with lent(self) as conn:
            _afflict(conn, orders, "ledger")
            yield conn

    @contextmanager
    def connection_ill(self: Any) -> Iterator[Any]:
        with connection(self) as conn:
            _afflict(conn, orders, "world")
            yield conn

    def init(self: Any, path: Any) -> None:
        made(self, path)
        self.lock = threading.RLock()  # so that it can be held around `cursor`, which takes it too

    @contextmanager
    def cursor_ill(self: Any, transaction: bool = True) -> Iterator[Any]:
        with self.lock:
            _afflict(self.conn, orders, "checkpoints")
            with cursor(self, transaction) as found:
                yield found

    SqliteLedger._lent = lent_ill  # type: ignore[method-assign]
    World._connection = connection_ill  # type: ignore[method-assign]
    FencedSaver.__init__ = init  # type: ignore[method-assign]
    FencedSaver.cursor = cursor_ill  # type: ignore[method-assign]


def _afflict(conn: sqlite3.Connection, orders: Orders, file: str) -> None:
    if conn.in_transaction:
        return
    order = orders.standing()
    ill = getattr(order, file)
    with suppress(sqlite3.Error):  # a damaged file says so when it is used
        conn.execute(f"PRAGMA busy_timeout = {order.busy}").fetchall()
        conn.execute(f"PRAGMA query_only = {int(ill == 'read-only')}").fetchall()
        ((pages,),) = conn.execute("PRAGMA page_count").fetchall() if ill == "full" else [(ENOUGH,)]
        conn.execute(f"PRAGMA max_page_count = {pages}").fetchall()


if __name__ == "__main__":
    ordered = json.loads(sys.argv[1])
    serve(Start(**{**ordered, "orders": Path(ordered["orders"]), "log": Path(ordered["log"])}))
