"""Remembered rules at work: what one approves, what it leaves alone, and that it never approves more or later."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent.bootstrap import Opened, open_console
from agent.console import Console
from agent.engine.guard import Stop
from agent.engine.recorder import Recorder
from agent.review import tool_messages
from agent.review.actions import Action, ActionState
from agent.review.errors import ReviewChanged, RuleOver, RuleRefused, UnknownRule, UnknownThread
from agent.review.events import EventKind
from agent.review.rules import Rule, RuleEnd
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import SetClock, ask, decide, until, waiting
from tests.engine.crashes import die

THREAD = "t-1"
APPROVE = {"type": "approve"}
PATH = "notes/today.txt"


def write(content: str = "x", path: str = PATH, name: str = "c1") -> str:
    return f"/call#{name} write_file " + json.dumps({"path": path, "content": content})


def say(console: Console, *calls: str, thread_id: str = THREAD) -> None:
    ask(console, "\n".join(calls), thread_id=thread_id, agent="operations")


def remember(console: Console, *free: str, thread_id: str = THREAD, **choices: Any) -> Rule:
    """A rule from the call that waits on the thread, which is closed then."""
    (action,) = waiting(console, thread_id).actions
    chosen = {"scope": "agent", "lasting": "15 minutes", "by": "ana", **choices}
    rule = console.rules.make(thread_id, action.key.tool_call_id, free=free, **chosen)
    assert console.wait(console.close(thread_id, by="ana"), 30)
    return rule


@pytest.fixture
def rule(console: Console) -> Rule:
    """What Ana allows with any content, to one path, whoever's thread it is."""
    say(console, write(), thread_id="t-0")
    return remember(console, "content", thread_id="t-0")


def last(console: Console, thread_id: str = THREAD) -> Action:
    return console.queries.actions(thread_id)[-1]


def uses(console: Console, rule: Rule) -> int:
    return next(one.uses for one in console.rules.all() if one.rule_id == rule.rule_id)


def kinds(console: Console, **narrowed: Any) -> list[EventKind]:
    return [event.kind for event in console.trail.events(limit=1_000, **narrowed)]


def test_a_call_like_the_remembered_one_runs_without_asking_and_says_by_which_rule(
    opened: Opened, console: Console, rule: Rule
) -> None:
    say(console, write("allowed"))
    action = last(console)
    assert (action.state, action.rule_id, action.review_id) == (ActionState.DONE, rule.rule_id, None)
    assert opened.world.file(PATH).content == "allowed"  # type: ignore[union-attr]
    assert uses(console, rule) == 1


def test_the_record_of_a_call_that_a_rule_approved_adds_up(console: Console, rule: Rule) -> None:
    say(console, write("allowed"))
    proof = console.trail.proof(last(console))
    assert proof.faults == ()
    assert [event.kind for event in proof.events] == [
        EventKind.ACTION_PROPOSED,
        EventKind.RULE_APPLIED,
        EventKind.EXECUTION_STARTED,
        EventKind.EXECUTION_FINISHED,
    ]
    applied = proof.events[1].data or {}
    assert {name: applied[name] for name in ("rule_id", "made_by", "bound", "free", "use")} == {
        "rule_id": rule.rule_id,
        "made_by": "ana",
        "bound": {"path": PATH},
        "free": ["content"],
        "use": 1,
    }


@pytest.mark.parametrize(
    "other",
    [write(path="notes/Today.txt"), write(path=f" {PATH}"), write(path="notes/t\u043eday.txt")],
    ids=["case", "space", "look-alike"],
)
def test_a_call_that_only_passes_for_the_remembered_one_is_asked_about(
    console: Console, rule: Rule, other: str
) -> None:
    say(console, other)
    assert len(waiting(console, THREAD).actions) == 1
    assert uses(console, rule) == 0


def test_the_call_a_rule_was_made_from_waits_on(opened: Opened, console: Console) -> None:
    say(console, write())
    (action,) = waiting(console, THREAD).actions
    console.rules.make(THREAD, "c1", free=[], scope="agent", lasting="30 days", by="ana")
    assert waiting(console, THREAD).actions == (action,)
    assert opened.world.changes(THREAD) == ()
    decide(console, THREAD, {"type": "reject", "shown_digest": action.shown_digest})
    assert last(console).state is ActionState.REJECTED


def test_in_one_turn_each_call_has_its_own_fate(opened: Opened, console: Console, rule: Rule) -> None:
    say(console, write("by rule", name="a"), write("asked", path="other.txt", name="b"))
    assert [one.key.tool_call_id for one in waiting(console, THREAD).actions] == ["b"]
    decide(console, THREAD, {"type": "reject"})
    found = {one.key.tool_call_id: (one.state, one.rule_id) for one in console.queries.actions(THREAD)}
    assert found == {"a": (ActionState.DONE, rule.rule_id), "b": (ActionState.REJECTED, None)}


def test_every_use_is_counted(console: Console, rule: Rule) -> None:
    say(console, write("1", name="a"), write("2", name="b"))
    say(console, write("3"), thread_id="t-2")
    assert uses(console, rule) == 3


