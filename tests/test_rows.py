"""One column of the ledger edited past the console, at each moment of a review: what runs is what a card showed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent.api import responses
from agent.bootstrap import Opened, open_console
from agent.console import Console
from agent.review.actions import Review, Waiting
from agent.review.damage import is_damaged, review_is_damaged
from agent.review.errors import RecordDamaged, ReviewError
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import ask, until, waiting
from tests.faults import notebook
from tests.faults.rows import Edit, decisions_in_a_delivery, edits
from tests.forked import ROOT
from tests.own_settings import OwnSettings

WAITING = list(edits("actions", "reviews"))
DECIDED = [*edits("actions", "reviews", "runs"), *decisions_in_a_delivery()]
APPROVE = {"type": "approve"}
REJECT = {"type": "reject", "message": "no"}

Call = tuple[str, dict[str, Any]]


def settings_in(folder: Path) -> Settings:
    agents = folder / "langgraph.json"
    graphs = {"notebook": "./tests/faults/notebook.py:notebook", "mail": "./agent/bootstrap.py:mail"}
    agents.write_text(json.dumps({"graphs": graphs}))
    return OwnSettings(
        review_data=folder / "data",
        review_agents=agents,
        review_anchor=folder / "anchors.jsonl",
        review_demo_delay=0,
    )


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    folder = tmp_path_factory.mktemp("rows")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(notebook.FILE, str(folder / "received"))
        patched.chdir(ROOT)
        yield settings_in(folder)


@pytest.fixture(scope="module")
def opened(settings: Settings) -> Iterator[Opened]:
    found = open_console(settings)
    yield found
    found.close()


def asked(console: Console, name: str) -> str:
    """A thread that waits for the word on one payment to somebody of its own name; gives the review's id."""
    call = json.dumps({"to": name, "amount": 5})
    return waiting(console, ask(console, f"/call#c pay {call}", thread_id=name, agent="notebook")).review_id


def received(name: str) -> list[Call]:
    """What tools received of this thread's call, and of anything that nobody asked for."""
    return [(tool, args) for tool, args in notebook.received() if args.get("to") in (name, "mallory", None)]


def cards(console: Console, name: str, review_id: str) -> list[Call]:
    """What can be seen of the thread as waiting to be approved: in its view, in the queue, over HTTP."""
    review = console.queries.review(review_id)
    found: list[Review | Waiting] = [
        *console.queries.view(name).reviews,
        *([review] if review else []),
        *console.queries.queue(limit=1_000),
    ]
    shown = [one for each in found if not review_is_damaged(each) for one in each.actions]
    answer = responses.thread(console, name, to="ana")
    told = [one for each in answer["pending_reviews"] for one in each["action_requests"]]
    calls = [(one.tool, one.args or {}) for one in shown if not is_damaged(one)]
    calls += [(one["name"], one["args"]) for one in told if one["args"] is not None]
    return [call for call in calls if call[1].get("to") in (name, "mallory")]


def decided(console: Console, name: str, review_id: str, *decisions: Any) -> ReviewError | None:
    """Preview and send, wait for what follows, and give the refusal if there was one."""
    try:
        console.preview(name, list(decisions), review_id=review_id)
        assert console.wait(console.decide(name, list(decisions), by="ana", review_id=review_id), 30)
    except ReviewError as error:
        return error
    return None


@pytest.mark.parametrize("number", range(len(WAITING)), ids=lambda n: str(WAITING[n]))
def test_while_a_review_waits_an_edited_row_lets_nothing_run_that_the_card_does_not_show(
    opened: Opened, settings: Settings, number: int
) -> None:
    console, name = opened.console, f"waits-{number}"
    review_id = asked(console, name)
    digest = waiting(console, name).actions[0].shown_digest
    WAITING[number].make(settings.review_data / "ledger.sqlite", name)

    shown = cards(console, name, review_id)
    refusal = decided(console, name, review_id, {**APPROVE, "shown_digest": digest})
    assert [call for call in received(name) if call not in shown] == []
    if isinstance(refusal, RecordDamaged):
        assert console.wait(console.close(name, by="ana", review_id=review_id), 30)
        if (
            console.queries.view(name).thread.status is Status.UNKNOWN_OUTCOME
        ):  # its row says that it was executing
            run = console.settle(name, "c", "failed", by="ana")
            assert run is None or console.wait(run, 30)
        assert received(name) == []
        assert console.queries.view(name).thread.status is Status.IDLE
        ask(console, "/say still here", thread_id=name)
        assert console.queries.history(name)[-1].content == "still here"


@dataclass(frozen=True)
class Decided:
    """A thread on which a person decided, and what was edited before anything of the decision was delivered."""

    edit: Edit
    decision: dict[str, Any]
    name: str


AFTER = [
    *(Decided(edit, APPROVE, f"approved-{n}") for n, edit in enumerate(DECIDED)),
    *(Decided(edit, REJECT, f"rejected-{n}") for n, edit in enumerate(DECIDED) if edit.table == "runs"),
]


@pytest.fixture(scope="module")
def resumed(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """A console that goes on with decisions that the one before recorded, and did not deliver."""
    own = settings_in(tmp_path_factory.mktemp("decided"))
    first = open_console(own)
    reviews = {one.name: asked(first.console, one.name) for one in AFTER}
    with pytest.MonkeyPatch.context() as dying:
        dying.setattr(first.supervisor, "start", lambda run, after=None: None)
        for one in AFTER:
            first.console.decide(one.name, [one.decision], by="ana", review_id=reviews[one.name])
        first.close()
    for one in AFTER:
        one.edit.make(own.review_data / "ledger.sqlite", one.name)
    found = open_console(own)
    until(lambda: not found.console._ledger.open_runs(), 120)
    yield found
    found.close()


@pytest.mark.parametrize("one", AFTER, ids=lambda one: f"{one.decision['type']}, {one.edit}")
def test_after_a_decision_an_edited_row_lets_nothing_run_but_what_was_approved(
    resumed: Opened, one: Decided
) -> None:
    approved = [("pay", {"to": one.name, "amount": 5})] if one.decision is APPROVE else []
    assert received(one.name) in ([], approved)


def test_a_console_goes_on_whatever_was_edited(resumed: Opened) -> None:
    assert decided(resumed.console, "next", asked(resumed.console, "next"), APPROVE) is None
    assert received("next") == [("pay", {"to": "next", "amount": 5})]
    assert resumed.console.trail.verify().ok


def test_a_run_whose_delivery_cannot_be_read_fails_and_its_thread_takes_a_message(resumed: Opened) -> None:
    unreadable = next(one for one in AFTER if (one.edit.column, one.edit.value) == ("delivery", "no JSON"))
    console, name = resumed.console, unreadable.name
    assert console.queries.view(name).thread.status is Status.FAILED
    with pytest.raises(RecordDamaged, match="Send the thread a message"):
        console.retry(name, by="ana")
    ask(console, "/say still here", thread_id=name)
    assert console.queries.history(name)[-1].content == "still here"
    assert received(name) == []
