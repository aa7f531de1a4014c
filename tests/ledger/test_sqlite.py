"""What every ledger promises, held in memory and in a file, and what the file promises beyond that."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.ledger import migrations
from agent.ledger.sqlite import SqliteLedger
from agent.ports import Sought
from agent.review.actions import Action, ActionState, Key, Review, ReviewState, with_digests
from agent.review.deliveries import Continue
from agent.review.errors import LedgerUnavailable
from agent.review.events import EventKind, UnsealedEvent
from agent.review.threads import Message, Run, RunState, Status, Thread, ToolCall
from agent.review.verify_chain import verify
from tests.forked import ROOT

AT_THE_DOOR = ("entered", "place", "returned")
"""Columns that a ledger had not yet before there were doors at the tools."""
AT = "2030-01-01T12:00:00.000000Z"


def at(minute: int) -> str:
    return f"2030-01-01T12:{minute:02}:00.000000Z"


def a_thread(thread_id: str = "t-1", **changes: Any) -> Thread:
    return replace(Thread(thread_id, "mail", "demo", Status.IDLE, AT, AT, "ana", "hello"), **changes)


def a_run(run_id: str = "run-1", thread_id: str = "t-1", **changes: Any) -> Run:
    run = Run(run_id, thread_id, "mail", "demo", Continue(), "1-owner", 1, AT, "ana")
    return replace(run, **changes)


def an_action(name: str = "c1", thread_id: str = "t-1", **changes: Any) -> Action:
    action = Action(
        key=Key(thread_id, "m-1", name),
        agent="mail",
        tool="send_email",
        args={"to": "a@x.org", "n": 2**64 - 1, "ü": ["✓", None, 0.1]},
        proposed_tool="send_email",
        proposed={"to": "a@x.org"},
        tier="ask",
        why="It reaches somebody.",
        summary="Send an e-mail.",
        allowed=("approve", "reject"),
        policy_version="1",
        state=ActionState.PENDING,
        position=0,
        notes={"defaults": ["n"]},
        approve_by=60.5,
    )
    return with_digests(replace(action, **changes), b"k")


def a_review(review_id: str = "r-1", thread_id: str = "t-1", **changes: Any) -> Review:
    return replace(Review(review_id, thread_id, "mail", ReviewState.OPEN, AT, None), **changes)


def a_fact(**changes: Any) -> UnsealedEvent:
    return replace(
        UnsealedEvent(kind=EventKind.MESSAGE_SENT, at=AT, thread_id="t-1", by="ana", data={"text": "hi"}),
        **changes,
    )


def open_reviews(ledger: SqliteLedger, *reviews: Review, **action: Any) -> None:
    with ledger.write() as tx:
        for review in reviews:
            key = Key(review.thread_id, "m-1", review.review_id)
            assert tx.propose(an_action(thread_id=review.thread_id, **{"key": key, **action}))
            assert tx.open_review(review, [key])


@pytest.fixture(params=["memory", "file"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteLedger]:
    found = SqliteLedger(":memory:" if request.param == "memory" else tmp_path / "ledger.sqlite")
    yield found
    found.shut()


class TestEveryLedger:
    def test_a_transaction_that_fails_leaves_nothing(self, ledger: SqliteLedger) -> None:
        def fail() -> None:
            with ledger.write() as tx:
                tx.add_thread(a_thread())
                tx.put_messages("t-1", [Message("m", "human", "hi")], AT)
                tx.append(a_fact())
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fail()
        assert (ledger.thread("t-1"), ledger.message_count("t-1"), ledger.events()) == (None, 0, [])

    def test_a_transaction_sees_its_own_writes(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.add_thread(a_thread())
            assert tx.thread("t-1") == a_thread()

    def test_a_ledger_goes_on_after_a_failed_transaction(self, ledger: SqliteLedger) -> None:
        def fail() -> None:
            with ledger.write() as tx:
                tx.add_thread(a_thread())
                tx.add_thread(a_thread())

        for _ in range(3):
            with pytest.raises(LedgerUnavailable):
                fail()
        with ledger.write() as tx:
            tx.add_thread(a_thread())
        assert ledger.thread("t-1") is not None

    def test_a_thread_is_read_as_it_was_written(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.add_thread(a_thread())
            tx.set_thread("t-1", Status.FAILED, at(5), "it broke")
        assert ledger.thread("t-1") == a_thread(status=Status.FAILED, updated_at=at(5), error="it broke")

    def test_an_error_is_forgotten_once_the_thread_is_well(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.add_thread(a_thread())
            tx.set_thread("t-1", Status.FAILED, at(5), "it broke")
            tx.set_thread("t-1", Status.RUNNING, at(6))
        found = ledger.thread("t-1")
        assert found is not None
        assert found.error is None

    def test_the_thread_that_moved_last_comes_first(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            for number in range(3):
                tx.add_thread(a_thread(f"t-{number}", updated_at=at(number)))
            tx.set_thread("t-0", Status.IDLE, at(9))
        assert [one.thread_id for one in ledger.threads()] == ["t-0", "t-2", "t-1"]

    # Messages

    def test_messages_keep_their_order_and_their_content(self, ledger: SqliteLedger) -> None:
        said = [
            Message("m-1", "human", "hi\r\n\tü"),
            Message("m-2", "ai", "", (ToolCall("c1", "find", {"n": 2**64 - 1}), ToolCall("c2", "find", "{"))),
            Message("m-3", "tool", "found", tool_call_id="c1", status="success"),
        ]
        with ledger.write() as tx:
            tx.put_messages("t-1", said, AT)
        assert ledger.messages("t-1") == [replace(one, at=AT) for one in said]

    def test_a_message_with_a_known_id_replaces_the_earlier_one_in_its_place(
        self, ledger: SqliteLedger
    ) -> None:
        with ledger.write() as tx:
            tx.put_messages("t-1", [Message("m-1", "ai", "one"), Message("m-2", "ai", "two")], AT)
            tx.put_messages("t-1", [Message("m-1", "ai", "changed")], at(5))
        assert [(one.id, one.content, one.at) for one in ledger.messages("t-1")] == [
            ("m-1", "changed", AT),
            ("m-2", "two", AT),
        ]

    def test_the_same_message_id_on_two_threads_is_two_messages(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.put_messages("t-1", [Message("m-1", "ai", "one")], AT)
            tx.put_messages("t-2", [Message("m-1", "ai", "two")], AT)
        assert [one.content for one in ledger.messages("t-1")] == ["one"]

    def test_messages_are_paged_from_the_end(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.put_messages("t-1", [Message(f"m-{n}", "human", str(n)) for n in range(7)], AT)
        assert [one.content for one in ledger.messages("t-1", limit=3)] == ["4", "5", "6"]
        assert [one.content for one in ledger.messages("t-1", before=4, limit=3)] == ["1", "2", "3"]
        assert ledger.message_count("t-1") == 7

    # Runs

    def test_a_thread_has_one_open_run(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            assert tx.open(a_run())
            assert not tx.open(a_run("run-2"))
            assert tx.open(a_run("run-3", "t-2"))
        assert [run.run_id for run in ledger.open_runs()] == ["run-1", "run-3"]

    def test_the_next_run_opens_once_the_last_is_closed(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.open(a_run())
            assert tx.close("run-1", "1-owner", RunState.ANSWERED, at(1))
            assert tx.open(a_run("run-2", fence=2))
        last = ledger.last_run("t-1")
        assert last is not None
        assert last.run_id == "run-2"

    def test_a_run_is_closed_once_and_by_its_owner(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.open(a_run())
            assert not tx.close("run-1", "2-other", RunState.ANSWERED, AT)
            assert tx.close("run-1", "1-owner", RunState.FAILED, at(1), "it broke")
            assert not tx.close("run-1", "1-owner", RunState.ANSWERED, AT)
        assert ledger.run("run-1") == a_run(state=RunState.FAILED, ended_at=at(1), error="it broke")

    def test_a_run_is_taken_over_only_under_a_higher_fence(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.open(a_run(fence=3))
            assert not tx.take_over("run-1", "2-other", 3)
            assert tx.take_over("run-1", "2-other", 4)
            assert not tx.take_over("run-1", "3-late", 4)
        found = ledger.run("run-1")
        assert found is not None
        assert (found.owner, found.fence) == ("2-other", 4)

    def test_a_closed_run_can_be_neither_stopped_nor_taken_over(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.open(a_run())
            tx.close("run-1", "1-owner", RunState.ANSWERED, AT)
            assert not tx.ask_stop("run-1", "bob")
            assert not tx.take_over("run-1", "2-other", 9)

    # Actions

    def test_an_action_is_read_as_it_was_written(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            assert tx.propose(an_action())
        assert ledger.latest_action("t-1", "c1") == an_action()

    @pytest.mark.parametrize("proposed", ['{"to": ', "", [1], None, {"a": {"b": []}}])
    def test_any_proposal_is_kept_as_it_came(self, ledger: SqliteLedger, proposed: Any) -> None:
        with ledger.write() as tx:
            tx.propose(an_action(proposed=proposed, args=None, state=ActionState.REFUSED))
        found = ledger.latest_action("t-1", "c1")
        assert found is not None
        assert found.proposed == proposed

    def test_a_proposal_that_is_known_changes_nothing(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.propose(an_action())
            assert not tx.propose(an_action(summary="Another."))
        assert ledger.actions("t-1") == [an_action()]

    def test_a_move_happens_once(self, ledger: SqliteLedger) -> None:
        key = an_action().key
        with ledger.write() as tx:
            tx.propose(an_action())
            assert tx.move(key, ActionState.PENDING, ActionState.APPROVED, decided_by="ana", args={"to": "b"})
            assert not tx.move(key, ActionState.PENDING, ActionState.REJECTED, decided_by="bob")
        found = ledger.latest_action("t-1", "c1")
        assert found is not None
        assert (found.state, found.decided_by, found.args) == (ActionState.APPROVED, "ana", {"to": "b"})

    def test_a_move_that_no_action_makes_is_refused(self, ledger: SqliteLedger) -> None:
        with pytest.raises(ValueError, match="never goes"), ledger.write() as tx:
            tx.move(an_action().key, ActionState.DONE, ActionState.APPROVED)

    def test_a_change_of_what_an_action_does_not_have_is_refused(self, ledger: SqliteLedger) -> None:
        with pytest.raises(ValueError, match="nonsense"), ledger.write() as tx:
            tx.move(an_action().key, ActionState.PENDING, ActionState.APPROVED, nonsense=1)

    def test_the_latest_of_equal_call_ids_is_the_one_proposed_last(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            for message, attempt in [("m-2", 1), ("m-2", 2), ("m-1", 1)]:
                tx.propose(an_action(key=Key("t-1", message, "c1", attempt)))
        found = ledger.latest_action("t-1", "c1")
        assert found is not None
        assert found.key == Key("t-1", "m-1", "c1", 1)

    def test_what_was_decided_last_on_a_tool_comes_first_of_all_kinds_or_of_one(
        self, ledger: SqliteLedger
    ) -> None:
        decided = [("a", "edit", 1), ("b", "reject", 3), ("c", "edit", 2)]
        with ledger.write() as tx:
            tx.propose(an_action("waits"))
            tx.propose(an_action("elsewhere", "t-2", decision={"type": "edit"}, decided_by="ana"))
            tx.propose(an_action("other", proposed_tool="find", decision={"type": "edit"}, decided_by="ana"))
            for name, kind, minute in decided:
                decision = {"type": kind}
                tx.propose(an_action(name, decision=decision, decided_by="ana", decided_at=at(minute)))

        def last(**narrowed: Any) -> list[str]:
            return [one.key.tool_call_id for one in ledger.last_decided("t-1", "send_email", **narrowed)]

        assert last() == ["b", "c", "a"]
        assert last(kind="edit") == ["c", "a"]
        assert last(kind="edit", limit=1) == ["c"]
        assert last(kind="respond") == []

    def test_an_action_is_looked_over_once(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.propose(an_action(tier="log", state=ActionState.DONE, ended_at=AT))
        assert len(ledger.not_looked_over()) == 1
        with ledger.write() as tx:
            assert tx.look_over(an_action().key, "ana")
            assert not tx.look_over(an_action().key, "bob")
        assert ledger.not_looked_over() == []

    # Reviews

    def test_a_review_is_opened_once(self, ledger: SqliteLedger) -> None:
        open_reviews(ledger, a_review())
        with ledger.write() as tx:
            assert not tx.open_review(a_review(opened_at=at(9)), [])
        (found,) = ledger.open_reviews("t-1")
        assert (found.opened_at, len(found.actions)) == (AT, 1)

    def test_a_review_ends_once(self, ledger: SqliteLedger) -> None:
        open_reviews(ledger, a_review())
        with ledger.write() as tx:
            assert tx.end_review("r-1", ReviewState.DECIDED, at(1), "ana", "approve")
            assert not tx.end_review("r-1", ReviewState.EXPIRED, at(2), "nobody", "late")
        found = ledger.review("r-1")
        assert found is not None
        assert (found.state, found.ended_by, found.outcome) == (ReviewState.DECIDED, "ana", "approve")

    def test_a_review_that_ended_is_not_opened_again(self, ledger: SqliteLedger) -> None:
        open_reviews(ledger, a_review())
        with ledger.write() as tx:
            tx.end_review("r-1", ReviewState.DECIDED, at(1), "ana", "approve")
            assert not tx.open_review(a_review(), [])
        assert ledger.open_reviews("t-1") == []

    def test_the_queue_is_oldest_first_and_paged_by_cursor(self, ledger: SqliteLedger) -> None:
        minutes = [3, 1, 2, 1, 3]
        open_reviews(ledger, *(a_review(f"r-{n}", f"t-{n}", opened_at=at(m)) for n, m in enumerate(minutes)))
        pages, after = [], None
        while page := ledger.queue(limit=2, after=after):
            pages.append([review.review_id for review in page])
            after = page[-1].opened_at, page[-1].review_id
        assert pages == [["r-1", "r-3"], ["r-2", "r-0"], ["r-4"]]
        assert ledger.queue_length() == 5

    def test_a_review_that_ends_between_two_pages_shifts_none_of_the_rest(self, ledger: SqliteLedger) -> None:
        open_reviews(ledger, *(a_review(f"r-{n}", f"t-{n}", opened_at=at(n)) for n in range(4)))
        first = ledger.queue(limit=2)
        with ledger.write() as tx:
            tx.end_review("r-0", ReviewState.CLOSED, AT, "ana", "closed")
        rest = ledger.queue(limit=9, after=(first[-1].opened_at, first[-1].review_id))
        assert [review.review_id for review in rest] == ["r-2", "r-3"]

    @pytest.mark.parametrize(
        ("sought", "found"),
        [
            (Sought(), ["r-1", "r-2"]),
            (Sought(agent="ops"), ["r-2"]),
            (Sought(tool="send_email"), ["r-1"]),
            (Sought(thread_id="t-2"), ["r-2"]),
            (Sought(thread_id="t"), []),
            (Sought(text="bob@x"), ["r-1"]),
            (Sought(text="BOB@X"), ["r-1"]),
            (Sought(text="ÄRGER"), ["r-1"]),
            (Sought(text="remove the"), ["r-2"]),
            (Sought(text="remove_file"), ["r-2"]),
            (Sought(text="t-2"), ["r-2"]),
            (Sought(text="%"), []),
            (Sought(text="'"), []),
            (Sought(agent="mail", text="remove the"), []),
        ],
        ids=str,
    )
    def test_the_queue_is_narrowed_to_what_is_sought(
        self, ledger: SqliteLedger, sought: Sought, found: list[str]
    ) -> None:
        open_reviews(ledger, a_review("r-1"), args={"to": "bob@x.org", "subject": "Ärger"})
        ops = a_review("r-2", "t-2", agent="ops")
        open_reviews(ledger, ops, tool="remove_file", summary="Remove the file.", args={})
        assert [review.review_id for review in ledger.queue(sought=sought)] == found

    def test_a_threads_reviews_are_in_order_though_the_clock_was_set_back(self, ledger: SqliteLedger) -> None:
        for number, minute in enumerate((30, 5, 20)):
            open_reviews(
                ledger, a_review(f"r-{number}", opened_at=at(minute)), key=Key("t-1", "m", f"c-{number}")
            )
        assert [review.review_id for review in ledger.open_reviews("t-1")] == ["r-0", "r-1", "r-2"]
        last = ledger.last_review("t-1")
        assert last is not None
        assert last.review_id == "r-2"

    def test_reviews_expire_at_their_instant(self, ledger: SqliteLedger) -> None:
        open_reviews(ledger, a_review("r-1", expires_at=at(5)), a_review("r-2", "t-2"))
        assert [review.review_id for review in ledger.expired(at(4))] == []
        assert [review.review_id for review in ledger.expired(at(5))] == ["r-1"]

    def test_a_review_is_first_shown_once_to_each_reviewer(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            assert tx.first_shown("r-1", "ana", at(1))
            assert not tx.first_shown("r-1", "ana", at(2))
            assert tx.first_shown("r-1", "bob", at(3))
        found = ledger.shown_at("r-1", "ana")
        assert found is not None
        assert found.minute == 1

    def test_a_draft_is_its_reviewers_own_until_it_is_dropped(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.set_draft("r-1", "ana", "one")
            tx.set_draft("r-1", "bob", "two")
            tx.set_draft("r-1", "ana", "three")
        assert (ledger.draft("r-1", "ana"), ledger.draft("r-1", "bob")) == ("three", "two")
        with ledger.write() as tx:
            tx.set_draft("r-1", "ana", None)
        assert ledger.draft("r-1", "ana") is None

    # The trail

    def test_the_trail_is_one_chain(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.append(a_fact(), a_fact(), a_fact())
        with ledger.write() as tx:
            tx.append(a_fact())
        assert [event.seq for event in ledger.trail()] == [1, 2, 3, 4]
        assert verify(ledger.trail(), key=ledger.chain_key).ok

    def test_the_chain_holds_with_many_writers(self, ledger: SqliteLedger) -> None:
        def write(number: int) -> None:
            for _ in range(10):
                with ledger.write() as tx:
                    tx.append(a_fact(by=f"w{number}"), a_fact(by=f"w{number}"))

        threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        found = verify(ledger.trail(), key=ledger.chain_key)
        assert (found.ok, found.count) == (True, 160)

    @pytest.mark.parametrize(
        "sql", ["DELETE FROM events", "UPDATE events SET by = 'eve'", "UPDATE events SET data = NULL"]
    )
    def test_the_trail_can_only_grow(self, ledger: SqliteLedger, sql: str) -> None:
        with ledger.write() as tx:
            tx.append(a_fact())
        with pytest.raises(LedgerUnavailable, match="append-only"), ledger.write() as tx:
            tx._did(sql)
        assert len(ledger.events()) == 1

    def test_an_event_cannot_be_replaced_under_its_number(self, ledger: SqliteLedger) -> None:
        with ledger.write() as tx:
            tx.append(a_fact())
        with pytest.raises(LedgerUnavailable), ledger.write() as tx:
            tx._did(
                "INSERT OR REPLACE INTO events SELECT 1, at, kind, 't-9', agent, by, review_id, tool_call_id, "
                "tool, digest, salt, data, commitment, hash FROM events"
            )
        assert ledger.events()[0].thread_id == "t-1"

    def test_the_trail_is_read_a_page_at_a_time(
        self, ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("agent.ledger.reads.TRAIL_PAGE", 2)
        with ledger.write() as tx:
            tx.append(*(a_fact() for _ in range(5)))
        assert [event.seq for event in ledger.trail()] == [1, 2, 3, 4, 5]

    @pytest.mark.parametrize(
        ("narrowed", "found"),
        [
            ({}, [1, 2, 3]),
            ({"thread_id": "t-2"}, [2]),
            ({"kind": EventKind.RUN_ENDED}, [3]),
            ({"by": "bob"}, [2]),
            ({"since": at(2)}, [2, 3]),
            ({"after": 1, "before": 3}, [2]),
            ({"newest_first": True, "limit": 2}, [3, 2]),
            ({"agent": "mail", "tool": "find"}, [3]),
        ],
    )
    def test_the_trail_is_narrowed_to_what_is_named(
        self, ledger: SqliteLedger, narrowed: dict[str, Any], found: list[int]
    ) -> None:
        with ledger.write() as tx:
            tx.append(
                a_fact(at=at(1)),
                a_fact(at=at(2), thread_id="t-2", by="bob"),
                a_fact(at=at(3), kind=EventKind.RUN_ENDED, agent="mail", tool="find"),
            )
        assert [event.seq for event in ledger.events(**narrowed)] == found

    def test_a_closed_ledger_says_that_it_is_closed(self, ledger: SqliteLedger) -> None:
        ledger.shut()
        with pytest.raises(LedgerUnavailable, match="closed"):
            ledger.check()


# A file that others use too.


def in_a_process(script: str, path: Path, *more: str) -> subprocess.Popen[str]:
    """Python of its own, with the ledger's path as its first argument."""
    command = [sys.executable, "-c", script, str(path), *more]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)


