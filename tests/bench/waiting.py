"""The queue: its first page and every filter, with many waiting, in the ledger itself; then its first page over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import httpx

from agent.ledger.sqlite import SqliteLedger
from agent.ports import Ledger, Sought
from agent.review.events import instant
from tests.bench import agent_server, apps
from tests.bench.figures import Amount, Figure, most
from tests.bench.scale import Scale
from tests.bench.seed import TOOL, large, small
from tests.bench.timing import in_turns

PAGE = 51
"""A page of the inbox, and the one more that tells whether there is a next."""
LONG_AGO = "2000-01-01T00:00:00.000000Z"


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    few = SqliteLedger(small(scale, folder) / "ledger.sqlite")
    many = SqliteLedger(large(scale, folder) / "ledger.sqlite")
    assert (few.queue_length(), many.queue_length()) == (scale.few_waiting, scale.waiting)
    yield from _compare(few, many, scale)
    few.shut()
    many.shut()
    yield over_http(scale, folder)


def over_http(scale: Scale, folder: Path) -> Figure:
    """The first page as a client gets it, and an Agent Server's threads that wait, as many to both."""
    name, peer = f"queue of {scale.few_waiting:,}: first page over HTTP", "langgraph dev"
    try:
        with agent_server.serving(folder / "agent-server") as theirs:
            peer = f"{peer} {agent_server.version(theirs)}"
            agent_server.wait_at_interrupts(theirs, scale.few_waiting)
            ours, other = _asked(small(scale, folder), theirs, scale.reads)
    except agent_server.NotServed as why:
        return Figure(name, None, most(1), f"{peer}, thread search", why_not=str(why))
    return Figure(name, _ms(ours), most(1), f"{peer}, thread search", _ms(other))


def _asked(data: Path, theirs: httpx.Client, reads: int) -> list[float]:
    """The median seconds from asking to the whole answer, of the console on this folder and of the server."""
    app = apps.console(data)
    with apps.running(app), httpx.Client(base_url=app.url, timeout=120) as ours:

        def reviews() -> httpx.Response:
            return ours.get("/hitl/reviews", params={"limit": PAGE}).raise_for_status()

        def threads() -> httpx.Response:
            body = {"status": "interrupted", "limit": PAGE}
            return theirs.post("/threads/search", json=body).raise_for_status()

        assert len(reviews().json()["reviews"]) == len(threads().json())
        return in_turns(reads, reviews, threads)


def _compare(few: Ledger, many: Ledger, scale: Scale) -> Iterator[Figure]:
    """Each read on both; then the slowest of them by itself."""
    slowest = 0.0
    for name, read in _reads(scale).items():
        one, other = in_turns(scale.reads, partial(read, many), partial(read, few))
        slowest = max(slowest, one)
        against = f"{scale.few_waiting:,} waiting"
        yield Figure(f"queue of {scale.waiting:,}: {name}", _ms(one), most(1.3), against, _ms(other))
    name = f"queue of {scale.waiting:,}, {scale.events:,} events: the slowest of these"
    yield Figure(name, _ms(slowest), most(5))


def _reads(scale: Scale) -> Mapping[str, Callable[[Ledger], object]]:
    """What the inbox and the API read. What is sought for is found in both ledgers as often."""
    rare = f"person-{scale.few_waiting // 2:07d}"
    found = f"seeded-{scale.few_waiting // 2:07d}"
    sought = {
        "first page": Sought(),
        "by agent": Sought(agent="mail"),
        "by an agent with none": Sought(agent="operations"),
        "by tool": Sought(tool=TOOL),
        "by a tool with none": Sought(tool="archive_mail"),
        "by thread": Sought(thread_id=found),
        "by text in one": Sought(text=rare.upper()),
        "by text in all": Sought(text="the notes"),
        "by text in none": Sought(text="zebra crossing"),
        "by two letters in none": Sought(text="zq"),
        "by age, none as old": Sought(opened_before=LONG_AGO),
    }
    pages = {name: partial(_page, sought=one) for name, one in sought.items()}
    return {"its length": lambda ledger: ledger.queue_length(), "a sweep": _sweep, **pages}


def _sweep(ledger: Ledger) -> object:
    """What the sweeper reads each second, and what a page asks again and again: whether anything happened."""
    now = instant(datetime.now(UTC))
    return ledger.halt(), ledger.open_runs(), ledger.expired(now), ledger.head(), ledger.last_seq()


def _page(ledger: Ledger, *, sought: Sought) -> object:
    return ledger.queue(limit=PAGE, sought=sought)


def _ms(duration: float) -> Amount:
    return Amount(duration * 1000, "ms")
