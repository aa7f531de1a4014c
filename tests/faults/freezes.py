"""A server freezes past its lease, another takes over, and it thaws or is ended."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from signal import SIGCONT

from tests.conftest import until
from tests.faults import moments
from tests.faults.bench import PATIENCE, Bench, FalseNotExecuted, Fault, Reply, Server
from tests.faults.person import SEVERAL, STORIES, Person, check_chain

LEASE = 1.0
"""Seconds of silence after which the other server takes over."""
IN_A_TOOL = (moments.FIRST_LINE, moments.EFFECT)


def at(moment: str) -> Callable[[Bench], None]:
    """Frozen at this moment, taken over, then thawed while the other goes on; or ended without a thaw."""

    def freeze(bench: Bench) -> None:
        with ThreadPoolExecutor(1) as pool:
            person, going = freeze_once(bench, moment, pool)
            # Another thread of it may be inside a checkpoint's transaction and keep the lock with it.
            person.may_fail = moment == moments.CHECKPOINT
            frozen, other = person.server, bench.server("b")
            other.order(lease=LEASE)
            try:
                if taken_over(person, frozen, other):
                    go_on(bench, person, frozen, moment)
                else:
                    frozen.kill()
            finally:
                frozen.order()
                if frozen.alive:
                    frozen.signal(SIGCONT)
                going.result(PATIENCE)
        person.finish()
        other.order()
        person.check()
        check_both(person, frozen, other)

    return freeze


def freeze_once(bench: Bench, moment: str, pool: ThreadPoolExecutor) -> tuple[Person, Future[None]]:
    """Somebody uses the server until it is frozen at the moment; still waiting for its answer in `pool`."""
    bench.server("b")
    person = Person(bench, bench.server("a"), bench.chance.choice(STORIES))
    # Its first tool only reads: nothing would tell when it has gone on.
    reads_first = person.story is SEVERAL and moment == moments.FIRST_LINE
    person.server.order(moment=moment, how="freeze", passage=2 if reads_first else 1)
    going = pool.submit(person.go)
    until(lambda: person.server.reached() and person.server.frozen, PATIENCE)
    return person, going


def taken_over(person: Person, frozen: Server, other: Server) -> bool:
    """The other server goes on as far as it may without a person; false if a lock that was frozen too forbids it."""
    person.server = other
    reply = other.post("chat", message="/say hello", thread_id=person.bench.new_thread())
    if reply is not None and reply.status == 503:
        check_names(frozen, reply)
        return False
    person.rest()
    return True


def check_names(frozen: Server, reply: Reply | None) -> None:
    """The message says which process holds the lock, and to end it."""
    detail = reply.body["detail"] if reply is not None and reply.status == 503 else ""
    if f"process {frozen.pid} is frozen" not in detail or "End that process" not in detail:
        raise Fault(f"the lock of a frozen process was answered with {reply}")


def go_on(bench: Bench, person: Person, frozen: Server, moment: str) -> None:
    """What is offered while the old process exists, and what comes of it once it is thawed or gone."""
    if moment not in IN_A_TOOL:
        if not person.may_fail and bench.chance.random() < 0.5:
            person.finish()
        wake(bench, frozen)
        return
    check_not_asked_again(person)
    if bench.chance.random() < 0.5:
        frozen.kill()
        return
    frozen.order()
    frozen.signal(SIGCONT)
    # Its tool goes on where it stood: only then is it known what happened.
    until(lambda: sum(person.effects_by_call().values()) == 1, PATIENCE)
    check_not_asked_again(person)


def wake(bench: Bench, frozen: Server) -> None:
    """Thaw it, or end it where it stands."""
    if bench.chance.random() < 0.5:
        frozen.order()
        frozen.signal(SIGCONT)
    else:
        frozen.kill()


def check_not_asked_again(person: Person) -> None:
    """What a process that exists may yet do, or has just done, is not offered to be done once more."""
    thread = person.thread()
    if not thread or thread["status"] != "unknown_outcome":
        raise Fault(f"{person.thread_id} was cut off in a tool and is not unknown: {thread}")
    (action,) = person.unknown(thread)
    if action["result"]:
        raise FalseNotExecuted(f"{person.thread_id}: an unknown outcome is told: {action['result']}")
    reply = person.server.post(
        "settle", thread_id=person.thread_id, tool_call_id=action["tool_call_id"], outcome="ask_again"
    )
    if reply is None or reply.status != 409 or reply.body["code"] != "StillAlive":
        raise Fault(f"{person.thread_id}: asking again was not refused: {reply}")


def check_both(person: Person, frozen: Server, other: Server) -> None:
    """Both servers, where both live, tell the same, and the one that was frozen is of use again."""
    check_chain(other)
    if frozen.alive:
        person.server = frozen
        person.check_goes_on()
        check_chain(frozen)


def inside_a_transaction(bench: Bench) -> None:
    """Frozen while it holds the ledger's lock: the other says that nothing was done and why, until it is ended."""
    with ThreadPoolExecutor(1) as pool:
        person, going = freeze_once(bench, moments.DECISION, pool)
        frozen, other = person.server, bench.server("b")
        other.order(lease=LEASE, busy=200)
        try:
            reply = other.post("chat", message="/say hello", thread_id=bench.new_thread())
            check_names(frozen, reply)
            if other.get(f"threads/{person.thread_id}") is None:
                raise Fault("a locked ledger cannot be read")
        finally:
            frozen.kill()
            going.result(PATIENCE)
    person.server = other
    other.order(lease=LEASE)
    person.finish()
    person.check()
    check_chain(other)