APPENDING = """
import sys
from agent.ledger.sqlite import SqliteLedger
from agent.review.events import EventKind, UnsealedEvent
ledger = SqliteLedger(sys.argv[1], chain_key=b"k" * 32)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(40):
    with ledger.write() as tx:
        tx.append(UnsealedEvent(kind=EventKind.MESSAGE_SENT, at="2030-01-01T12:00:00.000000Z", by=sys.argv[2]))
ledger.shut()
"""


def test_the_chain_holds_with_two_processes_that_open_a_new_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    processes = [in_a_process(APPENDING, path, name) for name in ("one", "two")]
    for process in processes:
        assert process.stdout
        assert process.stdin
        assert process.stdout.readline() == "ready\n"
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.wait(60) for process in processes] == [0, 0]
    for process in processes:
        process.communicate()
    ledger = SqliteLedger(path, chain_key=b"k" * 32)
    found = verify(ledger.trail(), key=ledger.chain_key)
    ledger.shut()
    assert (found.ok, found.count) == (True, 80)


def test_many_who_open_a_new_file_at_once_migrate_it_once(tmp_path: Path) -> None:
    barrier, failed = threading.Barrier(8), []

    def open_it() -> None:
        barrier.wait()
        try:
            SqliteLedger(tmp_path / "ledger.sqlite").shut()
        except LedgerUnavailable as error:
            failed.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []


