"""Stream a run as server-sent events: from the record, which loses nothing, plus the message being written.

The record is polled every `STEP` seconds. A recorded message is sent in full before what follows it, however much
of it was seen while it was being written. The stream is the same whichever process executes the run.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from fastapi.sse import format_sse_event

from agent.api import responses
from agent.api.wait import off
from agent.console import Console
from agent.review.events import Event, EventKind
from agent.review.threads import Message, Run, Status

STEP = 0.05
QUIET = 300
"""Steps without news after which a comment is sent, so that no proxy closes the connection."""
PAGE = 200
STATUS_OF = {
    EventKind.EXECUTION_FINISHED: "success",
    EventKind.EXECUTION_FAILED: "error",
    EventKind.EXECUTION_SUSPENDED: "suspended",
    EventKind.OUTCOME_UNKNOWN: "unknown",
}
CODE_OF = {
    Status.FAILED: "RunFailed",
    Status.STOPPED: "RunStopped",
    Status.UNKNOWN_OUTCOME: "OutcomeUnknown",
    Status.STUCK: "ThreadStuck",
}
UNKNOWN = "The outcome of an action is unknown, because it was cut off. Settle it, and the thread goes on."

Told = tuple[str, dict[str, Any]]
"""An event's name and its data."""


@dataclass
class Follower:
    """One listener's progress through a run: what was sent so far."""

    console: Console
    run: Run
    to: str
    """The listener's name."""
    seen_messages: int
    seen_seq: int
    written: str = ""
    """The part already sent of the message that is being written."""
    last: str = ""
    """The last message sent in full: the progress still shows its words until the next model call begins."""
    seen_progress: int = 0
    steps_left: int = field(default=QUIET)

    def news(self) -> list[Told]:
        """Return what happened since the last call, in order."""
        progress = self.console.queries.view(self.run.thread_id).progress
        events, messages = self._events(), self._messages()
        told = [one for item in _in_order(messages, events) for one in self._told(item)]
        told += self._progressed()
        if progress is not None and not any(message.type == "ai" for message in messages):
            # Otherwise the progress may belong to a message recorded since then; the next call handles it.
            told += self._in_writing(progress.text)
        return told

    def _events(self) -> list[Event]:
        found: list[Event] = []
        while page := self.console.trail.events(
            thread_id=self.run.thread_id, after=self.seen_seq, limit=PAGE
        ):
            found += page
            self.seen_seq = page[-1].seq
        return found

    def _messages(self) -> list[Message]:
        count, before = self.console.queries.history_length(self.run.thread_id), self.seen_messages
        self.seen_messages = count
        if count == before:
            return []
        return self.console.queries.history(self.run.thread_id, before=count, limit=count - before)

    def _told(self, item: Message | Event) -> Iterator[Told]:
        if isinstance(item, Event):
            yield from _of_event(item)
        elif item.type == "ai":
            yield from self._whole(item.content)

    def _whole(self, content: str) -> Iterator[Told]:
        missing = content.removeprefix(self.written) if content.startswith(self.written) else content
        self.written, self.last = "", content
        if missing:
            yield "token", {"text": missing}

    def _progressed(self) -> list[Told]:
        """Return what the agent's own code told of its progress since."""
        found = self.console.queries.progressed(self.run)[self.seen_progress :]
        self.seen_progress += len(found)
        return [("progress", {"data": _as_json(one)}) for one in found]

    def _in_writing(self, text: str) -> Iterator[Told]:
        if not self.written and self.last.startswith(text):
            return
        if text.startswith(self.written) and text != self.written:
            yield "token", {"text": text.removeprefix(self.written)}
            self.written, self.last = text, ""


def begin(console: Console, run: Run, to: str, seen_messages: int) -> Follower:
    """Follow a run that was just started; `seen_messages` is the number of messages before it."""
    return Follower(console, run, to, seen_messages, _started_at(console, run))


async def server_sent(follower: Follower) -> AsyncIterator[bytes]:
    """Yield the run's events as they happen; at its end reviews, answer or error, and last `done` with the full answer."""
    console, run = follower.console, follower.run
    ended = False
    while not ended:
        ended = await off(console.wait, run, STEP)
        told = await off(follower.news)
        for name, data in told:
            yield _sent(name, data)
        follower.steps_left = QUIET if told else follower.steps_left - 1
        if follower.steps_left == 0:
            follower.steps_left = QUIET
            yield format_sse_event(comment="still at work")
    answer = await off(responses.answer, console, run.thread_id, to=follower.to)
    for name, data in _end(answer):
        yield _sent(name, data)


def _as_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:  # it was cut to a bounded length
        return text


def _end(answer: dict[str, Any]) -> Iterator[Told]:
    for review in answer["pending_reviews"]:
        yield "review", review
    if answer["answer"] is not None:
        yield "answer", {"answer": answer["answer"]}
    if answer["status"] in CODE_OF:
        detail = answer.get("error") or UNKNOWN
        yield "error", {"detail": detail, "code": CODE_OF[answer["status"]]}
    yield "done", answer


def _of_event(event: Event) -> Iterator[Told]:
    about = {"tool_call_id": event.tool_call_id, "name": event.tool}
    if event.kind is EventKind.EXECUTION_STARTED:
        yield "tool_started", about
    elif event.kind in STATUS_OF:
        result = (event.data or {}).get("result")
        yield "tool_finished", {**about, "status": STATUS_OF[event.kind], "result": result}


def _in_order(messages: Iterable[Message], events: Iterable[Event]) -> Iterator[Message | Event]:
    """Merge by order of happening: a tool's events go before its result message, all other events last."""
    left = deque(events)
    for message in messages:
        if message.type == "tool" and any(one.tool_call_id == message.tool_call_id for one in left):
            yield from _up_to_the_end_of(message.tool_call_id, left)
        yield message
    yield from left


def _up_to_the_end_of(tool_call_id: str | None, events: deque[Event]) -> Iterator[Event]:
    while events:
        event = events.popleft()
        yield event
        if event.tool_call_id == tool_call_id and event.kind in STATUS_OF:
            return


def _started_at(console: Console, run: Run) -> int:
    """Return the sequence number of the event that recorded the run's start, or 0."""
    before: int | None = None
    while page := console.trail.events(
        thread_id=run.thread_id, kind=EventKind.RUN_STARTED, newest_first=True, before=before, limit=PAGE
    ):
        for event in page:
            if (event.data or {}).get("run_id") == run.run_id:
                return event.seq
        before = page[-1].seq
    return 0


def _sent(name: str, data: dict[str, Any]) -> bytes:
    return format_sse_event(event=name, data_str=json.dumps(data))
