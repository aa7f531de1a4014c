"""The server dies at a named moment, and the next one goes on."""

from __future__ import annotations

from collections.abc import Callable
from signal import SIGKILL

from tests.faults import moments
from tests.faults.bench import Bench, Fault, Server
from tests.faults.person import STORIES, Person, check_chain

AGAIN = (moments.CHECKPOINT, moments.IN_CHECKPOINT, moments.MODEL, moments.RUN_END)
"""Moments that come again while a recovered run goes on."""


def at(moment: str) -> Callable[[Bench], None]:
    """The server is killed at this moment of a turn."""

    def die(bench: Bench) -> None:
        person = die_once(bench, moment)
        restart(person.server)
        finish(person)

    return die


def during_reconcile(moment: str) -> Callable[[Bench], None]:
    """The server is killed, and the next one is killed while it goes on with what the first left."""

    def die(bench: Bench) -> None:
        left = [moments.RESUME, moments.MODEL, moments.CHECKPOINT]
        if moment == moments.RECONCILE:
            left += [moments.FIRST_LINE, moments.EFFECT]
        person = die_once(bench, bench.chance.choice(left))
        person.server.order(moment=moment)
        person.server.launch()
        ended(person.server)
        restart(person.server)
        finish(person)

    return die


def again_and_again(bench: Bench) -> None:
    """Each server that goes on with the turn is killed too, a few times over."""
    person = die_once(bench, bench.chance.choice([moments.RESUME, *AGAIN]))
    for _ in range(3):
        person.server.order(moment=bench.chance.choice(AGAIN), passage=bench.chance.randint(1, 2))
        person.server.launch()
        if not settled_down(person):
            ended(person.server)
    if not person.server.alive:
        restart(person.server)
    person.server.order()
    finish(person)


def die_once(bench: Bench, moment: str) -> Person:
    """Somebody uses the server until it dies at the moment."""
    story = bench.chance.choice(STORIES)
    for passage in (bench.chance.randint(1, 3), 1):
        person = Person(bench, bench.server(), story)
        person.server.order(moment=moment, passage=passage)
        person.go()
        if person.server.reached():
            ended(person.server)
            return person
        # The turn had fewer passages than that; it must have gone through all the same.
        person.server.order()
        person.finish()
        person.check()
    raise Fault(f"no turn ever came to: {moment}")


def ended(server: Server) -> None:
    """It died at its moment and of nothing else."""
    code = server.await_end()
    if code != -SIGKILL or not server.reached():
        raise Fault(f"the server ended with {code}:\n{server.log.read_text()[-3_000:]}")


def restart(server: Server) -> None:
    server.order()
    server.start()


def finish(person: Person) -> None:
    """What is offered is done to the end, and all of it is right."""
    person.finish()
    person.check()
    check_chain(person.server)


def settled_down(person: Person) -> bool:
    """Whether the server that was launched came to rest with the thread; false if it died before."""
    server = person.server
    while server.alive:
        found = server.get("health")
        if found is not None and found.status == 200:
            thread = person.rest()
            return thread is not None
    return False
