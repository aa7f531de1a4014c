"""Deciding: checked, compared and set, on record, in one commit; against commits of one bare row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event

from agent.bootstrap import utc_now
from agent.console import Console
from agent.demos import mail
from agent.demos.model import DemoModel
from agent.demos.world import World
from agent.engine.local import LocalEngine
from agent.engine.models import Models
from agent.ledger.anchors import AnchorFile
from agent.ledger.sqlite import SqliteLedger
from agent.review.threads import Progress, Run
from tests.bench.figures import Amount, Figure, least
from tests.bench.peers import BareSqlite
from tests.bench.scale import Scale
from tests.bench.seed import SECRET, Seeder
from tests.bench.timing import in_turns


class NoRuns:
    """Where runs are executed, when only the decision itself is to be timed: they stay open."""

    owner = "1-bench"

    def start(self, run: Run, after: Event | None = None) -> None:
        return

    def stop(self, thread_id: str | None) -> None:
        return

    def progressed(self, run_id: str) -> Sequence[str]:
        return ()

    def wait(self, run_id: str, seconds: float | None) -> bool:
        return False

    def progress(self, thread_id: str) -> Progress | None:
        return None

    def lives(self, owner: str) -> bool:
        return False


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    folder = folder / "deciding"
    folder.mkdir(parents=True, exist_ok=True)
    world = World(folder / "world.sqlite")
    agent = mail.define(world)
    ledger = SqliteLedger(folder / "ledger.sqlite")
    Seeder(ledger, agent, SECRET).waiting(scale.decisions)
    engine = LocalEngine({"mail": agent}, Models(DemoModel), folder / "checkpoints.sqlite")
    anchors = AnchorFile(folder / "anchors.jsonl")
    console = Console(
        ledger=ledger, engine=engine, runs=NoRuns(), anchors=anchors, secret=SECRET, clock=utc_now
    )
    waiting = iter(console.queries.queue(limit=scale.decisions))
    bare = BareSqlite(folder / "bare.sqlite")

    def decide() -> None:
        review = next(waiting)
        shown = review.actions[0].shown_digest
        decision = {"type": "approve", "shown_digest": shown}
        console.decide(review.thread_id, [decision], by="ana", review_id=review.review_id)

    ours, theirs = in_turns(scale.decisions, decide, bare.commit)
    assert ledger.queue_length() == 0
    yield Figure(
        "decisions per second", Amount(1 / ours, "/s"), least(1 / 4), "bare commits", Amount(1 / theirs, "/s")
    )
    bare.close()
    engine.shut()
    ledger.shut()
    world.close()
