"""Driving a console over its real HTTP API, and reading its ledger's own file: the far ends between which to compare."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.bootstrap import Opened, open_console
from agent.settings import Settings
from tests.api.conftest import Served
from tests.received import writing

_threads = itertools.count(1)
VERSIONS = (1, 2)
"""Of the digest's form."""


def call(call_id: str, tool: str, args: Mapping[str, Any]) -> str:
    """One call as the demo model is made to propose it."""
    return f"/call#{call_id} {tool} {json.dumps(args)}"


def in_a_task(*lines: str, call_id: str = "task") -> str:
    """The lines as work for a helper, given to it by a tool named `task`."""
    return call(call_id, "task", {"description": "\n".join(lines)})


def exact(value: Any) -> str:
    """JSON that is the same only for the same value: 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True)


@dataclass
class Scene:
    """A console on a folder of its own, served over HTTP, and what its tools wrote down."""

    opened: Opened
    served: Served
    data: Path

    def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        """Rows of the ledger's file, as they are."""
        with closing(sqlite3.connect(self.data / "ledger.sqlite")) as file:
            file.row_factory = sqlite3.Row
            return [dict(one) for one in file.execute(sql, values)]

    def digests(self, action: Mapping[str, Any], args: Any) -> set[str]:
        """The digests by which a call with these arguments may be known, made by hand."""
        key = hmac.digest((self.data.parent / "record.key").read_bytes(), b"digest", "sha256")
        names = ("agent", "thread_id", "message_id", "tool_call_id", "attempt", "tool")
        told = {name: action[name] for name in names} | {"args": args}
        texts = [json.dumps({**told, "v": v}, sort_keys=True, separators=(",", ":")) for v in VERSIONS]
        return {hmac.new(key, text.encode(), hashlib.sha256).hexdigest() for text in texts}

    def post(self, path: str, **body: Any) -> Any:
        answer = self.served.post(path, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def begin(self, agent: str, *lines: str) -> Turn:
        """Give the agent these lines on a thread of their own."""
        return self.begin_with(agent, message="\n".join(lines))

    def begin_with(self, agent: str, **body: Any) -> Turn:
        """Give the agent this on a thread of its own."""
        writing.RECEIVED.clear()
        writing.FILE[-1].unlink(missing_ok=True)
        thread = f"t-{next(_threads)}"
        turn = Turn(self, thread, self.post("/chat", agent=agent, thread_id=thread, **body))
        turn.keep()
        return turn


@dataclass
class Turn:
    """One turn on one thread, decided on as its reviewer is told to."""

    scene: Scene
    thread_id: str
    answer: dict[str, Any]
    ids: dict[str, str] = field(default_factory=dict)
    """The test's name of each call that was asked about, by the id that the console gave it."""
    shown: dict[str, Any] = field(default_factory=dict)
    """By name: the values last shown to be received, before a decision was sent on them."""
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By name: the card as the API gave it."""
    said: dict[str, str] = field(default_factory=dict)
    """By name: why an edit was not taken."""
    received: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """What the tools' functions received so far: the tool, and its arguments as the objects that they were."""
    written: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """The same, as the file spells it."""

    def keep(self) -> None:
        """Keep what was received up to now, which the next turn clears away."""
        self.received, self.written = list(writing.RECEIVED), writing.written(writing.FILE[-1])

    @property
    def reviews(self) -> list[dict[str, Any]]:
        return list(self.answer["pending_reviews"])

    def decide_each(self, names: Sequence[str], edits: Mapping[str, Mapping[str, Any]]) -> None:
        """Approve everything that may be, but edit the calls named so; go on until nothing waits.

        The calls get these names in the order in which they were proposed, whatever the console calls them.
        """
        left = list(names)
        while self.reviews:
            review = self.reviews[0]
            decisions = []
            for place, card in enumerate(review["action_requests"]):
                name = card["tool_call_id"] if card["tool_call_id"] in left else left[0]
                left.remove(name)
                self.ids[card["tool_call_id"]], self.cards[name] = name, card
                decisions.append(self._decision(review, place, name, edits.get(name)))
            self.send(review, decisions)

    def send(self, review: Mapping[str, Any], decisions: list[dict[str, Any]]) -> None:
        about = {"thread_id": self.thread_id, "review_id": review["review_id"]}
        self.answer = self.scene.post("/review", decisions=decisions, **about)
        self.keep()

    def approve_all(self) -> None:
        """Approve whatever is asked until nothing waits."""
        for _ in range(9):
            if not self.reviews:
                return
            review = self.reviews[0]
            self.send(review, [{"type": "approve"} for _ in review["action_requests"]])
        raise AssertionError("it asks for ever")

    def _decision(self, review: Any, place: int, name: str, edit: Mapping[str, Any] | None) -> dict[str, Any]:
        card, allowed = review["action_requests"][place], review["review_configs"][place]["allowed_decisions"]
        seen = {"shown_digest": card["shown_digest"]}
        if edit is not None and "edit" in allowed:
            return self._edited(review, place, name, edit) or {"type": "reject", **seen}
        if "approve" in allowed:
            self.shown[name] = card.get("received", card["args"])
            return {"type": "approve", **seen}
        return {"type": "reject", **seen}

    def _edited(self, review: Any, place: int, name: str, edit: Mapping[str, Any]) -> dict[str, Any] | None:
        """The edit as its preview shows it; None where it is not taken."""
        card = review["action_requests"][place]
        edited = {"type": "edit", "edited_action": {"name": card["name"], "args": dict(edit)}}
        others = [{"type": "reject"} for _ in review["action_requests"]]
        about = {"thread_id": self.thread_id, "review_id": review["review_id"]}
        decisions = [*others[:place], edited, *others[place + 1 :]]
        answer = self.scene.served.post("/preview", decisions=decisions, **about)
        if answer.status_code == 400:
            self.said[name] = answer.json()["detail"]
            return None
        assert answer.status_code == 200, answer.text
        previewed = answer.json()["actions"][place]
        self.shown[name] = received_in(previewed)
        digests = {"shown_digest": card["shown_digest"], "edited_digest": previewed["shown_digest"]}
        return {**edited, **digests}

    def actions(self, tool: str) -> dict[str, dict[str, Any]]:
        """The tool's actions in the ledger's file, by the test's name of the call; of several attempts the last."""
        found = self.scene.rows(
            "SELECT * FROM actions WHERE thread_id = ? AND tool = ? ORDER BY attempt", self.thread_id, tool
        )
        return {self.ids.get(one["tool_call_id"], one["tool_call_id"]): one for one in found}

    def all_actions(self) -> list[dict[str, Any]]:
        """Every action of the thread in the ledger's file."""
        return self.scene.rows("SELECT * FROM actions WHERE thread_id = ? ORDER BY rowid", self.thread_id)

    def events(self, kind: str) -> list[dict[str, Any]]:
        found = self.scene.rows(
            "SELECT * FROM events WHERE thread_id = ? AND kind = ? ORDER BY seq", self.thread_id, kind
        )
        return [{**one, "data": json.loads(one["data"])} for one in found]

    def results(self) -> dict[str, str]:
        """What the model was sent for each call."""
        messages = self.scene.served.get(f"/threads/{self.thread_id}").json()["messages"]
        return {one["tool_call_id"]: one["content"] for one in messages if one["type"] == "tool"}


def received_in(previewed: Mapping[str, Any]) -> Any:
    """What a previewed action says will be received: `received`, or the arguments where they do not differ."""
    would_run = previewed["would_run"] or {}
    said = [one["received"] for one in (previewed, would_run) if one.get("received") is not None]
    return said[0] if said else would_run.get("args")


@contextmanager
def scene_of(settings: Settings, folder: Path, graphs: Mapping[str, str], **how: Any) -> Iterator[Scene]:
    """A console that serves these graphs, on this folder."""
    folder.mkdir(exist_ok=True)
    (folder / "langgraph.json").write_text(json.dumps({"graphs": graphs}))
    own = {
        "review_data": folder / "data",
        "review_agents": folder / "langgraph.json",
        "review_anchor": folder / "anchors.jsonl",
        "review_key": folder / "record.key",
    }
    opened = open_console(settings.model_copy(update=own), **how)
    writing.FILE.append(folder / "received.jsonl")
    served = Served(opened).start()
    try:
        yield Scene(opened, served, folder / "data")
    finally:
        served.stop()
        opened.close()
        writing.FILE.pop()
