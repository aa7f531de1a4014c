"""A server whose process has a clock of its own: Debian's libfaketime stands between it and the system's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from tests.faults.server import Start
from tests.forked import ROOT

PACKAGE = "Debian's faketime package"


def library() -> Path | None:
    """Where libfaketime is, if it is installed."""
    return next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)


class UnderOwnClock:
    """The server as a process whose clock is ahead by so many seconds, as `multiprocessing` would give it."""

    def __init__(self, start: Start, clock: int) -> None:
        faked = library()
        if faked is None:
            raise FileNotFoundError(f"{PACKAGE} is missing. Install it, then try again.")
        environment = {
            **os.environ,
            "LD_PRELOAD": str(faked),
            "FAKETIME": f"{clock:+}s",
            # What is waited for takes as long as ever, and files keep the times they have.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
            "PYTHONPATH": str(ROOT),
        }
        order = json.dumps(asdict(start), default=str)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.server", order], cwd=ROOT, env=environment
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exitcode(self) -> int | None:
        return self._process.poll()

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()

    def terminate(self) -> None:
        self._process.terminate()

    def join(self, seconds: float | None = None) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def close(self) -> None:
        """Nothing of it is kept."""
