"""Whatever commit a process dies around, the next one loses nothing, does nothing twice, and is not stuck."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from agent.bootstrap import Opened, open_console
from agent.console.outcomes import Outcome
from agent.review.actions import ActionState
from agent.review.errors import UnknownThread
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import SetClock, start_deciding, until
from tests.engine.crashes import When, die

THREAD = "t-1"
APPROVE = {"type": "approve"}


def call(name: str, tool: str, **args: Any) -> str:
    return f"/call#{name} {tool} {json.dumps(args)}"


def mail(name: str, to: str) -> str:
    return call(name, "send_email", to=to, subject="s", body="b")


@dataclass(frozen=True)
class Story:
    """What a person does on one thread, and what must have come of it in the end."""

    message: str
    decisions: Mapping[str, Any] = field(default_factory=dict)
    """What is decided on each call, whenever it is asked about."""
    sent: tuple[str, ...] = ()
    """Who gets an e-mail, each exactly one."""
    archived: tuple[str, ...] = ()
    ends: Mapping[str, ActionState] = field(default_factory=dict)
    """How each call's last attempt must have ended."""

    def begin(self, opened: Opened) -> None:
        run = opened.console.send(self.message, by="ana", thread_id=THREAD)
        assert opened.console.wait(run, 30)

    def decide(self, opened: Opened) -> None:
        (review,) = opened.console.queries.view(THREAD).reviews
        given = [self.decisions.get(action.key.tool_call_id, APPROVE) for action in review.actions]
        assert opened.console.wait(start_deciding(opened.console, THREAD, given, by="ana"), 30)

    def tell(self, opened: Opened) -> None:
        self.begin(opened)
        while opened.console.queries.view(THREAD).reviews:
            self.decide(opened)


def truth(opened: Opened, call_id: str) -> Outcome:
    """What a person who looks into the world would say of a cut-off call."""
    did = any(change.ref.tool_call_id == call_id for change in opened.world.changes(THREAD))
    return "happened" if did else "ask_again"


def settle(opened: Opened) -> None:
    (*_, action) = (a for a in opened.console.queries.actions(THREAD) if a.state is ActionState.UNKNOWN)
    call_id = action.key.tool_call_id
    run = opened.console.settle(THREAD, call_id, truth(opened, call_id), by="ana")
    assert run is None or opened.console.wait(run, 30)


def finish(opened: Opened, story: Story) -> None:
    """Do what the console offers until the thread is idle."""
    for _ in range(20):
        try:
            until(lambda: opened.console.queries.view(THREAD).thread.status is not Status.RUNNING)
        except UnknownThread:
            story.begin(opened)
            continue
        match opened.console.queries.view(THREAD).thread.status:
            case Status.IDLE:
                return
            case Status.WAITING:
                story.decide(opened)
            case Status.UNKNOWN_OUTCOME:
                settle(opened)
            case other:
                raise AssertionError(f"a crash left the thread {other}")
    raise AssertionError("the thread never came to rest")


def check(opened: Opened, story: Story) -> None:
    """Nothing lost, nothing twice, the record whole, and the thread takes the next message."""
    assert sorted(sent.recipient for sent in opened.world.outbox()) == sorted(story.sent)
    archived = [one.subject for one in opened.world.changes(THREAD) if one.kind == "mail_archived"]
    assert archived == [f"mailbox/{name}" for name in story.archived]
    assert opened.console.trail.verify().ok
    last = {action.key.tool_call_id: action for action in opened.console.queries.actions(THREAD)}
    assert {name: last[name].state for name in story.ends} == dict(story.ends)
    check_transcript(opened)
    assert not opened.console.queries.view(THREAD).reviews
    run = opened.console.send("/say still here", by="ana", thread_id=THREAD)
    assert opened.console.wait(run, 30)
    assert opened.console.queries.history(THREAD)[-1].content == "still here"


def check_transcript(opened: Opened) -> None:
    """Every call has one result behind it, the turn is answered, and ledger and checkpoint tell the same."""
    kept = opened.console.queries.history(THREAD, limit=500)
    stands = opened.console._engine.look("mail", THREAD).messages
    assert [replace(message, at="") for message in kept] == list(stands)
    calls = [one.id for message in kept for one in message.tool_calls]
    results = [message.tool_call_id or "" for message in kept if message.type == "tool"]
    assert sorted(results) == sorted(calls)
    assert kept[-1].type == "ai"
    assert not kept[-1].tool_calls


