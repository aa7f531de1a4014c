"""Runs that are stopped, fail, are given up, lost, and taken over."""

from __future__ import annotations

import fcntl
import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, cast

import pytest

from agent.bootstrap import Opened, open_console
from agent.console import Console
from agent.engine import supervisor as supervisor_module
from agent.engine.process_lock import Owner
from agent.engine.recorder import Recorder
from agent.engine.supervisor import Supervisor, described
from agent.ledger.sqlite import SqliteLedger
from agent.ports import Runs
from agent.review.actions import ActionState
from agent.review.errors import LedgerUnavailable, NothingToRetry, NothingToStop, StillAlive
from agent.review.events import EventKind
from agent.review.threads import Run, Status
from agent.settings import Settings
from tests.conftest import SetClock, ask, decide, start_deciding, until, waiting

THREAD = "t-1"
APPROVE = {"type": "approve"}


def mail(name: str, to: str = "a@x.org") -> str:
    return f"/call#{name} send_email " + json.dumps({"to": to, "subject": "s", "body": "b"})


def status(console: Console, thread_id: str = THREAD) -> Status:
    return console.queries.view(thread_id).thread.status


def states(console: Console, thread_id: str = THREAD) -> dict[str, ActionState]:
    return {action.key.tool_call_id: action.state for action in console.queries.actions(thread_id)}


def kinds(console: Console, thread_id: str = THREAD) -> list[EventKind]:
    return [event.kind for event in console.trail.events(thread_id=thread_id)]


def owner_of(run_id: str, console: Console) -> str | None:
    run = console._ledger.run(run_id)
    assert run is not None
    return run.owner


def found_unknown(other: Supervisor, console: Console) -> None:
    """Let another supervisor reconcile until it has found the thread's outcome unknown."""

    def found() -> bool:
        other.reconcile()
        return status(console) is Status.UNKNOWN_OUTCOME

    until(found)