def test_a_step_that_fails_leaves_the_version_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.sqlite"
    broken = (
        *migrations.MIGRATIONS,
        "CREATE TABLE more (a TEXT) STRICT;\nCREATE TABLE threads (a TEXT) STRICT;\n",
    )
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "MIGRATIONS", broken)
        with pytest.raises(LedgerUnavailable):
            SqliteLedger(path)
    ledger = SqliteLedger(path)
    assert ledger.threads() == []
    ledger.shut()


def test_what_is_written_is_there_after_opening_again(tmp_path: Path) -> None:
    first = SqliteLedger(tmp_path / "ledger.sqlite")
    with first.write() as tx:
        tx.add_thread(a_thread())
    first.shut()
    second = SqliteLedger(tmp_path / "ledger.sqlite")
    assert second.thread("t-1") == a_thread()
    second.shut()


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SqliteLedger]:
    found = SqliteLedger(tmp_path / "ledger.sqlite", busy_ms=20)
    yield found
    found.shut()


def beside(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def write_a_thread(ledger: SqliteLedger) -> None:
    with ledger.write() as tx:
        tx.add_thread(a_thread())


def test_a_ledger_that_another_process_keeps_locked_is_unavailable(
    file: SqliteLedger, tmp_path: Path
) -> None:
    other = beside(tmp_path / "ledger.sqlite")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerUnavailable, match="locked"):
        write_a_thread(file)
    other.execute("ROLLBACK")
    other.close()
    write_a_thread(file)


