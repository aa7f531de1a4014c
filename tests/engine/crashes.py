"""Real deaths of a console at an exact moment: in a child process that ends itself around its n-th commit."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from agent.bootstrap import Opened, open_console
from agent.demos.world import World
from agent.engine.checkpointer import FencedSaver
from agent.ledger.sqlite import SqliteLedger
from agent.ports import Clock
from agent.settings import Settings

When = Literal["before", "after"]

SURVIVED, DIED, BROKE = 0, 42, 99


class Moment:
    """Ends the process around one commit, counted over the ledger, the checkpoints and the world together."""

    def __init__(self, number: int, when: When, only: str = "") -> None:
        self._left, self._when, self._only = number, when, only
        self._lock = threading.Lock()

    @contextmanager
    def commit(self, where: str) -> Iterator[Callable[[], None]]:
        """Around one transaction. Calling what it gives is the last thing before the commit."""
        fatal = False

        def about_to_commit() -> None:
            nonlocal fatal
            with self._lock:
                if self._only in ("", where):
                    self._left -= 1
                    fatal = self._left == 0
            if fatal and self._when == "before":
                os._exit(DIED)

        yield about_to_commit
        if fatal:
            os._exit(DIED)


def _watch(moment: Moment) -> None:
    """Let every commit of this process pass by `moment`."""
    write, cursor, changing = SqliteLedger.write, FencedSaver.cursor, World._changing

    def around(where: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def watched(self: Any, *args: Any, **more: Any) -> Iterator[Any]:
            if args == (False,) or not all(more.values()):  # reads only, or is rolled back
                with original(self, *args, **more) as found:
                    yield found
                return
            with moment.commit(where) as about_to_commit, original(self, *args, **more) as found:
                yield found
                about_to_commit()

        return watched

    SqliteLedger.write = around("ledger", write)  # type: ignore[method-assign]
    FencedSaver.cursor = around("checkpoints", cursor)  # type: ignore[method-assign]
    World._changing = around("world", changing)  # type: ignore[method-assign]


def die(
    settings: Settings,
    clock: Clock,
    script: Callable[[Opened], None],
    number: int,
    when: When,
    *,
    only: str = "",
) -> bool:
    """Run the script on a console in a process of its own that dies at that commit; false if it came through."""
    child = os.fork()
    if child == 0:
        try:
            _watch(Moment(number, when, only))
            script(open_console(settings, clock=clock))
            os._exit(SURVIVED)
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(BROKE)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (SURVIVED, DIED), f"the script itself failed in the child (exit {code})"
    return code == DIED
