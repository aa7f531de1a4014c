"""Many people at once, and a server that dies at any time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from tests.faults.bench import PATIENCE, Bench, Server
from tests.faults.deaths import restart
from tests.faults.person import STORIES, Person, check_chain

PEOPLE = 6
LONGEST = 1.5
"""Seconds until the server is killed, at most."""


def random_deaths(bench: Bench) -> None:
    """The server is killed at a random time under load, and sometimes the one that recovers is killed too."""
    server = bench.server()
    people = [Person(bench, server, bench.chance.choice(STORIES)) for _ in range(PEOPLE)]
    with ThreadPoolExecutor(PEOPLE) as pool:
        going = [pool.submit(person.go) for person in people]
        kill_after(server, bench.chance.uniform(0.05, LONGEST))
        for one in going:
            one.result(PATIENCE)
    if bench.chance.random() < 0.5:
        server.order()
        server.launch()
        kill_after(server, bench.chance.uniform(0.3, LONGEST))
    restart(server)
    with ThreadPoolExecutor(PEOPLE) as pool:
        for done in [pool.submit(finish, person) for person in people]:
            done.result(PATIENCE)
    check_chain(server)


def finish(person: Person) -> None:
    person.finish()
    person.check()


def kill_after(server: Server, seconds: float) -> None:
    threading.Event().wait(seconds)
    server.kill()
