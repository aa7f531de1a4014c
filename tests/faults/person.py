"""What somebody does on one thread, and what must have come of it in the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.conftest import until
from tests.faults.bench import (
    PATIENCE,
    Bench,
    DoubleEffect,
    FalseNotExecuted,
    Fault,
    LostDecision,
    Reply,
    Server,
)

APPROVE = {"type": "approve"}
REJECT = {"type": "reject", "message": "not him"}
DENIALS = ("not executed", "did not take effect", "was not run", "nothing was sent")


def mail(call_id: str, to: str) -> str:
    return f"/call#{call_id} send_email " + json.dumps({"to": to, "subject": "s", "body": "b"})


def edit(to: str) -> dict[str, Any]:
    args = {"to": to, "subject": "s", "body": "b"}
    return {"type": "edit", "edited_action": {"name": "send_email", "args": args}}


@dataclass(frozen=True)
class Story:
    """A message, what is decided on each of its calls, and who must get an e-mail from which call."""

    message: str
    decisions: Mapping[str, Any]
    sent: Mapping[str, str]


ONE = Story(f"/say I would like to send this.\n{mail('a', 'a@x.org')}", {"a": APPROVE}, {"a": "a@x.org"})
SEVERAL = Story(
    "\n".join(
        [
            '/call#s search_mail {"text": "rent"}',
            mail("a", "a@x.org"),
            mail("r", "r@x.org"),
            mail("e", "e@x.org"),
        ]
    ),
    {"a": APPROVE, "r": REJECT, "e": edit("z@x.org")},
    {"a": "a@x.org", "e": "z@x.org"},
)
TWICE = Story(
    f"{mail('a', 'a@x.org')}\n/then\n{mail('b', 'b@x.org')}\n/then\n/say Both are sent.",
    {"a": APPROVE, "b": APPROVE},
    {"a": "a@x.org", "b": "b@x.org"},
)
NEITHER = Story(
    f"{mail('a', 'a@x.org')}\n/then\n{mail('b', 'b@x.org')}", {"a": APPROVE, "b": REJECT}, {"a": "a@x.org"}
)
STORIES = (ONE, SEVERAL, TWICE, NEITHER)


@dataclass
class Person:
    """One person on one thread: remembers what was promised, and holds the console to it."""

    bench: Bench
    server: Server
    story: Story
    thread_id: str = ""
    promised: bool = False
    """The message was taken."""
    decided: dict[str, list[Any]] = field(default_factory=dict)
    """By review: the decisions the server took."""
    settled: dict[str, str] = field(default_factory=dict)
    """By call: what was said of an unknown outcome."""
    may_fail: bool = False
    """A run may fail for want of its files, and is tried again."""

    def __post_init__(self) -> None:
        self.thread_id = self.thread_id or self.bench.new_thread()

    # Doing

    def go(self) -> None:
        """Send the message and decide whatever is asked, until the thread is idle or the server is gone.

        Who has turned to another server meanwhile decides there, and only there.
        """
        here = self.server
        self.send()
        for _ in range(10):
            thread = self.rest()
            if self.server is not here or thread is None:
                return
            if thread["status"] != "waiting" or self.decide(thread) is None:
                return

    def send(self) -> Reply | None:
        reply = self.server.post(
            "chat", later=self._later(), message=self.story.message, thread_id=self.thread_id, agent="mail"
        )
        self.promised = self.promised or (reply is not None and reply.taken)
        return reply

    def decide(self, thread: dict[str, Any]) -> Reply | None:
        """Decide the review that waits, as the story says."""
        review = thread["pending_review"]
        if review["review_id"] in self.decided:
            raise LostDecision(
                f"{self.thread_id}: a review whose decision was taken waits again, {review['review_id']}"
            )
        given = [self.story.decisions.get(one["tool_call_id"], APPROVE) for one in review["action_requests"]]
        digests = [one["shown_digest"] for one in review["action_requests"]]
        decisions = [
            {**decision, "shown_digest": digest} for decision, digest in zip(given, digests, strict=True)
        ]
        reply = self.server.post(
            "review",
            later=self._later(),
            thread_id=self.thread_id,
            review_id=review["review_id"],
            decisions=decisions,
        )
        if reply is not None and reply.taken:
            self.decided[review["review_id"]] = decisions
        return reply

    def finish(self) -> None:
        """Do what the console offers until the thread is idle."""
        for _ in range(20):
            thread = self.rest()
            if thread is None:
                raise Fault(f"{self.thread_id}: the server is gone:\n{self.server.log.read_text()[-3_000:]}")
            if not thread:
                if self.promised:
                    raise LostDecision(f"{self.thread_id}: a message that was taken is not there")
                self.send()
                continue
            match thread["status"]:
                case "idle":
                    return
                case "waiting":
                    self.decide(thread)
                case "unknown_outcome":
                    self.settle(thread)
                case "failed" if self.may_fail:
                    self.retry()
                case other:
                    raise Fault(f"{self.thread_id} was left {other}: {thread.get('error')}")
        raise Fault(f"{self.thread_id} never came to rest: {self.thread()}")

    def settle(self, thread: dict[str, Any]) -> None:
        """Say of each cut-off call what the world shows."""
        effects = self.effects_by_call()
        for action in self.unknown(thread):
            call_id = action["tool_call_id"]
            outcome = "happened" if effects[call_id] else self.bench.chance.choice(["ask_again", "failed"])
            reply = self.server.post(
                "settle", thread_id=self.thread_id, tool_call_id=call_id, outcome=outcome
            )
            if reply is None or not reply.taken:
                raise Fault(f"{self.thread_id}: {call_id} could not be settled as {outcome}: {reply}")
            self.settled[call_id] = outcome

    def retry(self) -> None:
        """Go on with what failed."""
        reply = self.server.post("retry", thread_id=self.thread_id)
        if reply is None or not reply.taken:
            raise Fault(f"{self.thread_id} could not be tried again: {reply}")

    def _later(self) -> bool:
        return self.bench.chance.random() < 0.5

    # Looking

    def thread(self) -> dict[str, Any] | None:
        """The thread; empty if there is none, None if the server is gone."""
        reply = self.server.get(f"threads/{self.thread_id}")
        if reply is None:
            return None
        if reply.status not in (200, 404):
            raise Fault(f"{self.thread_id} could not be looked at: {reply}")
        return reply.body if reply.status == 200 else {}

    def rest(self) -> dict[str, Any] | None:
        """The thread as soon as nothing of it runs."""
        found: dict[str, Any] | None = None

        def resting() -> bool:
            nonlocal found
            found = self.thread()
            return not found or found["status"] != "running"

        until(resting, PATIENCE)
        return found

    @staticmethod
    def unknown(thread: dict[str, Any]) -> list[dict[str, Any]]:
        return [action for action in thread["actions"] if action["state"] == "unknown"]

    def effects_by_call(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for (call_id, _), count in self.bench.effects(self.thread_id).items():
            found[call_id] += count
        return found

    # Checking

    def check(self) -> None:
        """What happened is what was decided, once; what is told is what happened; nothing is lost or stuck."""
        thread = self.thread()
        if not thread:
            raise Fault(f"{self.thread_id}: the thread cannot be looked at")
        self.check_effects()
        self.check_told(thread)
        self.check_decisions()
        self.check_results(thread)
        self.check_goes_on()

    def check_effects(self) -> None:
        """The outbox holds exactly what was decided."""
        found = self.bench.effects(self.thread_id)
        wanted = {(call, to): 1 for call, to in self.story.sent.items() if self.settled.get(call) != "failed"}
        for sent, count in found.items():
            if count > wanted.get(sent, 0):
                raise DoubleEffect(f"{self.thread_id}: {sent} happened {count} times")
        for sent in wanted:
            if not found[sent]:
                raise LostDecision(f"{self.thread_id}: {sent} was approved and never happened")

    def check_told(self, thread: dict[str, Any]) -> None:
        """Nothing that happened is told as not done, and nothing that did not is told as done."""
        effects = self.effects_by_call()
        mails = [action for action in thread["actions"] if action["name"] == "send_email"]
        last = {action["tool_call_id"]: action for action in mails}
        told = {m["tool_call_id"]: m["content"] for m in thread["messages"] if m["type"] == "tool"}
        for call_id, action in last.items():
            did, says = bool(effects[call_id]), action["state"] == "done"
            denied = any(words in f"{action['result']} {told.get(call_id)}" for words in DENIALS)
            if did != says or (did and denied):
                raise FalseNotExecuted(
                    f"{self.thread_id}: {call_id} happened {effects[call_id]} times and stands as "
                    f"{action['state']}: {action['result']!r}, told: {told.get(call_id)!r}"
                )

    def check_decisions(self) -> None:
        """Every decision that was taken is on record, once for each action."""
        reply = self.server.get("audit", thread_id=self.thread_id, kind="DecisionMade", limit=1000)
        if reply is None or reply.status != 200:
            raise Fault(f"{self.thread_id}: the trail cannot be read: {reply}")
        recorded = Counter(event["review_id"] for event in reply.body["events"])
        for review_id, decisions in self.decided.items():
            if recorded[review_id] != len(decisions):
                raise LostDecision(f"{self.thread_id}: {review_id} has {recorded[review_id]} decisions")

    def check_results(self, thread: dict[str, Any]) -> None:
        """Every call of the history has one result."""
        calls = Counter(
            call["id"] for message in thread["messages"] for call in message.get("tool_calls", ())
        )
        results = Counter(m["tool_call_id"] for m in thread["messages"] if m["type"] == "tool")
        if calls != results:
            raise Fault(f"{self.thread_id}: calls {dict(calls)} have results {dict(results)}")

    def check_goes_on(self) -> None:
        """The thread takes the next message."""
        reply = self.server.post("chat", message="/say still here", thread_id=self.thread_id)
        if reply is None or reply.body.get("answer") != "still here":
            raise Fault(f"{self.thread_id} does not go on: {reply}")


def check_chain(server: Server) -> None:
    """The record of everything so far is whole."""
    reply = server.get("audit/verify")
    if reply is None or reply.status != 200 or not reply.body["ok"]:
        raise Fault(f"the chain: {reply}")
