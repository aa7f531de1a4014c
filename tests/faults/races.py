"""Sixteen processes at once, over two servers on one folder."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tests.conftest import until
from tests.faults.bench import PATIENCE, Bench, DoubleEffect, Fault, LostDecision, Reply, Server
from tests.faults.crowd import CROWD, Crowd, Shot
from tests.faults.person import APPROVE, NEITHER, ONE, REJECT, Person, Story, edit

KINDS = {"approve": APPROVE, "edit": edit("z@x.org"), "reject": REJECT}
SENT = {"approve": {"a": "a@x.org"}, "edit": {"a": "z@x.org"}, "reject": {}}


def one_review(bench: Bench, crowd: Crowd) -> None:
    """All approve, edit and reject one review: one wins, everybody else is told so, and the winner's will is done."""
    servers = both(bench)
    person, review = paused(bench, servers[0], ONE)
    kinds = [bench.chance.choice(list(KINDS)) for _ in range(CROWD)]
    replies = crowd.send(
        [
            shot(server, "review", n, thread_id=person.thread_id, decisions=[KINDS[kind]], **named(n, review))
            for n, (server, kind) in enumerate(zip(servers * CROWD, kinds, strict=False))
        ]
    )
    winner = only_winner(replies)
    check_losers(replies, winner)
    person.story = Story(ONE.message, {}, SENT[kinds[winner]])
    person.decided[review["review_id"]] = [KINDS[kinds[winner]]]
    person.rest()
    check_refusals_noted(person, replies)
    person.check()


def late_reject(bench: Bench, crowd: Crowd) -> None:
    """Everybody rejects what has been approved and has run: nothing is run again, nothing is changed."""
    servers = both(bench)
    person, review = paused(bench, servers[0], ONE)
    person.finish()
    before = actions(person)
    replies = crowd.send(
        [
            shot(server, "review", n, thread_id=person.thread_id, decisions=[REJECT], **named(n, review))
            for n, server in zip(range(CROWD), servers * CROWD, strict=False)
        ]
    )
    if any(reply.status not in (400, 409) for reply in replies):
        raise DoubleEffect(f"a late reject was taken: {replies}")
    if actions(person) != before:
        raise DoubleEffect(f"a late reject changed something: {before} → {actions(person)}")
    person.check()


def stale_screen(bench: Bench, crowd: Crowd) -> None:
    """All approve what they see, over and over, while the agent goes on to its next question: that stays open."""
    servers = both(bench)
    person, review = paused(bench, servers[0], NEITHER)
    seen = review["action_requests"][0]["shown_digest"]
    decisions = [{**APPROVE, "shown_digest": seen}]
    taken = 0
    for _ in range(3):
        replies = crowd.send(
            [
                shot(server, "review", n, thread_id=person.thread_id, decisions=decisions, **named(n, review))
                for n, server in zip(range(CROWD), servers * CROWD, strict=False)
            ]
        )
        taken += sum(reply.taken for reply in replies)
    if taken != 1:
        raise DoubleEffect(f"one screen decided {taken} times")
    thread = person.rest()
    asked = [one["tool_call_id"] for one in (thread or {})["pending_review"]["action_requests"]]
    if asked != ["b"]:
        raise LostDecision(f"the next question does not wait: {thread}")
    person.decided[review["review_id"]] = [APPROVE]
    person.finish()
    person.check()


def two_messages(bench: Bench, crowd: Crowd) -> None:
    """Sixteen messages to one thread at once: one is taken and answered, the others are refused and leave no trace."""
    servers = both(bench)
    person = Person(bench, servers[0], ONE)
    replies = crowd.send(
        [
            shot(server, "chat", n, thread_id=person.thread_id, message=message_of(n), agent="mail")
            for n, server in zip(range(CROWD), servers * CROWD, strict=False)
        ]
    )
    winner = only_winner(replies)
    if any(reply.status not in (400, 409) for n, reply in enumerate(replies) if n != winner):
        raise Fault(f"a message that was not taken was not refused either: {replies}")
    person.promised = True
    said = [m["content"] for m in (person.rest() or {})["messages"] if m["type"] == "human"]
    if said != [message_of(winner)]:
        raise LostDecision(f"{winner} was taken, and the thread holds {said}")
    person.finish()
    person.check()


