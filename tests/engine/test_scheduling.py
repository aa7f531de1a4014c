"""Runs compute one after the other, what is decided first, and never wait for another run's model or tool."""

from __future__ import annotations

import threading

import pytest

from agent.bootstrap import Opened
from agent.engine.scheduling import BEGINS, GOES_ON, Precedence, aside
from agent.review.threads import Status
from tests.conftest import ask, decide, start_deciding, until, waiting
from tests.engine.test_supervisor import APPROVE, Gate, mail, status

EVER = 3_600.0
"""A patience that no test outlasts."""


class Line:
    """Threads that come to a precedence one after the other and note when it is theirs."""

    def __init__(self, precedence: Precedence) -> None:
        self._precedence = precedence
        self._threads: list[threading.Thread] = []
        self.served: list[str] = []

    def join(self, name: str, rank: int) -> None:
        def come() -> None:
            with self._precedence.held(rank):
                self.served.append(name)

        self._threads.append(threading.Thread(target=come))
        self._threads[-1].start()
        until(lambda: len(self._precedence._waiting) == len(self._threads))

    def end(self) -> None:
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive()


def test_what_goes_on_comes_before_what_begins_and_nobody_is_overtaken_by_an_equal() -> None:
    precedence = Precedence(EVER)
    line = Line(precedence)
    with precedence.held(BEGINS):
        for name, rank in (("b1", BEGINS), ("g1", GOES_ON), ("b2", BEGINS), ("g2", GOES_ON)):
            line.join(name, rank)
        assert line.served == []
    line.end()
    assert line.served == ["g1", "g2", "b1", "b2"]


def test_what_is_done_aside_keeps_nobody_waiting_and_is_followed_by_a_turn_of_its_own() -> None:
    precedence = Precedence(EVER)
    line = Line(precedence)
    with precedence.held(GOES_ON):
        line.join("other", BEGINS)
        with aside():
            with aside():
                line.end()
            assert line.served == ["other"]
        late = Line(precedence)
        late.join("late", GOES_ON)
        assert late.served == []
    late.end()
    assert late.served == ["late"]


def test_who_is_held_up_too_long_goes_on_beside_and_the_order_holds_again_afterwards() -> None:
    precedence = Precedence(0.0)
    with precedence.held(GOES_ON):
        beside = threading.Thread(target=lambda: _hold_once(precedence))
        beside.start()
        beside.join(30)
        assert not beside.is_alive()
    precedence._patience = EVER
    line = Line(precedence)
    with precedence.held(GOES_ON):
        line.join("next", BEGINS)
        assert line.served == []
    line.end()
    assert line.served == ["next"]


def _hold_once(precedence: Precedence) -> None:
    with precedence.held(GOES_ON):
        pass


@pytest.fixture
def strict(opened: Opened) -> Opened:
    """A console in which whoever holds a turn while it waits for the world would hold up all others."""
    opened.supervisor._precedence = Precedence(EVER)
    return opened


def test_a_tool_at_work_holds_up_no_other_run(strict: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(strict, monkeypatch)
    thread_id = ask(strict.console, mail("a"))
    run = start_deciding(strict.console, thread_id, [APPROVE], by="ana")
    assert gate.entered.wait(30)
    other = ask(strict.console, "/say Hello.")
    assert status(strict.console, other) is Status.IDLE
    gate.go.set()
    assert strict.console.wait(run, 30)
    assert status(strict.console, thread_id) is Status.IDLE


def test_a_model_that_replies_slowly_holds_up_no_other_run(strict: Opened) -> None:
    slow = strict.console.send("/slow 60\n/say At last.", by="ana")
    other = ask(strict.console, "/say Hello.")
    assert status(strict.console, other) is Status.IDLE
    assert status(strict.console, slow.thread_id) is Status.RUNNING
    strict.console.stop(slow.thread_id, by="ana")
    assert strict.console.wait(slow, 30)


def test_every_run_gives_its_turn_back(strict: Opened) -> None:
    for message in ("/fail", mail("a"), "/say Hello."):
        thread_id = ask(strict.console, message)
        if status(strict.console, thread_id) is Status.WAITING:
            assert waiting(strict.console, thread_id)
            decide(strict.console, thread_id, APPROVE)
    assert not strict.supervisor._precedence._taken
