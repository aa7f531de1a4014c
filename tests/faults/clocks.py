"""The clock is set forward a day and back an hour: nothing is revived, nothing runs late, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from tests.conftest import until
from tests.faults import moments
from tests.faults.bench import PATIENCE, Bench, DoubleEffect, Fault, LostDecision
from tests.faults.person import NEITHER, ONE, STORIES, TWICE, Person, Story, check_chain
from tests.faults.races import paused
from tests.faults.storage import decided_later

DAY, HOUR = 86_400, 3_600


def forward_while_waiting(bench: Bench) -> None:
    """A review that has expired stays so, though the clock is set back before its opening."""
    server = bench.server()
    person, review = paused(bench, server, ONE)
    server.order(clock=DAY + 60)
    until(lambda: not (person.rest() or {})["pending_reviews"], PATIENCE)
    for clock in (DAY + 60, 0, -HOUR):
        server.order(clock=clock)
        reply = server.post(
            "review",
            thread_id=person.thread_id,
            review_id=review["review_id"],
            decisions=[{"type": "approve"}],
        )
        if reply is None or reply.status != 409 or reply.body["code"] != "ReviewExpired":
            raise DoubleEffect(f"an expired review was decided: {reply}")
    server.order()
    check_ended(person, "expired")


def forward_after_approval(bench: Bench) -> None:
    """An approval that has grown too old before the tool starts is not used."""
    server = bench.server()
    person, review = paused(bench, server, ONE)
    server.order(moment=moments.CHECKPOINT, how="hold")
    decided_later(person, review)
    until(server.reached, PATIENCE)
    server.order(clock=DAY)
    person.rest()
    server.order(clock=-HOUR)
    check_ended(person, "lapsed")
    server.order()


def back_while_waiting(bench: Bench) -> None:
    """A review can be decided and runs, though the clock says that it has not been opened yet."""
    server = bench.server()
    person, _ = paused(bench, server, bench.chance.choice(STORIES))
    server.order(clock=-HOUR)
    person.finish()
    person.check()
    check_chain(server)
    server.order()


def jump_while_running(bench: Bench) -> None:
    """A run that is under way is neither lost nor taken over, whichever way the clock jumps."""
    server, other = bench.server("a"), bench.server("b")
    person, review = paused(bench, server, ONE)
    server.order(moment=moments.FIRST_LINE, how="hold")
    decided_later(person, review)
    until(server.reached, PATIENCE)
    jump = bench.chance.choice([DAY, -HOUR])
    other.order(clock=jump)
    if other.post("chat", message="/say hello", thread_id=bench.new_thread()) is None:
        raise Fault("the other server is gone")
    server.order(clock=jump)
    person.finish()
    if person.settled:
        raise Fault("a run under way was taken for lost because a clock jumped")
    person.check()
    check_chain(server)
    server.order()
    other.order()  # a day ahead, it would end what the next trial lets wait


def restarted(clock: int) -> Callable[[Bench], None]:
    """Each next server has another clock of its own, first ahead by so many seconds, then the system's again.

    What is approved under one clock asks its next question under it, and is answered under the next.
    """

    def once(bench: Bench) -> None:
        server = bench.server()
        person, review = paused(bench, server, bench.chance.choice((TWICE, NEITHER)))
        for seconds in (clock, 0):
            bench.chance.choice((server.kill, server.stop))()
            server.start(seconds)
            person.decide(person.rest() or {})
            thread = person.rest() or {}
            check_clock(person, seconds)
            if seconds and (thread["status"] != "waiting" or thread["pending_review"] == review):
                raise LostDecision(f"{person.thread_id}: the next question is not asked: {thread}")
        person.finish()
        person.check()
        check_chain(server)

    return once


def check_clock(person: Person, ahead: int) -> None:
    """The server's own clock is where it was set: the last event on record says so."""
    reply = person.server.get("audit", thread_id=person.thread_id)
    at = datetime.fromisoformat(reply.body["events"][-1]["at"]) if reply else None
    if at is None or abs((at - datetime.now(UTC)).total_seconds() - ahead) > HOUR / 4:
        raise Fault(f"the clock of {person.server.name} is not {ahead} s ahead: {at}")


def check_ended(person: Person, state: str) -> None:
    thread = person.rest() or {}
    if [action["state"] for action in thread["actions"]] != [state]:
        raise Fault(f"{person.thread_id} should be {state}: {thread['actions']}")
    person.story = Story(person.story.message, {}, {})
    person.check()
    check_chain(person.server)
