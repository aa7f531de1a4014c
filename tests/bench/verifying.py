"""Reading the whole trail: how long it takes, and that memory does not grow with it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.bench.figures import Amount, Figure, most
from tests.bench.scale import Scale
from tests.bench.seed import large, small
from tests.bench.timing import seconds
from tests.conftest import ROOT


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    of_few, of_all = Command(small(scale, folder)), Command(large(scale, folder))
    for name, arguments in (("verify", ["verify"]), ("export", ["export", "--output", os.devnull])):
        few, took = of_few.peak(*arguments), seconds(partial(of_all.peak, *arguments))
        many = of_all.last_peak
        yield Figure(f"audit {name}, {scale.events:,} events", Amount(took, "s"), most(60))
        against = f"{6 * scale.few_waiting:,} events"
        yield Figure(f"audit {name}: memory", _mb(many), most(1.1), against, _mb(few))


class Command:
    """The command line's `audit`, on one data folder, as a process of its own."""

    def __init__(self, data: Path) -> None:
        anchor = data / "anchors.jsonl"
        self._environment = {**os.environ, "REVIEW_DATA": str(data), "REVIEW_ANCHOR": str(anchor)}
        self.last_peak = 0

    def peak(self, *arguments: str) -> int:
        """Run it, and give the most memory it held, in bytes."""
        command = [sys.executable, "-m", "agent", "audit", *arguments]
        process = subprocess.Popen(command, cwd=ROOT, env=self._environment, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        assert status == 0, f"{command} failed with {status}"
        process.returncode = 0
        self.last_peak = used.ru_maxrss * 1024
        return self.last_peak


def _mb(size: int) -> Amount:
    return Amount(size / 1e6, "MB")