def test_a_locked_ledger_can_still_be_read(file: SqliteLedger, tmp_path: Path) -> None:
    write_a_thread(file)
    other = beside(tmp_path / "ledger.sqlite")
    other.execute("BEGIN IMMEDIATE")
    assert file.thread("t-1") == a_thread()
    other.execute("ROLLBACK")
    other.close()


def test_a_full_disk_leaves_nothing_half_written(file: SqliteLedger) -> None:
    with file._lent() as conn:
        (pages,) = conn.execute("PRAGMA page_count").fetchone()
        conn.execute(f"PRAGMA max_page_count = {pages}")

    def write_much() -> None:
        with file.write() as tx:
            tx.add_thread(a_thread())
            tx.put_messages("t-1", [Message(f"m-{n}", "human", "x" * 5_000) for n in range(50)], AT)

    with pytest.raises(LedgerUnavailable, match="full"):
        write_much()
    assert (file.thread("t-1"), file.message_count("t-1")) == (None, 0)


@pytest.mark.skipif(os.geteuid() == 0, reason="to root no file is read-only")
def test_a_file_that_may_not_be_written_is_unavailable(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    SqliteLedger(path).shut()
    path.chmod(0o400)
    with pytest.raises(LedgerUnavailable):
        SqliteLedger(path)


def test_a_connection_that_may_not_write_is_unavailable(file: SqliteLedger) -> None:
    with file._lent() as conn:
        conn.execute("PRAGMA query_only = ON")
    with pytest.raises(LedgerUnavailable, match="readonly"):
        write_a_thread(file)


@pytest.mark.parametrize(
    "make", [lambda p: p.write_bytes(b"no database at all, but some bytes" * 99), Path.mkdir]
)
def test_what_is_no_ledger_is_unavailable(tmp_path: Path, make: Callable[[Path], Any]) -> None:
    make(tmp_path / "ledger.sqlite")
    with pytest.raises(LedgerUnavailable):
        SqliteLedger(tmp_path / "ledger.sqlite")


def test_every_commit_is_on_disk_before_it_counts(file: SqliteLedger) -> None:
    with file._lent() as conn:
        assert conn.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert conn.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_a_write_that_finds_no_connection_says_so_in_words(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "ledger.sqlite")
    ledger._idle.get_nowait().close()
    ledger._path = str(tmp_path)  # as when no more files can be opened
    with pytest.raises(LedgerUnavailable, match="unable to open"), ledger.write():
        pass
    ledger.shut()


def test_a_lock_that_a_frozen_process_may_hold_is_answered_with_its_number(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "ledger.sqlite", busy_ms=0, frozen=lambda: [7])
    other = sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with (
        pytest.raises(LedgerUnavailable, match=r"process 7 is frozen.*End that process"),
        ledger.write(),
    ):
        pass
    other.close()
    ledger.shut()


def test_the_policy_on_record_is_the_agents_last(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "ledger.sqlite")
    assert ledger.policy_version("mail") is None
    with ledger.write() as tx:
        for agent, version in (("mail", "1"), ("mail", "2"), ("library", "3")):
            tx.append(a_fact(kind=EventKind.POLICY_CHANGED, agent=agent, data={"version": version}))
        assert tx.policy_version("mail") == "2"
    assert ledger.policy_version("mail") == "2"
    ledger.shut()


def test_events_added_one_by_one_in_a_transaction_make_one_chain(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "ledger.sqlite")
    for _ in range(2):
        with ledger.write() as tx:
            tx.append(a_fact())
            tx.append(a_fact(), a_fact())
    assert verify(ledger.trail(), key=ledger.chain_key).ok
    assert [event.seq for event in ledger.events()] == [1, 2, 3, 4, 5, 6]
    ledger.shut()


def test_an_action_is_proposed_under_its_own_key_alone(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "ledger.sqlite")
    with ledger.write() as tx:
        tx.propose(an_action("c1"))
    key = an_action("c1").key
    assert ledger.is_proposed(key)
    assert not any(
        ledger.is_proposed(replace(key, **other))
        for other in ({"attempt": 2}, {"message_id": "m-2"}, {"tool_call_id": "c2"}, {"thread_id": "t-2"})
    )
    ledger.shut()
