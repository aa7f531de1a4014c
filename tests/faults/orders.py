"""What a server under test is told to suffer: a small file that it reads at every moment it passes."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

How = Literal["kill", "freeze", "hold"]
Ill = Literal["well", "full", "read-only"]


@dataclass(frozen=True)
class Order:
    """Everything that is done to one server, from the moment it stands in the file."""

    number: int = 0
    """Tells one order from the next."""
    moment: str = ""
    """Where the server is stopped; nowhere if it is empty."""
    passage: int = 1
    """At which passage of that moment."""
    how: How = "kill"
    lease: float = 30.0
    """Seconds of silence after which it takes over what another process runs."""
    busy: int = 15_000
    """Milliseconds it waits for a database that is locked."""
    clock: float = 0.0
    """Seconds its clock is ahead."""
    ledger: Ill = "well"
    checkpoints: Ill = "well"
    world: Ill = "well"


class Orders:
    """The file, from both sides: the harness gives orders, the server follows them and says what it reached."""

    def __init__(self, path: Path) -> None:
        self._path, self._log = path, path.with_suffix(".reached")
        self._lock = threading.Lock()
        self._counted, self._passed = 0, 0

    def give(self, order: Order) -> None:
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(asdict(order)))
        new.rename(self._path)

    def standing(self) -> Order:
        try:
            return Order(**json.loads(self._path.read_text()))
        except FileNotFoundError:
            return Order()

    def reached(self, number: int) -> bool:
        """Whether the server came to the moment that order named."""
        return self._log.exists() and str(number) in self._log.read_text().split()

    def passing(self, moment: str) -> None:
        """Called by the server at every moment; does not return from the fatal one."""
        order = self.standing()
        if not moment or order.moment != moment:
            return
        with self._lock:
            if order.number != self._counted:
                self._counted, self._passed = order.number, 0
            self._passed += 1
            if self._passed != order.passage:
                return
            with self._log.open("a") as log:
                log.write(f"{order.number}\n")
        match order.how:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "freeze":
                # To this very thread: through another one it would take effect some steps later.
                signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
            case "hold":
                while self.standing().number == order.number:
                    time.sleep(0.01)
