"""What the library agent promises its reviewer, and what its world holds to."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import ToolException

from agent.demos import library
from agent.demos.world import Loan, Ref, World, WorldError
from agent.demos.world.library import LONGEST_LOAN, MOST_LOANS
from agent.review.errors import ArgumentsRefused
from agent.review.policy import Tier

Call = Callable[..., str]
REF = Ref("t-1", "c-1")
NOON = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
LAST = {"book_id": "b-1", "member_id": "m-9"}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path / "world.sqlite", now=lambda: NOON)) as opened:
        yield opened


@pytest.fixture
def call(world: World) -> Call:
    """Call a tool as LangGraph's tool node does; the text of its result."""
    tools: dict[str, Any] = dict(library.define(world).tools_by_name)

    def call(name: str, /, **args: object) -> str:
        request = {"type": "tool_call", "id": "c-1", "name": name, "args": args}
        result = tools[name].invoke(request, {"configurable": {"thread_id": "t-1"}})
        assert isinstance(result, ToolMessage)
        return str(result.content)

    return call


def summary(world: World, tool: str, **args: object) -> str:
    agent = library.define(world)
    compose = agent.policy.tools[tool].summary
    assert compose is not None
    return compose(agent.received(tool, args, unknown="refuse").args)


def stock(world: World, book_id: str) -> int:
    book = world.book(book_id)
    assert book is not None
    return book.stock


@pytest.mark.parametrize(
    ("tool", "tier"),
    [
        ("search_books", Tier.AUTO),
        ("renew_loan", Tier.LOG),
        ("borrow_book", Tier.ASK),
        ("delete_member", Tier.DENY),
    ],
)
def test_each_tool_has_its_tier_and_a_reason(world: World, tool: str, tier: Tier) -> None:
    entry = library.define(world).policy.tools[tool]
    assert entry.tier is tier
    assert entry.why


def test_a_search_lists_id_title_and_what_is_on_the_shelf(call: Call) -> None:
    assert call("search_books", text="dragons").splitlines() == [
        "Found 2 books.",
        "b-1 | A Field Guide to Dragons | E. Larsen | dragons, folklore | 1 on the shelf",
        "b-5 | A Short History of Dragons | B. Okafor | dragons, history | all copies lent",
    ]
    assert call("search_books", text="xyzzy") == "No book contains “xyzzy”."


def test_lending_takes_a_copy_off_the_shelf_and_writes_the_loan(call: Call, world: World) -> None:
    assert call("borrow_book", **LAST) == "Lent b-1 to m-9 until 2030-01-29 (loan l-5)."
    assert stock(world, "b-1") == 0
    assert world.loan("l-5") == Loan("l-5", "b-1", "m-9", date(2030, 1, 29), 0)
    lent, made = world.changes()
    assert (lent.subject, lent.before, lent.after) == ("books/b-1", {"stock": 1}, {"stock": 0})
    assert (made.kind, made.subject) == ("loan_made", "loans/l-5")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"book_id": "b-5", "member_id": "m-9"}, "No copy of “A Short History of Dragons” is left"),
        ({"book_id": "b-99", "member_id": "m-9"}, "There is no book “b-99”"),
        ({"book_id": "b-1", "member_id": "m-99"}, "There is no member “m-99”"),
    ],
)
def test_what_cannot_be_lent_changes_nothing_and_its_summary_says_so(
    call: Call, world: World, args: dict[str, str], said: str
) -> None:
    assert f"will fail: {said}" in summary(world, "borrow_book", **args)
    with pytest.raises(WorldError, match=said):
        call("borrow_book", **args)
    assert world.changes() == ()


def test_a_member_has_so_many_books_and_no_more(world: World) -> None:
    for _ in range(MOST_LOANS):
        world.borrow("b-6", "m-9", REF)
    with pytest.raises(WorldError, match="Noor Haddad has 4 books"):
        world.borrow("b-2", "m-9", REF)


def test_two_readers_who_want_the_last_copy_at_once_get_it_once(world: World) -> None:
    barrier = Barrier(2)

    def borrow(member: str) -> object:
        barrier.wait()
        try:
            return world.borrow("b-1", member, REF)
        except WorldError as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(borrow, ["m-1", "m-2"]))
    assert sorted(isinstance(one, Loan) for one in results) == [False, True]
    assert stock(world, "b-1") == 0