def message_of(n: int) -> str:
    return f"/say This is for {n}.\n{ONE.message}"


def decide_close_expire(bench: Bench, crowd: Crowd) -> None:
    """Some decide, some close, at the very moment the review expires: it ends in one way, and in that alone."""
    servers = both(bench)
    person, review = paused(bench, servers[0], ONE)
    moment = time.time() + 0.3
    for server in servers:
        server.order(clock=expiry(person) - moment)
    replies = crowd.send(
        [
            shot(server, path, n, thread_id=person.thread_id, **body, at=moment + bench.chance.gauss(0, 0.05))
            for n, (server, (path, body)) in enumerate(
                zip(servers * CROWD, ends(bench, review), strict=False)
            )
        ]
    )
    until(lambda: not (person.rest() or {})["pending_reviews"], PATIENCE)
    for server in servers:
        server.order()
    taken = [n for n, reply in enumerate(replies) if reply.taken]
    if len(taken) > 1:
        raise DoubleEffect(f"one review was ended {len(taken)} times: {replies}")
    decided = bool(taken) and taken[0] % 2 == 0
    person.story = Story(ONE.message, {}, ONE.sent if decided else {})
    state = {True: "done", False: "cancelled" if taken else "expired"}[decided]
    if [one["state"] for one in actions(person)] != [state]:
        raise Fault(f"it should be {state}: {actions(person)}, {replies}")
    person.check()


def ends(bench: Bench, review: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """In turn: approve it, close it."""
    named = {"review_id": review["review_id"]}
    return [("review", {"decisions": [APPROVE], **named}), ("close", named)] * (CROWD // 2)


def expiry(person: Person) -> float:
    """When the review that waits on the thread expires, as a time of the system's clock."""
    reply = person.server.get("reviews", thread_id=person.thread_id)
    assert reply is not None
    return datetime.fromisoformat(reply.body["reviews"][0]["expires_at"]).timestamp()


def both(bench: Bench) -> list[Server]:
    return [bench.server("a"), bench.server("b")]


def paused(bench: Bench, server: Server, story: Story) -> tuple[Person, dict[str, Any]]:
    """Somebody whose thread waits for the first decision, and the review."""
    person = Person(bench, server, story)
    person.send()
    thread = person.rest() or {}
    return person, thread["pending_review"]


def named(n: int, review: dict[str, Any]) -> dict[str, Any]:
    """Every other one names the review it decides; whoever does not decides whatever waits."""
    return {"review_id": review["review_id"]} if n % 2 else {}


def shot(server: Server, path: str, n: int, *, at: float | None = None, **body: Any) -> Shot:
    return Shot(f"{server.url}/{path}", body, f"ana-{n}", at)


def only_winner(replies: Sequence[Reply]) -> int:
    winners = [n for n, reply in enumerate(replies) if reply.taken]
    if len(winners) != 1:
        raise DoubleEffect(f"{len(winners)} of {len(replies)} were taken: {replies}")
    return winners[0]


def check_losers(replies: Sequence[Reply], winner: int) -> None:
    """Everybody but the winner was refused, and whoever named the review was told who decided it."""
    for n, reply in enumerate(replies):
        if n != winner and reply.status not in (400, 409):
            raise Fault(f"a loser got {reply}")
        if n != winner and n % 2 and reply.body.get("by") != f"ana-{winner}":
            raise Fault(f"a loser was not told of {winner}: {reply}")


def check_refusals_noted(person: Person, replies: Sequence[Reply]) -> None:
    """Each attempt that came too late is on record."""
    reply = person.server.get("audit", thread_id=person.thread_id, kind="DecisionRefused")
    late = sum(not reply.taken for reply in replies)
    if reply is None or len(reply.body["events"]) != late:
        raise Fault(f"{late} came too late, on record are {reply}")


def actions(person: Person) -> list[dict[str, Any]]:
    reply = person.rest()
    return list((reply or {})["actions"])
