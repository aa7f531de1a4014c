"""A round with two helpers side by side whose calls have the same ids, and what has to come of it."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.received.driving import Scene, Turn, call, in_a_task
from tests.received.side_agents import SPLIT
from tests.received.writing import RECEIVED

HERE = "./tests/received/side_agents.py"
KINDS = ("two_tools", "two_branches")
GRAPHS = {kind: f"{HERE}:{kind}" for kind in KINDS}
NAMES = ("alice", "bob")
FATES = ("approve", "reject", "edit")


@dataclass(frozen=True)
class Round:
    """What is decided on each helper's call, and in which order."""

    number: int
    kind: str
    fates: dict[str, str]
    order: tuple[str, ...]

    @classmethod
    def drawn(cls, number: int, kind: str, chance: random.Random) -> Round:
        order = chance.sample(NAMES, 2)
        return cls(number, kind, {name: chance.choice(FATES) for name in NAMES}, tuple(order))

    def person(self, name: str) -> str:
        return f"{name}-{self.number}"

    def sent_to(self, name: str) -> str | None:
        """To whom the helper's call has to send in the end."""
        to = self.person(name)
        return {"approve": to, "edit": f"{to}-edited", "reject": None}[self.fates[name]]


def play(scene: Scene, one: Round) -> Turn:
    """Give both helpers their work, and decide on both."""
    works = [
        f"{call('c0', 'note', {'text': one.person(name)})}\n{call('c1', 'send', {'to': one.person(name)})}"
        for name in NAMES
    ]
    if one.kind == "two_tools":
        turn = scene.begin(one.kind, *[in_a_task(work, call_id=f"t{n}") for n, work in enumerate(works)])
    else:
        turn = scene.begin(one.kind, SPLIT.join(works))
    for name in one.order:
        review = _review_of(turn, one.person(name))
        turn.send(review, [_decision(one, name)])
    return turn


def _review_of(turn: Turn, person: str) -> dict[str, Any]:
    """The review that shows this person, and nobody else."""
    (found,) = [one for one in turn.reviews if f'"{person}"' in json.dumps(one)]
    return found


def _decision(one: Round, name: str) -> dict[str, Any]:
    if one.fates[name] == "edit":
        return {"type": "edit", "edited_action": {"name": "send", "args": {"to": one.sent_to(name)}}}
    return {"type": one.fates[name]}


def faults(turn: Turn, one: Round) -> list[str]:
    """What is not as it has to be after the round."""
    found: list[str] = []

    def check(what: str, got: object, right: object) -> None:
        if got != right:
            found.append(f"round {one}: {what}: {got}, not {right}")

    check("status", turn.answer["status"], "idle")
    sent = sorted(to for name in NAMES if (to := one.sent_to(name)))
    noted = sorted(map(one.person, NAMES))
    check("received", sorted(given["to"] for tool, given in RECEIVED if tool == "send"), sent)
    check("noted", sorted(given["text"] for tool, given in RECEIVED if tool == "note"), noted)
    done = [action for action in turn.all_actions() if action["state"] == "done"]
    recorded = {
        json.loads(action["args"])["to"]: action["result"] for action in done if action["tool"] == "send"
    }
    check("recorded", recorded, {to: f"sent to {to}" for to in sent})
    decided = {action["state"] for action in turn.all_actions() if action["tool"] == "send"}
    check("states", decided <= {"done", "rejected"}, True)
    if one.kind == "two_tools":
        found += _mixed_up(turn.results(), one)
    return found


def _mixed_up(results: dict[str, str], one: Round) -> Sequence[str]:
    """Helpers that were given the other one's result, or none of their own."""
    found = []
    for place, name in enumerate(NAMES):
        text, (other,) = results.get(f"t{place}", ""), [person for person in NAMES if person != name]
        to = one.sent_to(name)
        if f"noted {one.person(name)}" not in text or (to and f"sent to {to}" not in text):
            found.append(f"round {one}: {name}'s helper lacks its own result: {text!r}")
        if one.person(other) in text:
            found.append(f"round {one}: {name}'s helper has {other}'s result: {text!r}")
    return found
