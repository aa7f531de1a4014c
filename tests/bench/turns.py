"""A turn: a message, the pause, the decision, the answer. Its time and its disk, and how both grow with the thread."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

from agent.console import Console
from tests.bench.figures import Amount, Figure, most
from tests.bench.peers import CreateAgent
from tests.bench.places import console_on, disk
from tests.bench.scale import Scale
from tests.bench.timing import around, in_turns, seconds

PEER = "create_agent"
WINDOW = 20
"""Turns over which the disk of one is averaged: what is written now and then falls on some of them only."""


@dataclass
class Course:
    """One thread's turns so far."""

    took: list[float] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)

    def disk_at(self, turn: int) -> float:
        """Bytes of one turn there, averaged over the turns before it."""
        first = max(1, turn - WINDOW)
        return (self.bytes[turn - 1] - self.bytes[first - 1]) / max(1, turn - first)


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    peer = CreateAgent(folder / "turns-peer")
    with console_on(folder / "turns") as opened:
        files = [opened.settings.review_data / name for name in ("ledger.sqlite", "checkpoints.sqlite")]
        yield _first_turn(scale, opened.console, peer)
        ours, theirs = Course(), Course()
        started = disk(*files), disk(peer.file)
        for number in range(1, scale.long + 1):
            text = message(number)
            ours.took.append(seconds(partial(turn, opened.console, "long", text)))
            ours.bytes.append(disk(*files))
            if number <= scale.turns:
                theirs.took.append(seconds(partial(peer.turn, "long", text)))
                theirs.bytes.append(disk(peer.file))
    peer.close()
    yield from _against_the_peer(scale, ours, theirs, *started)
    yield from _growth(scale, ours)


def message(number: int) -> str:
    """A request that stops once, with arguments of 200 characters."""
    args = {"to": "alice@example.com", "subject": "Notes", "body": ""}
    args["body"] = f"{number:06d} ".ljust(200 - len(json.dumps(args)), "x")
    return f"/call send_email {json.dumps(args)}"


def turn(console: Console, thread_id: str, text: str) -> None:
    """The same as the peer's, through the use cases, with everything recorded."""
    assert console.wait(console.send(text, by="ana", thread_id=thread_id, agent="mail"), 60)
    (review,) = console.queries.view(thread_id).reviews
    run = console.decide(thread_id, [{"type": "approve"}], by="ana", review_id=review.review_id)
    assert console.wait(run, 60)


def _first_turn(scale: Scale, console: Console, peer: CreateAgent) -> Figure:
    turn(console, "warm-up", message(0))
    peer.turn("warm-up", message(0))
    names = iter(range(scale.threads * 2))
    ours, theirs = in_turns(
        scale.threads,
        lambda: turn(console, f"first-{next(names)}", message(1)),
        lambda: peer.turn(f"first-{next(names)}", message(1)),
    )
    return Figure("time of a thread's first turn", _ms(ours), most(1.6), PEER, _ms(theirs))


def _against_the_peer(
    scale: Scale, ours: Course, theirs: Course, before: int, before_theirs: int
) -> Iterator[Figure]:
    last = scale.turns
    yield Figure(
        f"disk per turn, over {last} turns",
        _kb((ours.bytes[last - 1] - before) / last),
        most(1 / 20),
        PEER,
        _kb((theirs.bytes[last - 1] - before_theirs) / last),
    )
    yield Figure(
        f"disk of turn {last}",
        _kb(ours.disk_at(last)),
        most(2),
        f"turn {scale.early}",
        _kb(ours.disk_at(scale.early)),
    )
    yield Figure(
        f"time of turn {last}",
        _ms(median(ours.took[last - WINDOW : last])),
        most(0.5),
        PEER,
        _ms(median(theirs.took[last - WINDOW : last])),
    )


def _growth(scale: Scale, ours: Course) -> Iterator[Figure]:
    early, late = scale.early, scale.long
    yield Figure(
        f"time of turn {late:,}",
        _ms(median(ours.took[late - WINDOW :])),
        most(1.5),
        f"turn {early}",
        _ms(around(ours.took, early)),
    )
    yield Figure(
        f"disk of turn {late:,}",
        _kb(ours.disk_at(late)),
        most(1.5),
        f"turn {early}",
        _kb(ours.disk_at(early)),
    )


def _ms(duration: float) -> Amount:
    return Amount(duration * 1000, "ms")


def _kb(size: float) -> Amount:
    return Amount(size / 1000, "kB")