def test_a_rule_of_one_thread_holds_on_no_other(console: Console) -> None:
    say(console, write())
    remember(console, "content", scope="thread")
    say(console, write("2"))
    assert last(console).state is ActionState.DONE
    say(console, write("3"), thread_id="t-2")
    assert len(waiting(console, "t-2").actions) == 1


# Its end.


def test_a_revoked_rule_approves_nothing_more(console: Console, rule: Rule) -> None:
    console.rules.revoke(rule.rule_id, by="bob")
    say(console, write())
    assert len(waiting(console, THREAD).actions) == 1
    with pytest.raises(RuleOver, match="revoked by bob"):
        console.rules.revoke(rule.rule_id, by="ana")


def test_a_rule_there_is_none_of_cannot_be_revoked(console: Console) -> None:
    with pytest.raises(UnknownRule):
        console.rules.revoke("rule-none", by="ana")


def test_what_a_revoked_rule_approved_and_has_not_started_is_withdrawn(
    opened: Opened, console: Console, rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_file = opened.world.write_file

    def revoked_meanwhile(*args: Any) -> Any:
        console.rules.revoke(rule.rule_id, by="bob")
        return write_file(*args)

    monkeypatch.setattr(opened.world, "write_file", revoked_meanwhile)
    say(console, write("first", name="a"), write("second", name="b"))
    assert [one.state for one in console.queries.actions(THREAD)] == [ActionState.DONE, ActionState.WITHDRAWN]
    assert opened.world.file(PATH).content == "first"  # type: ignore[union-attr]
    assert [one.content for one in console.queries.history(THREAD) if one.tool_call_id == "b"] == [
        tool_messages.RULE_OVER
    ]
    (revoked,) = console.trail.events(kind=EventKind.RULE_REVOKED)
    assert (revoked.data or {})["withdrawn"] == [[THREAD, "b"]]


def test_a_rule_revoked_between_the_verdict_and_its_recording_approves_nothing(
    opened: Opened, console: Console, rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = Recorder.record

    def revoked_before(*args: Any) -> None:
        if console.rules.all()[0].ended is None:
            console.rules.revoke(rule.rule_id, by="bob")
        record(*args)

    monkeypatch.setattr(Recorder, "record", revoked_before)
    say(console, write())
    assert last(console).state is ActionState.WITHDRAWN
    assert opened.world.changes(THREAD) == ()
    assert uses(console, rule) == 0
    assert EventKind.RULE_APPLIED not in kinds(console)
    assert console.queries.view(THREAD).thread.status is Status.IDLE


def test_an_expired_rule_approves_nothing_and_a_clock_set_back_does_not_revive_it(
    console: Console, rule: Rule, clock: SetClock
) -> None:
    clock.move(minutes=15)
    say(console, write())
    assert len(waiting(console, THREAD).actions) == 1
    console.rules.end_expired()
    clock.move(minutes=-10)
    say(console, write(), thread_id="t-2")
    assert len(waiting(console, "t-2").actions) == 1
    assert console.rules.all()[0].ended is RuleEnd.EXPIRED
    assert kinds(console).count(EventKind.RULE_EXPIRED) == 1


def test_a_clock_set_back_before_its_making_does_not_lengthen_a_rule(
    console: Console, rule: Rule, clock: SetClock
) -> None:
    clock.move(days=-1)
    say(console, write())
    assert len(waiting(console, THREAD).actions) == 1


def test_the_sweeper_ends_what_is_over(console: Console, rule: Rule, clock: SetClock) -> None:
    clock.move(minutes=15)
    until(lambda: console.rules.all()[0].ended)


# A cut-off call.


def test_a_cut_off_call_that_a_rule_approved_is_asked_about_when_it_is_asked_again(
    opened: Opened, console: Console, rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(*_: Any) -> None:
        raise Stop("the line went dead")

    with monkeypatch.context() as patched:
        patched.setattr(opened.world, "write_file", cut_off)
        say(console, write())
    assert console.queries.view(THREAD).thread.status is Status.UNKNOWN_OUTCOME
    run = console.settle(THREAD, "c1", "ask_again", by="ana")
    assert run is not None
    assert console.wait(run, 30)
    (action,) = waiting(console, THREAD).actions
    assert (action.key.attempt, action.rule_id) == (2, None)
    assert "edit" in action.allowed
    assert uses(console, rule) == 1


# Wherever a process dies.


def test_a_use_is_counted_once_and_a_revoked_rule_is_never_used_wherever_the_process_died(
    settings: Settings, tmp_path: Path
) -> None:
    """It is revoked between the death and the next process."""
    agents = tmp_path / "langgraph.json"
    agents.write_text('{"graphs": {"operations": "./agent/bootstrap.py:operations"}}')
    start, clock = settings.model_copy(update={"review_agents": agents}), SetClock()
    first = open_console(start, clock=clock)
    say(first.console, write("once"))
    rule = remember(first.console, "content")
    first.close()

    number, died = 0, True
    while died:
        number += 1
        folder = {
            "review_data": tmp_path / f"died-{number}",
            "review_anchor": tmp_path / f"died-{number}.jsonl",
        }
        here = start.model_copy(update=folder)
        shutil.copytree(start.review_data, here.review_data)
        died = die(here, clock, lambda opened: say(opened.console, write(name="c2")), number, "before")
        revoke_only(here, clock, rule)
        opened = open_console(here, clock=clock)
        try:
            came_to_rest(opened)
            check(opened, rule)
        except BaseException as error:
            error.add_note(f"after a death before commit {number}")
            raise
        finally:
            opened.close()
    assert number > 12


def revoke_only(settings: Settings, clock: SetClock, rule: Rule) -> None:
    """In a process that takes nothing over from the dead one."""
    looking = open_console(settings, clock=clock, at_work=False)
    looking.console.rules.revoke(rule.rule_id, by="bob")
    looking.close()


def came_to_rest(opened: Opened) -> None:
    """Let the thread go on as far as it can, settling what was cut off by what the world shows."""
    console = opened.console
    until(lambda: console.queries.view(THREAD).thread.status is not Status.RUNNING)
    if console.queries.view(THREAD).thread.status is Status.UNKNOWN_OUTCOME:
        did = any(change.ref.tool_call_id == "c2" for change in opened.world.changes(THREAD))
        run = console.settle(THREAD, "c2", "happened" if did else "failed", by="ana")
        assert run is not None
        assert console.wait(run, 30)


def check(opened: Opened, rule: Rule) -> None:
    console, trail = opened.console, opened.console.trail.events(limit=1_000)
    applied = [event for event in trail if event.kind is EventKind.RULE_APPLIED]
    assert uses(console, rule) == len(applied) <= 1
    assert len([one for one in opened.world.changes(THREAD) if one.ref.tool_call_id == "c2"]) <= 1
    (revoked,) = [event.seq for event in trail if event.kind is EventKind.RULE_REVOKED]
    started = [event for event in trail if event.kind is EventKind.EXECUTION_STARTED]
    assert all(applied and applied[0].seq < event.seq < revoked for event in started)
    assert all(fault == () for fault in faults(console))
    assert console.trail.verify().ok
    assert console.queries.view(THREAD).thread.status in (Status.IDLE, Status.WAITING)
    shown = console.queries.view(THREAD).reviews
    assert all(review.actions for review in shown)
    assert bool(shown) == (console.queries.view(THREAD).thread.status is Status.WAITING)


def faults(console: Console) -> list[tuple[str, ...]]:
    return [console.trail.proof(action).faults for action in console.queries.actions(THREAD)]


# Making one.


def test_it_is_foreseen_what_a_rule_would_have_allowed(console: Console) -> None:
    for number, path in enumerate(["a.txt", PATH, "NOTES/TODAY.TXT", PATH]):
        say(console, write(str(number), path=path), thread_id=f"t-{number}")
    before = console.queries.pulse()
    found = console.rules.foresee("t-3", "c1", free=["content"], scope="agent", lasting="today", by="ana")
    assert [one.thread_id for one in found.matches] == ["t-3", "t-1"]
    assert {one.thread_id for one in found.near_misses} == {"t-0", "t-2"}
    alone = console.rules.foresee("t-3", "c1", free=["content"], scope="thread", lasting="today", by="ana")
    assert [one.thread_id for one in alone.matches] == ["t-3"]
    assert console.queries.pulse() == before
    assert console.rules.all() == []


def test_the_making_of_a_rule_is_on_record_with_the_call_it_was_made_from(
    console: Console, rule: Rule
) -> None:
    (made,) = console.trail.events(kind=EventKind.RULE_MADE)
    assert (made.by, made.thread_id, made.tool_call_id, made.tool) == ("ana", "t-0", "c1", "write_file")
    assert (made.data or {})["rule_id"] == rule.rule_id


def refused(console: Console, error: type[Exception], thread_id: str, call_id: str, **choices: Any) -> None:
    chosen: dict[str, Any] = {"free": [], "scope": "agent", "lasting": "today", "by": "ana", **choices}
    with pytest.raises(error):
        console.rules.make(thread_id, call_id, **chosen)
    assert console.rules.all() == []


def test_no_rule_is_made_of_what_cannot_be_undone(console: Console) -> None:
    ask(
        console,
        "/call#c1 send_email " + json.dumps({"to": "a@x.org", "subject": "s", "body": "b"}),
        thread_id=THREAD,
    )
    refused(console, RuleRefused, THREAD, "c1")
    assert "cannot be undone" in console.rules.forbidden(last(console))


def test_no_rule_is_made_of_a_call_that_is_not_there_or_not_the_one_shown(console: Console) -> None:
    refused(console, UnknownThread, "t-9", "c1")
    say(console, write(), "/call#c2 read_data {}")
    refused(console, RuleRefused, THREAD, "c9")
    refused(console, RuleRefused, THREAD, "c2")
    refused(console, ReviewChanged, THREAD, "c1", shown_digest="another")