class Gate:
    """Holds a demo world's effect until it is let go."""

    def __init__(self, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.go = threading.Event(), threading.Event()
        send = opened.world.send

        def held(*args: Any) -> Any:
            self.entered.set()
            assert self.go.wait(30)
            return send(*args)

        monkeypatch.setattr(opened.world, "send", held)


def stop_when_finished(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for a stop the moment a tool has finished."""
    moved = opened.supervisor.tool_moved

    def tool_moved(run_id: str, tool: str, what: str) -> None:
        moved(run_id, tool, what)
        if what == "finished":
            opened.console.stop(THREAD, by="bob")

    monkeypatch.setattr(opened.supervisor, "tool_moved", tool_moved)


# Stopping and trying again.


def test_a_stop_leaves_the_thread_stopped_before_its_next_tool(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_when_finished(opened, monkeypatch)
    ask(opened.console, f"{mail('a')}\n{mail('b', 'b@x.org')}", thread_id=THREAD)
    decide(opened.console, THREAD, APPROVE, APPROVE)

    assert status(opened.console) is Status.STOPPED
    assert states(opened.console) == {"a": ActionState.DONE, "b": ActionState.APPROVED}


def test_a_stop_while_the_model_writes_leaves_the_thread_stopped(console: Console) -> None:
    run = console.send("/slow 600", by="ana", thread_id=THREAD)
    until(lambda: console.queries.view(THREAD).progress)
    console.stop(THREAD, by="bob")
    assert console.wait(run, 30)

    assert status(console) is Status.STOPPED


def test_a_model_that_is_replying_does_not_hold_up_a_shutdown(settings: Settings, clock: SetClock) -> None:
    first = open_console(settings, clock=clock)
    run = first.console.send("/slow 600", by="ana", thread_id=THREAD)
    until(lambda: first.console.queries.view(THREAD).progress)
    first.supervisor.shut()
    try:
        assert run.run_id not in first.supervisor._live
        assert first.console._ledger.open_run(THREAD) is not None
    finally:
        first.close()


def test_a_stopped_turn_goes_on_where_it_stood(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as stopping:
        stop_when_finished(opened, stopping)
        ask(opened.console, f"{mail('a')}\n{mail('b', 'b@x.org')}", thread_id=THREAD)
        decide(opened.console, THREAD, APPROVE, APPROVE)
    assert opened.console.wait(opened.console.retry(THREAD, by="ana"), 30)

    assert status(opened.console) is Status.IDLE
    assert [sent.recipient for sent in opened.world.outbox()] == ["a@x.org", "b@x.org"]


def test_a_message_to_a_stopped_thread_tells_the_model_what_did_run(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as stopping:
        stop_when_finished(opened, stopping)
        ask(opened.console, f"{mail('a')}\n{mail('b')}\n{mail('c')}", thread_id=THREAD)
        decide(opened.console, THREAD, APPROVE, APPROVE, {"type": "reject", "message": "not him"})
    ask(opened.console, "/say hello", thread_id=THREAD)

    told = {m.tool_call_id: m.content for m in opened.console.queries.history(THREAD) if m.type == "tool"}
    assert "Sent to a@x.org" in told["a"]
    assert "It was not executed" in told["b"]
    assert "not him" in told["c"]


def test_what_a_broken_turn_ran_stands_in_the_checkpoint_too(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as stopping:
        stop_when_finished(opened, stopping)
        ask(opened.console, f"{mail('a')}\n{mail('b')}", thread_id=THREAD)
        decide(opened.console, THREAD, APPROVE, APPROVE)
    ask(opened.console, "/say hello", thread_id=THREAD)

    kept = {m.id: m.content for m in opened.console.queries.history(THREAD)}
    assert {m.id: m.content for m in opened.console._engine.look("mail", THREAD).messages} == kept


def test_a_thread_that_does_not_run_cannot_be_stopped(console: Console) -> None:
    ask(console, mail("a"), thread_id=THREAD)
    with pytest.raises(NothingToStop):
        console.stop(THREAD, by="bob")
    assert status(console) is Status.WAITING


def test_a_provider_error_is_shown_and_can_be_tried_again(console: Console) -> None:
    ask(console, "/fail once\n/say fine", thread_id=THREAD)
    assert status(console) is Status.FAILED
    assert "DemoProviderError" in (console.queries.view(THREAD).thread.error or "")

    assert console.wait(console.retry(THREAD, by="ana"), 30)
    assert [m.content for m in console.queries.history(THREAD)][1:] == ["fine"]


def test_a_run_that_loses_its_record_is_not_told_that_nothing_was_done() -> None:
    told = described(LedgerUnavailable("database or disk is full"))
    assert "nothing was done" not in told  # its tools may have run before
    assert "(database or disk is full)" in told
    assert told.endswith("then retry the thread.")


def test_a_retry_after_the_approved_tools_ran_runs_none_of_them_again(opened: Opened) -> None:
    ask(opened.console, f"{mail('a')}\n/then\n/fail once\n/say fine", thread_id=THREAD)
    decide(opened.console, THREAD, APPROVE)
    assert status(opened.console) is Status.FAILED
    assert opened.console.wait(opened.console.retry(THREAD, by="ana"), 30)

    assert status(opened.console) is Status.IDLE
    assert len(opened.world.outbox()) == 1


def test_a_thread_that_is_well_cannot_be_tried_again(console: Console) -> None:
    ask(console, "/say fine", thread_id=THREAD)
    with pytest.raises(NothingToRetry):
        console.retry(THREAD, by="ana")


def test_a_failed_thread_takes_the_next_message(console: Console) -> None:
    ask(console, "/fail", thread_id=THREAD)
    ask(console, "/say well again", thread_id=THREAD)
    assert status(console) is Status.IDLE


# Shutting down.


def test_a_run_left_open_by_a_shutdown_is_finished_by_the_next_console(
    settings: Settings, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = open_console(settings, clock=clock)
    gate = Gate(first, monkeypatch)
    ask(first.console, f"{mail('a')}\n{mail('b', 'b@x.org')}", thread_id=THREAD)
    start_deciding(first.console, THREAD, [APPROVE, APPROVE], by="ana")
    assert gate.entered.wait(30)
    shutting = threading.Thread(target=first.close)
    shutting.start()
    gate.go.set()
    shutting.join(30)

    second = open_console(settings, clock=clock)
    try:
        until(lambda: status(second.console) is Status.IDLE)
        assert [sent.recipient for sent in second.world.outbox()] == ["a@x.org", "b@x.org"]
    finally:
        second.close()


def test_a_run_whose_files_are_closed_under_it_is_not_recorded_as_failed(
    settings: Settings, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor_module, "CLOSING_SECONDS", 0.0)
    first = open_console(settings, clock=clock)
    gate = Gate(first, monkeypatch)
    ask(first.console, mail("a"), thread_id=THREAD)
    run = start_deciding(first.console, THREAD, [APPROVE], by="ana")
    assert gate.entered.wait(30)
    first.supervisor.shut()
    first.engine.shut()
    gate.go.set()
    ended = first.supervisor._live.get(run.run_id)
    assert ended is None or ended.ended.wait(30)
    assert first.console._ledger.open_run(THREAD) is not None
    first.supervisor._owner.close()
    first.close()


def test_a_process_that_still_runs_a_tool_keeps_its_lock_after_the_shutdown(
    settings: Settings, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor_module, "CLOSING_SECONDS", 0.0)
    first = open_console(settings, clock=clock)
    gate = Gate(first, monkeypatch)
    ask(first.console, mail("a"), thread_id=THREAD)
    run = start_deciding(first.console, THREAD, [APPROVE], by="ana")
    assert gate.entered.wait(30)
    first.supervisor.shut()
    other = Owner(settings.review_data / "owners")
    try:
        assert other.lives(first.supervisor.owner)
    finally:
        other.close()
        gate.go.set()
        first.supervisor.wait(run.run_id, 30)
        first.supervisor._owner.close()
        first.close()


# What could not be recorded.


class Outage:
    """Lets chosen calls of a method fail as a locked or full ledger would."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
        self.on, self.hit = threading.Event(), threading.Event()
        original: Callable[..., Any] = getattr(owner, name)

        def failing(this: Any, *args: Any, **more: Any) -> Any:
            if self.on.is_set():
                self.hit.set()
                raise LedgerUnavailable("database is locked")
            return original(this, *args, **more)

        monkeypatch.setattr(owner, name, failing)


def test_an_answer_that_could_not_be_recorded_is_recorded_by_the_sweep(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    outage = Outage(monkeypatch, Recorder, "end")
    outage.on.set()
    console.send("/say hello", by="ana", thread_id=THREAD)
    assert outage.hit.wait(30)
    outage.on.clear()

    until(lambda: status(console) is Status.IDLE)
    assert console.queries.history(THREAD)[-1].content == "hello"


def test_nobody_waits_for_a_run_while_its_end_cannot_be_recorded(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    outage = Outage(monkeypatch, Recorder, "end")
    outage.on.set()
    run = console.send("/say hello", by="ana", thread_id=THREAD)
    assert console.wait(run, 30)
    outage.on.clear()
    until(lambda: status(console) is Status.IDLE)


def test_a_sweep_whose_own_commit_fails_tries_again(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    outage = Outage(monkeypatch, Recorder, "end")
    failing = threading.Event()
    write = SqliteLedger.write

    @contextmanager
    def at_the_commit(this: SqliteLedger) -> Iterator[Any]:
        with write(this) as tx:
            yield tx
            if outage.hit.is_set() and not failing.is_set():
                failing.set()
                raise sqlite3.OperationalError("disk I/O error")

    outage.on.set()
    console.send("/say hello", by="ana", thread_id=THREAD)
    assert outage.hit.wait(30)
    monkeypatch.setattr(SqliteLedger, "write", at_the_commit)
    outage.on.clear()

    assert failing.wait(30)
    until(lambda: status(console) is Status.IDLE)


def test_a_tool_that_exits_has_failed_and_leaves_no_stuck_thread(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(*_: Any) -> None:
        raise SystemExit(3)

    monkeypatch.setattr(opened.world, "send", leave)
    ask(opened.console, mail("a"), thread_id=THREAD)
    start_deciding(opened.console, THREAD, [APPROVE], by="ana")

    until(lambda: status(opened.console) is Status.IDLE)
    assert states(opened.console) == {"a": ActionState.FAILED}


def test_a_tool_whose_end_could_not_be_recorded_is_unknown(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(opened, monkeypatch)
    ask(opened.console, mail("a"), thread_id=THREAD)
    start_deciding(opened.console, THREAD, [APPROVE], by="ana")
    assert gate.entered.wait(30)
    outage = Outage(monkeypatch, SqliteLedger, "write")
    outage.on.set()
    gate.go.set()
    assert outage.hit.wait(30)
    outage.on.clear()

    until(lambda: status(opened.console) is Status.UNKNOWN_OUTCOME)
    assert len(opened.world.outbox()) == 1


def test_a_run_behind_something_starts_when_that_is_over(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor_module, "AFTER_SECONDS", 3_600.0)
    after = threading.Event()
    ask(opened.console, mail("a"), thread_id=THREAD)
    run = start_deciding(opened.console, THREAD, [APPROVE], by="ana", after=after)
    assert status(opened.console, ask(opened.console, "/say Hello.")) is Status.IDLE
    assert states(opened.console) == {"a": ActionState.APPROVED}
    after.set()
    assert opened.console.wait(run, 30)
    assert states(opened.console) == {"a": ActionState.DONE}


def test_a_run_is_not_behind_anything_for_long(opened: Opened) -> None:
    ask(opened.console, mail("a"), thread_id=THREAD)
    run = opened.console.close(THREAD, by="ana", after=threading.Event())
    assert opened.console.wait(run, 30)


# Owners, dead, alive and frozen.


def second_supervisor(opened: Opened, settings: Settings, clock: SetClock, lease: float) -> Supervisor:
    """Another process's supervisor over the same ledger, as far as the ledger and the locks can tell."""
    console = opened.console
    recorder = Recorder(console._ledger, console._secret, clock)
    owner = Owner(settings.review_data / "owners")
    return Supervisor(console._ledger, console._engine, recorder, owner, clock, lease=lease)


def test_a_silent_owner_is_taken_over_once_its_lease_is_over(
    opened: Opened, settings: Settings, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened.supervisor, "_heartbeat", lambda: None)
    gate = Gate(opened, monkeypatch)
    ask(opened.console, mail("a"), thread_id=THREAD)
    run = start_deciding(opened.console, THREAD, [APPROVE], by="ana")
    assert gate.entered.wait(30)
    other = second_supervisor(opened, settings, clock, lease=0.0)
    try:
        found_unknown(other, opened.console)
        assert owner_of(run.run_id, opened.console) == other.owner
    finally:
        gate.go.set()
        assert opened.supervisor.wait(run.run_id, 30)
        other.shut()


def test_a_run_that_cannot_be_taken_over_keeps_no_other_from_it(
    opened: Opened, settings: Settings, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened.supervisor, "_heartbeat", lambda: None)
    gate = Gate(opened, monkeypatch)
    runs = []
    for thread_id in ("t-0", THREAD):
        ask(opened.console, mail("a"), thread_id=thread_id)
        runs.append(start_deciding(opened.console, thread_id, [APPROVE], by="ana"))
    until(lambda: all(states(opened.console, one.thread_id)["a"] is ActionState.EXECUTING for one in runs))
    other = second_supervisor(opened, settings, clock, lease=0.0)
    take_over = other._take_over

    def breaks_at_the_first(run: Run) -> None:
        if run.thread_id == "t-0":
            raise ValueError("its row was changed")
        take_over(run)

    monkeypatch.setattr(other, "_take_over", breaks_at_the_first)
    try:
        found_unknown(other, opened.console)
        assert [owner_of(one.run_id, opened.console) for one in runs] == [
            opened.supervisor.owner,
            other.owner,
        ]
    finally:
        gate.go.set()
        for one in runs:
            assert opened.supervisor.wait(one.run_id, 30)
        other.shut()


def test_an_owner_whose_heart_beats_keeps_its_run(
    opened: Opened, settings: Settings, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(opened, monkeypatch)
    ask(opened.console, mail("a"), thread_id=THREAD)
    run = start_deciding(opened.console, THREAD, [APPROVE], by="ana")
    assert gate.entered.wait(30)
    other = second_supervisor(opened, settings, clock, lease=0.0)
    try:
        for beat in range(100, 110):
            with opened.console._ledger.write() as tx:
                tx.set_beat(opened.supervisor.owner, beat)
            other.reconcile()
        assert owner_of(run.run_id, opened.console) == opened.supervisor.owner
    finally:
        gate.go.set()
        assert opened.console.wait(run, 30)
        other.shut()


def test_a_run_begun_after_a_long_idleness_is_not_taken_for_silent(
    opened: Opened, settings: Settings, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened.supervisor, "_heartbeat", lambda: None)
    other = second_supervisor(opened, settings, clock, lease=0.0)
    gate = Gate(opened, monkeypatch)
    ask(opened.console, mail("a"), thread_id=THREAD)
    run = start_deciding(opened.console, THREAD, [APPROVE], by="ana")
    assert gate.entered.wait(30)
    try:
        other.reconcile()
        gate.go.set()
        assert opened.console.wait(run, 30)
        other.reconcile()

        gate.entered.clear()
        gate.go.clear()
        ask(opened.console, mail("b"), thread_id=THREAD)
        second = start_deciding(opened.console, THREAD, [APPROVE], by="ana")
        assert gate.entered.wait(30)
        other.reconcile()
        assert owner_of(second.run_id, opened.console) == opened.supervisor.owner
    finally:
        gate.go.set()
        assert opened.console.wait(second, 30)
        other.shut()


def test_who_waits_for_a_run_that_was_taken_over_waits_for_its_end(
    opened: Opened, settings: Settings, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(opened, monkeypatch)
    ask(opened.console, mail("a"), thread_id=THREAD)
    run = start_deciding(opened.console, THREAD, [APPROVE], by="ana")
    assert gate.entered.wait(30)
    other = Owner(settings.review_data / "owners")
    with ThreadPoolExecutor(1) as pool:
        waiting_for_it = pool.submit(opened.console.wait, run, 30)
        with opened.console._ledger.write() as tx:
            assert tx.take_over(run.run_id, other.name, run.fence + 1)
        until(waiting_for_it.running)
        gate.go.set()
        until(lambda: run.run_id not in opened.supervisor._live)
        assert not waiting_for_it.done()
        other.close()  # which gives the run back
        assert waiting_for_it.result(30)


def test_what_a_thawed_owner_did_is_not_recorded_over_a_settlement(
    opened: Opened, settings: Settings, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(opened, monkeypatch)
    ask(opened.console, mail("a"), thread_id=THREAD)
    run = start_deciding(opened.console, THREAD, [APPROVE], by="ana")
    assert gate.entered.wait(30)
    other = second_supervisor(opened, settings, clock, lease=0.0)
    try:
        found_unknown(other, opened.console)
        gate.go.set()
        assert opened.supervisor.wait(run.run_id, 30)
        assert states(opened.console) == {"a": ActionState.UNKNOWN}
        assert EventKind.EXECUTION_FINISHED not in kinds(opened.console)
    finally:
        other.shut()


def test_nobody_is_asked_again_while_the_frozen_process_itself_could_still_act(
    opened: Opened, settings: Settings, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(opened, monkeypatch)
    ask(opened.console, mail("a"), thread_id=THREAD)
    run = start_deciding(opened.console, THREAD, [APPROVE], by="ana")
    assert gate.entered.wait(30)
    other = second_supervisor(opened, settings, clock, lease=0.0)
    try:
        found_unknown(other, opened.console)
        with pytest.raises(StillAlive):
            opened.console.settle(THREAD, "a", "ask_again", by="ana")
    finally:
        gate.go.set()
        assert opened.supervisor.wait(run.run_id, 30)
        other.shut()


def test_the_record_of_an_unknown_outcome_names_the_process_that_started_it(
    opened: Opened, settings: Settings, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(opened, monkeypatch)
    ask(opened.console, mail("a"), thread_id=THREAD)
    run = start_deciding(opened.console, THREAD, [APPROVE], by="ana")
    assert gate.entered.wait(30)
    other = second_supervisor(opened, settings, clock, lease=0.0)
    try:
        found_unknown(other, opened.console)
        (lost,) = opened.console.trail.events(thread_id=THREAD, kind=EventKind.OUTCOME_UNKNOWN)
        assert lost.data is not None
        assert lost.data["owner"] == opened.supervisor.owner
    finally:
        gate.go.set()
        assert opened.supervisor.wait(run.run_id, 30)
        other.shut()


def test_a_decided_run_whose_owner_died_is_gone_on_with(
    opened: Opened, settings: Settings, clock: SetClock
) -> None:
    ask(opened.console, mail("a"), thread_id=THREAD)
    review = waiting(opened.console, THREAD)
    gone = Owner(settings.review_data / "owners")
    dead = Console(
        ledger=opened.console._ledger,
        engine=opened.console._engine,
        runs=cast(Runs, Unstarted(gone)),
        anchors=opened.console._anchors,
        secret=opened.console._secret,
        clock=clock,
    )
    dead.decide(THREAD, [APPROVE], by="ana", review_id=review.review_id)
    gone.close()

    until(lambda: status(opened.console) is Status.IDLE)
    assert len(opened.world.outbox()) == 1


class Unstarted:
    """Runs of a process that dies before it starts any."""

    def __init__(self, owner: Owner) -> None:
        self.owner = owner.name

    def start(self, run: Any, after: Any = None) -> None:
        pass


def test_a_lock_is_held_by_its_owner_and_by_nobody_after_it(tmp_path: Any) -> None:
    one, other = Owner(tmp_path), Owner(tmp_path)
    assert other.lives(one.name)
    one.close()
    assert not other.lives(one.name)
    other.close()


def test_sweeping_leaves_the_files_of_the_living(tmp_path: Any) -> None:
    one, other = Owner(tmp_path), Owner(tmp_path)
    other.sweep()
    assert other.lives(one.name)
    one.close()
    other.close()


def test_an_owner_is_never_seen_without_its_lock(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Owner(tmp_path)
    lock = fcntl.flock

    def swept_first(file: Any, how: int) -> None:
        if how == fcntl.LOCK_EX:
            monkeypatch.setattr(fcntl, "flock", lock)
            other.sweep()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", swept_first)
    one = Owner(tmp_path)
    assert other.lives(one.name)
    one.close()
    other.close()


def test_two_who_look_at_once_do_not_take_each_other_for_the_owner(tmp_path: Any) -> None:
    import fcntl

    (tmp_path / "1-dead.lock").touch()
    other = Owner(tmp_path)
    with (tmp_path / "1-dead.lock").open() as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        assert not other.lives("1-dead")
    other.close()