def test_a_renewal_moves_the_day_it_is_due(call: Call, world: World) -> None:
    assert call("renew_loan", loan_id="l-1") == "Renewed l-1: now due on 2030-01-24."
    (change,) = world.changes()
    assert change.before == {"due": "2030-01-10", "renewals": 0}
    assert change.after == {"due": "2030-01-24", "renewals": 1}


@pytest.mark.parametrize(
    ("loan", "said"), [("l-4", "was renewed 2 times"), ("l-9", "Use one of: l-1, l-2, l-3, l-4")]
)
def test_a_loan_that_cannot_be_renewed_stays_as_it_is(call: Call, world: World, loan: str, said: str) -> None:
    with pytest.raises(WorldError, match=said):
        call("renew_loan", loan_id=loan)
    assert world.changes() == ()
    assert "will fail" in summary(world, "renew_loan", loan_id=loan)


def test_no_member_is_deleted_even_if_it_is_run(call: Call, world: World) -> None:
    with pytest.raises(ToolException, match="never deleted"):
        call("delete_member", member_id="m-9")
    assert world.member("m-9")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (
            LAST,
            "Lend b-1, “A Field Guide to Dragons”, to m-9, “Noor Haddad”, for 28 days, to be brought back by 2030-01-29 "
            "if it is lent today. 1 copy is on the shelf now; none is left after this loan.",
        ),
        (
            {"book_id": "b-3", "member_id": "m-1", "days": 1},
            "Lend b-3, “The Shape of Rivers”, to m-1, “Ada Moreno”, for 1 day, to be brought back by 2030-01-02 "
            "if it is lent today. 2 copies are on the shelf now; 1 is left after this loan.",
        ),
        (
            {"book_id": "b-6", "member_id": "m-2", "days": LONGEST_LOAN},
            "Lend b-6, “Gardening in the Shade”, to m-2, “Ben Okafor”, for 56 days, to be brought back by 2030-02-26 "
            "if it is lent today. 4 copies are on the shelf now; 3 are left after this loan.",
        ),
    ],
)
def test_the_summary_of_a_loan_says_what_to_whom_for_how_long_and_what_is_left(
    world: World, args: dict[str, object], expected: str
) -> None:
    assert summary(world, "borrow_book", **args) == expected


def test_the_summary_of_a_renewal_says_who_keeps_what_until_when(world: World) -> None:
    assert summary(world, "renew_loan", loan_id="l-1") == (
        "Let m-1, “Ada Moreno” keep b-4, “Knots and How to Tie Them”, 14 days longer, until 2030-01-24 instead of "
        "2030-01-10; the book can be called back at any time."
    )


def test_a_loan_is_due_after_the_days_that_were_asked_for(call: Call, world: World) -> None:
    assert call("borrow_book", **LAST, days=14) == "Lent b-1 to m-9 until 2030-01-15 (loan l-5)."
    assert world.loan("l-5") == Loan("l-5", "b-1", "m-9", date(2030, 1, 15), 0)


@pytest.mark.parametrize("days", [0, -1, LONGEST_LOAN + 1, 10**18])
def test_a_loan_of_no_sensible_length_is_refused_by_the_arguments_and_by_the_world(
    world: World, days: int
) -> None:
    with pytest.raises(ArgumentsRefused, match="days"):
        library.define(world).received("borrow_book", {**LAST, "days": days}, unknown="refuse")
    with pytest.raises(WorldError, match="1 to 56 days"):
        world.borrow("b-1", "m-9", REF, days)
    assert world.changes() == ()


def test_a_world_from_before_the_library_gets_one_and_keeps_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "world.sqlite"
    with closing(World(path)) as world:
        world.archive("m-1", REF)
    with closing(sqlite3.connect(path, isolation_level=None)) as older:
        for table in ("members", "books", "loans"):
            older.execute(f"DROP TABLE {table}")
        older.execute("PRAGMA user_version = 1")
    with closing(World(path)) as world:
        assert len(world.books()) == 6
        mail = world.mail("m-1")
        assert mail is not None
        assert mail.folder == "archive"
        assert len(world.changes()) == 1
    with closing(World(path)) as world:
        world.borrow("b-1", "m-9", REF)
    with closing(World(path)) as world:
        assert stock(world, "b-1") == 0
