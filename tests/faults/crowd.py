"""Sixteen processes that send their requests at the same instant."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.faults.bench import PATIENCE, Reply
from tests.forked import die_with_the_harness, processes

CROWD = 16


@dataclass(frozen=True)
class Shot:
    """One request. With `at`, a time of the system's clock, it is sent then; else when all are ready."""

    url: str
    body: dict[str, Any]
    by: str
    at: float | None = None
    headers: dict[str, str] = field(default_factory=dict)


class Crowd:
    """The processes. What they are given they send together, each one shot."""

    def __init__(self) -> None:
        context = processes()
        self._ready = context.Barrier(CROWD)
        pairs = [context.Pipe() for _ in range(CROWD)]
        self._ends = [ours for ours, _ in pairs]
        self._processes = [
            context.Process(target=shoot, args=(theirs, self._ready), daemon=True) for _, theirs in pairs
        ]
        for one in self._processes:
            one.start()
        for _, theirs in pairs:
            theirs.close()

    def send(self, shots: Sequence[Shot]) -> list[Reply]:
        """One shot for each process; the replies, in order."""
        assert len(shots) == CROWD
        for end, shot in zip(self._ends, shots, strict=True):
            end.send(shot)
        return [end.recv() for end in self._ends]

    def close(self) -> None:
        for end in self._ends:
            end.send(None)
        for end, one in zip(self._ends, self._processes, strict=True):
            one.join(PATIENCE)
            end.close()
            one.close()


def shoot(end: Any, ready: Any) -> None:
    """What each process does until it is told to end."""
    die_with_the_harness()
    # A connection kept for the next round may be closed by an idle server in the very moment it is used.
    one_each = httpx.Limits(max_keepalive_connections=0)
    with httpx.Client(timeout=PATIENCE, trust_env=False, verify=False, limits=one_each) as client:
        while (shot := end.recv()) is not None:
            ready.wait()
            if shot.at is not None:
                time.sleep(max(0.0, shot.at - time.time()))
            headers = {"X-Reviewer": shot.by, **shot.headers}
            answer = client.post(shot.url, json=shot.body, headers=headers)
            end.send(Reply(answer.status_code, answer.json()))
