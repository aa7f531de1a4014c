"""Reading the whole trail: how long it takes, and that memory does not grow with it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.figures import Amount, Figure, most
from tests.bench.scale import Scale
from tests.bench.seed import EVENTS_OF_WAITING, large, small
from tests.forked import ROOT

LOOK = 0.05
"""Seconds between two looks at a process's memory."""


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    of_few, of_all = small(scale, folder), large(scale, folder)
    took, many = _run(of_all, "verify")
    yield Figure(f"audit verify, {scale.events:,} events", Amount(took, "s"), most(60))
    against = f"{EVENTS_OF_WAITING * scale.few_waiting:,} events"
    yield Figure("audit verify: memory", _mb(many), most(1.1), against, _mb(_run(of_few, "verify")[1]))
    export = ("export", "--output", os.devnull)
    few, many = (_run(data, *export)[1] for data in (of_few, of_all))
    yield Figure("audit export: memory", _mb(many), most(1.1), against, _mb(few))


def _run(data: Path, *arguments: str) -> tuple[float, int]:
    """Run the command line's `audit` on a data folder: how many seconds it takes, and the most bytes it holds."""
    anchor = data / "anchors.jsonl"
    environment = {**os.environ, "REVIEW_DATA": str(data), "REVIEW_ANCHOR": str(anchor)}
    command = [sys.executable, "-m", "agent", "audit", *arguments]
    started, peak = time.perf_counter(), 0
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        # Not the system's own peak of a child: that counts what its parent held when it was forked.
        peak = max(peak, _peak_so_far(process.pid))
        time.sleep(LOOK)
    assert process.returncode == 0, f"{command} failed with {process.returncode}"
    return time.perf_counter() - started, peak


def _peak_so_far(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:  # it has just ended
        return 0
    _, found, rest = status.partition("VmHWM:")
    return int(rest.split()[0]) * 1024 if found else 0


def _mb(size: int) -> Amount:
    return Amount(size / 1e6, "MB")
