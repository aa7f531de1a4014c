"""Whatever commit a process dies around while it drives an agent of another make, nothing runs twice or unrecorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.bootstrap import Opened, open_console
from agent.review.actions import ActionState
from agent.review.errors import UnknownThread
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import until
from tests.engine import external_agents
from tests.engine.crashes import die
from tests.engine.external_agents import effects
from tests.engine.test_crash_windows import Crashes
from tests.engine.test_external import APPROVE, EACH, HERE, MAKES, REJECT, THREAD, call, edit

pytestmark = pytest.mark.usefixtures("looked_through_once")

DECISIONS: dict[str, Any] = {"a": APPROVE, "r": REJECT, "e": edit("send", to="z"), "f": APPROVE}
"""What is decided on each call. Only a breakpoint asks about the last."""
BREAKPOINT, INSIDE = "breakpoint_before", "nested"
WHAT = {"a": "send a 1", "r": "send r 1", "e": "send z 1", "f": "look f"}
MESSAGE = "\n".join(
    [
        call("a", "send", to="a"),
        call("f", "look", text="f"),
        call("r", "send", to="r"),
        call("e", "send", to="e"),
    ]
)


class Folders(Crashes):
    """Each with its own effects, from before a console opens on it: that may go on with a run at once."""

    def _on(self, data: Path) -> Settings:
        external_agents.EFFECTS.append(data / "effects")
        return super()._on(data)


@pytest.fixture
def crashes(tmp_path: Path, settings: Settings, make: str) -> Iterator[Crashes]:
    agents = tmp_path / "langgraph.json"
    agents.write_text(json.dumps({"graphs": {make: f"{HERE}:{make}"}}))
    before = len(external_agents.EFFECTS)
    yield Folders(tmp_path, settings.model_copy(update={"review_agents": agents}))
    del external_agents.EFFECTS[before:]


def begin(opened: Opened, make: str) -> None:
    run = opened.console.send(MESSAGE, by="ana", thread_id=THREAD, agent=make)
    assert opened.console.wait(run, 30)


def decide(opened: Opened) -> None:
    while reviews := opened.console.queries.view(THREAD).reviews:
        given = [DECISIONS[action.key.tool_call_id] for action in reviews[0].actions]
        run = opened.console.decide(THREAD, given, by="ana", review_id=reviews[0].review_id)
        assert opened.console.wait(run, 30)


def close(opened: Opened) -> None:
    while reviews := opened.console.queries.view(THREAD).reviews:
        run = opened.console.close(THREAD, by="ana", review_id=reviews[0].review_id)
        assert opened.console.wait(run, 30)


def settle(opened: Opened) -> None:
    for action in [one for one in opened.console.queries.actions(THREAD) if one.state is ActionState.UNKNOWN]:
        call_id = action.key.tool_call_id
        outcome = "happened" if WHAT[call_id] in effects() else "ask_again"
        run = opened.console.settle(THREAD, call_id, outcome, by="ana")  # type: ignore[arg-type]
        assert run is None or opened.console.wait(run, 30)


def finish(opened: Opened, make: str, end: Any) -> None:
    """Do what the console offers until the thread is idle."""
    for _ in range(20):
        try:
            until(lambda: opened.console.queries.view(THREAD).thread.status is not Status.RUNNING)
        except UnknownThread:
            begin(opened, make)
            continue
        match opened.console.queries.view(THREAD).thread.status:
            case Status.IDLE:
                return
            case Status.WAITING:
                end(opened)
            case Status.UNKNOWN_OUTCOME:
                settle(opened)
            case other:
                raise AssertionError(f"a crash left the thread {other}")
    raise AssertionError("the thread never came to rest")


def check(opened: Opened, may: set[str]) -> None:
    """What the record says of each call is what happened, and nothing happened twice."""
    last = {action.key.tool_call_id: action for action in opened.console.queries.actions(THREAD)}
    done = {WHAT[name] for name, action in last.items() if action.state is ActionState.DONE}
    assert sorted(effects()) == sorted(done)
    assert {name for name, action in last.items() if action.state is ActionState.DONE} <= may
    assert opened.console.trail.verify().ok
    messages = opened.console.queries.history(THREAD, limit=500)
    calls = [one.id for message in messages for one in message.tool_calls]
    assert sorted(str(m.tool_call_id) for m in messages if m.type == "tool") == sorted(calls)
    assert not opened.console.queries.view(THREAD).reviews
    run = opened.console.send("/say still here", by="ana", thread_id=THREAD)
    assert opened.console.wait(run, 30)
    assert opened.console.queries.history(THREAD)[-1].content == "still here"


@EACH
def test_a_decided_turn_is_finished_once_wherever_its_process_died(crashes: Crashes, make: str) -> None:
    def go_on(opened: Opened) -> None:
        finish(opened, make, decide)
        check(opened, {"a", "e", "f"})

    crashes.beforehand(lambda opened: begin(opened, make))
    assert crashes.each(decide, go_on) > 15


@pytest.mark.parametrize("make", [BREAKPOINT])
def test_a_breakpoint_is_passed_once_as_it_was_decided_wherever_its_process_died(
    crashes: Crashes, make: str
) -> None:
    def go_on(opened: Opened) -> None:
        finish(opened, make, decide)
        check(opened, {"a", "e", "f"})

    crashes.beforehand(lambda opened: begin(opened, make))
    assert crashes.each(decide, go_on) > 15


@pytest.mark.parametrize("make", [*MAKES, INSIDE])
def test_a_closed_review_is_closed_or_waits_wherever_its_process_died(crashes: Crashes, make: str) -> None:
    def go_on(opened: Opened) -> None:
        finish(opened, make, close)
        check(opened, {"f"})

    crashes.beforehand(lambda opened: begin(opened, make))
    assert crashes.each(close, go_on) > 5


@EACH
def test_a_call_cut_off_before_its_first_line_is_settled_as_not_happened(crashes: Crashes, make: str) -> None:
    """Of the deaths behind a commit of the ledger, some leave a started call without its effect."""

    def tell(opened: Opened) -> None:
        begin(opened, make)
        decide(opened)

    found, number, died = False, 0, True
    while died and not found:
        number += 1
        here = crashes._on(crashes._folder / f"behind-{number}")
        died = die(here, crashes.clock, tell, number, "after", only="ledger")
        opened = open_console(here, clock=crashes.clock)
        try:
            cut_off = [
                one for one in opened.console.queries.actions(THREAD) if one.state is ActionState.UNKNOWN
            ]
            found = any(WHAT[action.key.tool_call_id] not in effects() for action in cut_off)
            finish(opened, make, decide)
            check(opened, {"a", "e", "f"})
        finally:
            opened.close()
    assert found