MIXED = Story(
    "\n".join(
        [
            call("s", "search_mail", text="rent"),
            mail("a", "a@x.org"),
            call("n", "format_disk"),
            mail("r", "r@x.org"),
            mail("e", "e@x.org"),
            call("l", "archive_mail", message_id="m-1"),
        ]
    ),
    {
        "a": APPROVE,
        "r": {"type": "reject", "message": "not him"},
        "e": {
            "type": "edit",
            "edited_action": {"name": "send_email", "args": {"to": "z@x.org", "subject": "s", "body": "b"}},
        },
    },
    sent=("a@x.org", "z@x.org"),
    archived=("m-1",),
    ends={
        "s": ActionState.DONE,
        "a": ActionState.DONE,
        "n": ActionState.REFUSED,
        "r": ActionState.REJECTED,
        "e": ActionState.DONE,
        "l": ActionState.DONE,
    },
)


class Crashes:
    """One folder after another, each with a console that died at another commit."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._folder, self._settings = folder, settings
        self._start = folder / "start"
        self.clock = SetClock()

    def beforehand(
        self, script: Callable[[Opened], None], *, number: int = 0, when: When = "after", only: str = ""
    ) -> None:
        """What stands in the folder before each death: all that `script` did, up to a first death or to its end."""
        settings = self._on(self._start)
        assert die(settings, self.clock, script, number, when, only=only) is bool(number)

    def each(self, script: Callable[[Opened], None], after: Callable[[Opened], None]) -> int:
        """Let `script` die before every commit in turn; `after` is what the next process then does. How many there were.

        To die behind a commit is to die before the next: nothing that outlives the process lies between the two.
        """
        number = 1
        while True:
            settings = self._on(self._folder / f"before-{number}")
            if self._start.exists():
                shutil.copytree(self._start, settings.review_data)
            died = die(settings, self.clock, script, number, "before")
            opened = open_console(settings, clock=self.clock)
            try:
                after(opened)
            except BaseException as error:
                error.add_note(f"after a death before commit {number}")
                raise
            finally:
                opened.close()
            if not died:
                return number - 1
            number += 1

    def _on(self, data: Path) -> Settings:
        anchor = data.with_suffix(".anchors")
        return self._settings.model_copy(update={"review_data": data, "review_anchor": anchor})


@pytest.fixture
def crashes(tmp_path: Path, settings: Settings) -> Crashes:
    agents = tmp_path / "langgraph.json"
    agents.write_text('{"graphs": {"mail": "./agent/bootstrap.py:mail"}}')
    return Crashes(tmp_path, settings.model_copy(update={"review_agents": agents}))


def test_a_turn_is_finished_once_wherever_its_process_died(crashes: Crashes) -> None:
    def go_on(opened: Opened) -> None:
        finish(opened, MIXED)
        check(opened, MIXED)

    assert crashes.each(MIXED.tell, go_on) > 25


CLOSED = replace(
    MIXED,
    sent=(),
    ends={**MIXED.ends, "a": ActionState.CANCELLED, "r": ActionState.CANCELLED, "e": ActionState.CANCELLED},
)
EXPIRED = replace(
    MIXED,
    sent=(),
    ends={**MIXED.ends, "a": ActionState.EXPIRED, "r": ActionState.EXPIRED, "e": ActionState.EXPIRED},
)


def test_a_closed_review_is_closed_or_waits_wherever_its_process_died(crashes: Crashes) -> None:
    def close(opened: Opened) -> None:
        assert opened.console.wait(opened.console.close(THREAD, by="ana"), 30)

    def go_on(opened: Opened) -> None:
        if opened.console.queries.view(THREAD).reviews:
            close(opened)
        finish(opened, CLOSED)
        check(opened, CLOSED)

    crashes.beforehand(MIXED.begin)
    assert crashes.each(close, go_on) > 8


def test_a_review_expires_whole_wherever_its_process_died(crashes: Crashes) -> None:
    def expire(opened: Opened) -> None:
        opened.console.expire()
        at_rest = (Status.IDLE, Status.UNKNOWN_OUTCOME)
        until(lambda: opened.console.queries.view(THREAD).thread.status in at_rest)

    def go_on(opened: Opened) -> None:
        expire(opened)
        finish(opened, EXPIRED)
        check(opened, EXPIRED)
        replies = [m for m in opened.console.queries.history(THREAD) if m.type == "ai"]
        assert len(replies) == 3, (
            "the proposal, the answer after it expired, and the answer to the next message"
        )

    crashes.beforehand(MIXED.begin)
    crashes.clock.move(hours=25)
    assert crashes.each(expire, go_on) > 4


@pytest.mark.parametrize(("cut_off", "moment"), [(2, "before"), (1, "after")], ids=["ask again", "happened"])
def test_a_settled_turn_is_finished_wherever_its_process_died(
    crashes: Crashes, cut_off: int, moment: When
) -> None:
    def go_on(opened: Opened) -> None:
        finish(opened, MIXED)
        check(opened, MIXED)

    crashes.beforehand(MIXED.tell, number=cut_off, when=moment, only="world")
    assert crashes.each(lambda opened: finish(opened, MIXED), go_on) > 8


STOPPED = Story(
    MIXED.message,
    MIXED.decisions,
    sent=("a@x.org",),
    ends={**MIXED.ends, "e": ActionState.WITHDRAWN, "l": ActionState.WITHDRAWN},
)


def test_a_message_after_a_stop_is_answered_wherever_its_process_died(crashes: Crashes) -> None:
    def tell_and_stop(opened: Opened) -> None:
        def stop_after_the_first(run_id: str, tool: str, what: str) -> None:
            if (tool, what) == ("send_email", "finished"):
                opened.console.stop(THREAD, by="ana")

        object.__setattr__(opened.supervisor, "tool_moved", stop_after_the_first)
        MIXED.tell(opened)
        assert opened.console.queries.view(THREAD).thread.status is Status.STOPPED

    def go_on(opened: Opened) -> None:
        until(lambda: opened.console.queries.view(THREAD).thread.status is not Status.RUNNING)
        if opened.console.queries.view(THREAD).thread.status is Status.STOPPED:
            next_message(opened)
        check(opened, STOPPED)

    def next_message(opened: Opened) -> None:
        run = opened.console.send("/say next", by="ana", thread_id=THREAD)
        assert opened.console.wait(run, 30)

    crashes.beforehand(tell_and_stop)
    assert crashes.each(next_message, go_on) > 4


ENDED = Story(
    MIXED.message,
    ends={
        "a": ActionState.REJECTED,
        "r": ActionState.REJECTED,
        "e": ActionState.REJECTED,
        "s": ActionState.WITHDRAWN,
        "l": ActionState.WITHDRAWN,
        "n": ActionState.REFUSED,
    },
)


def test_a_turn_that_was_ended_stays_ended_wherever_its_process_died(crashes: Crashes) -> None:
    def end(opened: Opened) -> None:
        rejections = [{"type": "reject"}] * 3
        run = start_deciding(opened.console, THREAD, rejections, by="ana", end_turn=True)
        assert opened.console.wait(run, 30)

    def go_on(opened: Opened) -> None:
        if opened.console.queries.view(THREAD).reviews:
            end(opened)
        finish(opened, ENDED)
        check(opened, ENDED)

    crashes.beforehand(MIXED.begin)
    assert crashes.each(end, go_on) > 4


ONE = Story(mail("a", "a@x.org"), sent=("a@x.org",), ends={"a": ActionState.CANCELLED})


def test_what_was_closed_is_asked_again_once_wherever_its_process_died(crashes: Crashes) -> None:
    def begin_and_close(opened: Opened) -> None:
        ONE.begin(opened)
        assert opened.console.wait(opened.console.close(THREAD, by="ana"), 30)

    def ask_again(opened: Opened) -> None:
        assert opened.console.wait(opened.console.ask_again(THREAD, by="ana"), 30)

    def go_on(opened: Opened) -> None:
        until(lambda: opened.console.queries.view(THREAD).thread.status is not Status.RUNNING)
        if opened.console.queries.may_ask_again(THREAD):
            ask_again(opened)
        assert len(opened.console.queries.view(THREAD).reviews) == 1
        finish(opened, ONE)
        assert len(opened.console.queries.actions(THREAD)) == 2
        check(opened, ONE)

    crashes.beforehand(begin_and_close)
    assert crashes.each(ask_again, go_on) > 4
