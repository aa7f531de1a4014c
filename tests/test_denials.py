"""A policy that comes to deny what waits, or what was let run: tightening counts at once, loosening never."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from agent.api import responses
from agent.bootstrap import Opened, open_console
from agent.cli import output
from agent.console import Console
from agent.engine.guard import Guard, Stop
from agent.review import tool_messages
from agent.review.actions import ActionState
from agent.review.errors import InvalidDecision
from agent.review.events import EventKind
from agent.review.threads import Status
from agent.settings import Settings
from tests import tightened_agents
from tests.conftest import SetClock, ask, decide, start_deciding, until, waiting

THREAD = "t-1"
PATH = "notes/today.txt"
APPROVE = {"type": "approve"}
REJECT = {"type": "reject", "message": "not now"}
THIS_TOOL = "The policy now denies this tool. The files are being moved."
THESE_ARGUMENTS = "The policy now denies this tool with these arguments. The notes are being moved."
GONE = "The agent now has no tool write_file."
REASONS = [("denied", THIS_TOOL), ("denied_for_path", THESE_ARGUMENTS), ("gone", GONE)]
EACH = pytest.mark.parametrize(("policy", "reason"), REASONS, ids=[name for name, _ in REASONS])

Restart = Callable[..., Opened]


def write(path: str = PATH, name: str = "a") -> str:
    return f"/call#{name} write_file {json.dumps({'path': path, 'content': 'x'})}"


def edit(tool: str, **args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": tool, "args": args}}


@pytest.fixture
def restart(settings: Settings, clock: SetClock) -> Iterator[Restart]:
    """Start the console over, on the same data, with the operations agent in another form."""
    file = settings.review_data.parent / "langgraph.json"
    running: list[Opened] = []

    def start(policy: str) -> Opened:
        for one in running:
            one.close()
        tightened_agents.serve(file, policy)
        running[:] = [open_console(settings.model_copy(update={"review_agents": file}), clock=clock)]
        return running[0]

    yield start
    running[0].close()


def written(opened: Opened, path: str = PATH) -> bool:
    file = opened.world.file(path)
    return file is not None and file.content == "x"


def results(console: Console) -> dict[str | None, str]:
    return {m.tool_call_id: m.content for m in console.queries.history(THREAD, limit=200) if m.type == "tool"}


def states(console: Console) -> dict[str, ActionState]:
    return {action.key.tool_call_id: action.state for action in console.queries.actions(THREAD)}


def begin(restart: Restart, *calls: str) -> None:
    ask(restart("as_it_was").console, "\n".join(calls or (write(),)), thread_id=THREAD)


# Before the decision.


@EACH
def test_what_is_denied_while_it_waits_cannot_be_approved_and_says_why(
    restart: Restart, policy: str, reason: str
) -> None:
    begin(restart)
    opened = restart(policy)
    (action,) = waiting(opened.console, THREAD).actions
    choices: list[Callable[[str, list[dict[str, str]]], object]] = [
        opened.console.preview,
        partial(opened.console.decide, by="ana"),
    ]
    for choice in choices:
        with pytest.raises(InvalidDecision) as refused:
            choice(THREAD, [APPROVE])
        assert str(refused.value).startswith(f"Decision 1 on write_file: {reason} ")
        assert "eject it, or close the review without deciding." in str(refused.value)
    assert waiting(opened.console, THREAD).actions == (action,)
    assert not written(opened)


@EACH
def test_the_api_and_the_command_line_say_that_it_is_denied(
    restart: Restart, policy: str, reason: str
) -> None:
    begin(restart)
    console = restart(policy).console
    (there,) = responses.answer(console, THREAD, to="ana")["pending_review"]["action_requests"]
    (queued,) = console.queries.queue()
    (listed,) = responses.queued(console, queued)["pending_review"]["action_requests"]
    assert there["denied"] == listed["denied"] == reason
    assert f"It cannot be approved: {reason}" in output.review(queued, console.queries.denial)


def test_what_is_not_denied_says_nothing_of_it(restart: Restart) -> None:
    begin(restart)
    console = restart("as_it_was").console
    (there,) = responses.answer(console, THREAD, to="ana")["pending_review"]["action_requests"]
    assert "denied" not in there
    assert "cannot be approved" not in output.review(console.queries.queue()[0], console.queries.denial)


@EACH
def test_what_is_denied_while_it_waits_can_be_rejected(restart: Restart, policy: str, reason: str) -> None:
    begin(restart)
    opened = restart(policy)
    decide(opened.console, THREAD, REJECT)
    assert states(opened.console) == {"a": ActionState.REJECTED}
    assert results(opened.console) == {"a": tool_messages.rejected("not now")}
    assert opened.console.queries.view(THREAD).thread.status is Status.IDLE


@EACH
def test_what_is_denied_while_it_waits_can_be_closed(restart: Restart, policy: str, reason: str) -> None:
    begin(restart)
    opened = restart(policy)
    assert opened.console.wait(opened.console.close(THREAD, by="ana"), 30)
    assert states(opened.console) == {"a": ActionState.CANCELLED}
    assert opened.console.queries.view(THREAD).thread.status is Status.IDLE


def test_a_call_denied_for_its_arguments_may_be_edited_into_one_that_is_not(restart: Restart) -> None:
    begin(restart)
    opened = restart("denied_for_path")
    with pytest.raises(InvalidDecision, match=r"denied with these arguments\. The notes are being moved\."):
        start_deciding(
            opened.console, THREAD, [edit("write_file", path="notes/other.txt", content="x")], by="ana"
        )
    decide(opened.console, THREAD, edit("write_file", path="drafts/other.txt", content="x"))
    assert (written(opened), written(opened, "drafts/other.txt")) == (False, True)


def test_a_call_of_a_denied_tool_may_not_be_edited_but_into_one_of_another(restart: Restart) -> None:
    begin(restart)
    opened = restart("denied")
    with pytest.raises(InvalidDecision, match=r"denied to this agent\. The files are being moved\."):
        start_deciding(opened.console, THREAD, [edit("write_file", path="a", content="x")], by="ana")
    decide(opened.console, THREAD, edit("read_data", table="notes"))
    assert states(opened.console) == {"a": ActionState.DONE}
    assert not written(opened)


def test_one_denied_action_leaves_the_others_of_its_review_to_be_decided(restart: Restart) -> None:
    begin(restart, write(), write("drafts/b.txt", "b"))
    opened = restart("denied_for_path")
    with pytest.raises(InvalidDecision, match="Decision 1 on write_file: The policy now denies"):
        start_deciding(opened.console, THREAD, [APPROVE, APPROVE], by="ana")
    decide(opened.console, THREAD, REJECT, APPROVE)
    assert states(opened.console) == {"a": ActionState.REJECTED, "b": ActionState.DONE}


def test_a_policy_that_denies_less_than_before_does_not_let_run_what_waits(restart: Restart) -> None:
    ask(restart("denied_for_path").console, write("drafts/b.txt"), thread_id=THREAD)
    restart("denied")
    opened = restart("as_it_was")
    assert opened.console.queries.denial("operations", waiting(opened.console, THREAD).actions[0]) is None
    assert not written(opened, "drafts/b.txt")


def test_what_was_closed_and_denied_since_is_refused_where_it_is_asked_again(restart: Restart) -> None:
    begin(restart)
    console = restart("denied").console
    assert console.wait(console.close(THREAD, by="ana"), 30)
    assert console.wait(console.ask_again(THREAD, by="ana"), 30)
    assert console.queries.actions(THREAD)[-1].state is ActionState.REFUSED
    assert console.queries.history(THREAD)[-2].content == tool_messages.denied("write_file")


# After it was accepted.


def record_undelivered(restart: Restart, decision: dict[str, Any]) -> None:
    """Have it decided in a process that goes away before it delivers the decision."""
    opened = restart("as_it_was")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(opened.supervisor, "start", lambda run, after=None: None)
        start_deciding(opened.console, THREAD, [decision], by="ana")


@pytest.mark.parametrize(
    "decision", [APPROVE, edit("write_file", path=PATH, content="x")], ids=["approve", "edit"]
)
@pytest.mark.parametrize("policy", ["denied", "denied_for_path"])
def test_what_was_accepted_before_is_carried_out_as_it_was_decided(
    restart: Restart, decision: dict[str, Any], policy: str
) -> None:
    begin(restart)
    record_undelivered(restart, decision)
    opened = restart(policy)
    until(lambda: opened.console.queries.view(THREAD).thread.status is Status.IDLE)
    assert states(opened.console) == {"a": ActionState.DONE}
    assert written(opened)
    assert opened.console.trail.contradictions(THREAD, "a") == ()


def test_what_was_accepted_of_a_tool_that_is_gone_is_answered_with_that(restart: Restart) -> None:
    begin(restart)
    record_undelivered(restart, APPROVE)
    console = restart("gone").console
    until(lambda: console.queries.view(THREAD).thread.status is Status.IDLE)
    assert "There is no tool 'write_file'. It was not executed." in results(console)["a"]
    assert states(console) == {"a": ActionState.WITHDRAWN}


# What no person decided.


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        pytest.param("denied", tool_messages.denied("write_file"), id="denied"),
        pytest.param(
            "denied_for_path",
            tool_messages.denied_so("write_file", "The notes are being moved."),
            id="for_path",
        ),
    ],
)
def test_what_a_rule_let_run_and_has_not_started_is_withdrawn_once_it_is_denied(
    restart: Restart, monkeypatch: pytest.MonkeyPatch, policy: str, words: str
) -> None:
    begin(restart)
    console = restart("as_it_was").console
    console.rules.make(THREAD, "a", free=[], scope="thread", lasting="15 minutes", by="ana")
    assert console.wait(console.close(THREAD, by="ana"), 30)

    def cut_off(*_: Any, **__: Any) -> None:
        raise Stop("the line went dead")

    with monkeypatch.context() as patched:
        patched.setattr(Guard, "on_tool_start", cut_off)
        ask(console, write(name="b"), thread_id=THREAD)
    assert states(console)["b"] is ActionState.APPROVED

    opened = restart(policy)
    assert opened.console.wait(opened.console.retry(THREAD, by="ana"), 30)
    assert states(opened.console)["b"] is ActionState.WITHDRAWN
    assert results(opened.console)["b"] == words
    assert not written(opened)
    (event,) = opened.console.trail.events(
        thread_id=THREAD, kind=EventKind.ACTION_WITHDRAWN, tool_call_id="b"
    )
    assert (event.data or {})["told"] == words


@pytest.mark.parametrize("policy", ["denied", "denied_for_path"])
def test_a_rule_lets_nothing_run_that_the_policy_has_come_to_deny(restart: Restart, policy: str) -> None:
    begin(restart)
    console = restart("as_it_was").console
    console.rules.make(THREAD, "a", free=[], scope="thread", lasting="15 minutes", by="ana")
    assert console.wait(console.close(THREAD, by="ana"), 30)
    opened = restart(policy)
    ask(opened.console, write(name="b"), thread_id=THREAD)
    assert states(opened.console)["b"] is ActionState.REFUSED
    assert not written(opened)
