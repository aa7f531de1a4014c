"""The index of what waits: it finds what is sought, goes with the review, and older files get it when they are opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.ledger import migrations, queue, rows
from agent.ledger.sqlite import SqliteLedger
from agent.ports import Sought
from agent.review.actions import Action, ActionState, AskedAction, Review, ReviewState, Waiting
from tests.ledger.test_sqlite import AT, AT_THE_DOOR, a_review, an_action, at, open_reviews


@pytest.fixture
def ledger() -> Iterator[SqliteLedger]:
    with in_memory() as found:
        yield found


@contextmanager
def in_memory() -> Iterator[SqliteLedger]:
    found = SqliteLedger(":memory:")
    yield found
    found.shut()


def found(ledger: SqliteLedger, **sought: str) -> list[str]:
    return [review.review_id for review in ledger.queue(sought=Sought(**sought))]


@pytest.mark.parametrize(
    "text", ["x", "xy", "xyz", "a xyzzy b", "XYZZY", 'say "xyzzy"', "OR xyzzy", "straße"]
)
def test_a_text_of_any_length_and_any_marks_is_found(ledger: SqliteLedger, text: str) -> None:
    open_reviews(ledger, a_review("r-1"), summary="Send it.")
    open_reviews(ledger, a_review("r-2", "t-2"), summary='a xyzzy b: say "xyzzy" OR xyzzy STRASSE')
    assert found(ledger, text=text)[-1:] == ["r-2"]


@pytest.mark.parametrize("few", [0, 500])
@given(
    texts=st.lists(st.text('aAßÄ-"\0[]*?\U0010ffff', max_size=9), min_size=1, max_size=4), sought=st.data()
)
@settings(max_examples=60)
def test_a_text_is_found_exactly_where_it_stands(few: int, texts: list[str], sought: st.DataObject) -> None:
    start = sought.draw(st.integers(0, len(texts[0])))
    text = texts[0][start : start + sought.draw(st.integers(1, 5))]
    with pytest.MonkeyPatch.context() as patched, in_memory() as ledger:
        patched.setattr(queue, "FEW", few)
        for number, summary in enumerate(texts):
            review = a_review(f"r-{number}", f"t-{number}", opened_at=at(number))
            open_reviews(ledger, review, tool="x", summary=summary, args=None)
        fields = [(f"t-{number}", "x", summary, "null") for number, summary in enumerate(texts)]
        holding = [
            f"r-{number}"
            for number, those in enumerate(fields)
            if any(text.casefold() in one.casefold() for one in those)
        ]
        assert found(ledger, text=text) == holding


@pytest.mark.parametrize("text", ["l", "ll", "}", '"}'])
def test_what_ends_a_text_is_found(ledger: SqliteLedger, text: str) -> None:
    open_reviews(ledger, a_review("r-1"), summary="", args=None if "l" in text else {"a": "b"})
    assert found(ledger, text=text) == ["r-1"]


def test_a_text_whose_pieces_stand_apart_is_not_found(ledger: SqliteLedger) -> None:
    open_reviews(ledger, a_review(), summary="abcdef, and defabc")
    assert found(ledger, text="abcdefabc") == []


@pytest.mark.parametrize("long", [100, 100_000])
def test_of_a_long_text_every_letter_counts(ledger: SqliteLedger, long: int) -> None:
    open_reviews(ledger, a_review("r-1"), summary="[x" * long + "y")
    open_reviews(ledger, a_review("r-2", "t-2"), summary="[x" * long + "z")
    assert found(ledger, text="[X" * long + "Y") == ["r-1"]
    assert found(ledger, text="[x" * long + "w") == []


def test_a_text_is_not_found_across_two_fields(ledger: SqliteLedger) -> None:
    open_reviews(ledger, a_review(), tool="send_email", summary="Send it.")
    assert found(ledger, text="send_emailSend") == []


def test_what_stands_far_behind_in_a_long_argument_is_found(ledger: SqliteLedger) -> None:
    open_reviews(ledger, a_review(), args={"body": "x" * 30_000 + "needle"})
    open_reviews(ledger, a_review("r-2", "t-2"), args={"body": "needle"})
    assert found(ledger, text="needle") == ["r-1", "r-2"]


def test_a_text_that_many_hold_is_found_in_the_queues_order(
    ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "FEW", 2)
    minutes = [3, 1, 4, 2]
    open_reviews(ledger, *(a_review(f"r-{m}", f"t-{m}", opened_at=at(m)) for m in minutes), summary="needle")
    assert found(ledger, text="needle") == ["r-1", "r-2", "r-3", "r-4"]


def test_filters_hold_together(ledger: SqliteLedger) -> None:
    open_reviews(ledger, a_review("r-1"), a_review("r-2", "t-2", agent="ops"), summary="needle")
    open_reviews(ledger, a_review("r-3", "t-3", agent="ops"), tool="remove_file", summary="needle")
    assert found(ledger, text="needle", agent="ops") == ["r-2", "r-3"]
    assert found(ledger, text="needle", agent="ops", tool="remove_file") == ["r-3"]
    assert found(ledger, tool="remove_file", thread_id="t-2") == []


def test_a_review_that_is_over_leaves_nothing_behind(ledger: SqliteLedger) -> None:
    open_reviews(ledger, a_review("r-1"), a_review("r-2", "t-2"), args={"body": "y" * 30_000})
    with ledger.write() as tx:
        action = tx.open_reviews("t-1")[0].actions[0]
        # An edit to another tool: what it waited under is not what it ran as.
        assert tx.move(action.key, ActionState.PENDING, ActionState.APPROVED, tool="archive_mail")
        assert tx.end_review("r-1", ReviewState.DECIDED, AT, "ana", "edit")
    assert found(ledger, text="yyy") == found(ledger, tool="send_email") == ["r-2"]
    assert ledger.queue_length() == 1
    with ledger.write() as tx:
        assert tx.end_review("r-2", ReviewState.CLOSED, AT, "ana", "closed")
        left = [tx._all(f"SELECT count(*) FROM {table}")[0][0] for table in ("waiting", "waiting_tools")]
        tx._did("INSERT INTO waiting_texts (waiting_texts) VALUES ('integrity-check')")
    assert (left, ledger.queue_length()) == ([0, 0], 0)


def test_the_text_of_a_review_that_is_over_goes_when_the_next_one_enters(ledger: SqliteLedger) -> None:
    open_reviews(ledger, a_review("r-1"), a_review("r-2", "t-2"), summary="needle")
    end(ledger, "r-1")
    assert (found(ledger, text="needle"), found(ledger, text="ee"), ledger.queue_length()) == (
        ["r-2"],
        ["r-2"],
        1,
    )
    open_reviews(ledger, a_review("r-3", "t-3"), summary="needle")
    assert (kept(ledger), ledger.queue_length()) == (["r-2", "r-3"], 2)
    assert ledger._all("SELECT 1 FROM waiting_over") == []


@pytest.mark.parametrize("few", [1, 500])
@given(ends=st.lists(st.integers(0, 20), max_size=20))
@settings(max_examples=30)
def test_what_is_over_is_never_found(few: int, ends: list[int]) -> None:
    waits: list[str] = []
    with pytest.MonkeyPatch.context() as patched, in_memory() as ledger:
        patched.setattr(queue, "FEW", few)
        for number, ending in enumerate(ends):
            review = a_review(f"r-{number:02}", f"t-{number}", opened_at=at(number))
            open_reviews(ledger, review, summary="needle")
            waits.append(review.review_id)
            for name in [one for one in waits if one <= f"r-{ending:02}"][:2]:
                end(ledger, name)
                waits.remove(name)
            for sought in ({"text": "needle"}, {"text": "ee"}, {"tool": "send_email"}, {}):
                assert found(ledger, **sought) == waits
            assert ledger.queue_length() == len(waits)


def end(ledger: SqliteLedger, *names: str) -> None:
    with ledger.write() as tx:
        for name in names:
            assert tx.end_review(name, ReviewState.CLOSED, AT, "ana", "closed")
        tx._did("INSERT INTO waiting_texts (waiting_texts) VALUES ('integrity-check')")


def kept(ledger: SqliteLedger) -> list[str]:
    """The reviews whose text is in the index; a match of it finds no others."""
    indexed = [row[0] for row in ledger._all("SELECT DISTINCT doc FROM waiting_grams ORDER BY doc")]
    found = ledger._all("SELECT place, review_id FROM waiting ORDER BY place")
    assert [row["place"] for row in found] == indexed
    return [row["review_id"] for row in found]


@contextmanager
def before(step: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A ledger that is made meanwhile knows nothing of this migration and of those behind it."""
    with monkeypatch.context() as older:
        known = migrations.MIGRATIONS[: migrations.MIGRATIONS.index(step)]
        older.setattr(migrations, "MIGRATIONS", known)
        older.setattr(rows, "ACTION_COLUMNS", tuple(n for n in rows.ACTION_COLUMNS if n not in AT_THE_DOOR))
        yield older


def test_what_waited_before_there_was_an_index_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.sqlite"
    with before(migrations.WAITING, monkeypatch) as older:
        older.setattr(queue, "ENTER", ())
        ledger = SqliteLedger(path)
        open_reviews(ledger, a_review("r-1"), a_review("r-2", "t-2"), summary="Needle.", args={"to": "ÄRGER"})
        with ledger.write() as tx:
            tx.end_review("r-1", ReviewState.CLOSED, AT, "ana", "closed")
        ledger.shut()
    ledger = SqliteLedger(path)
    assert ledger.queue_length() == 1
    assert found(ledger, text="needle") == found(ledger, text="ärger") == found(ledger, tool="send_email")
    assert found(ledger, agent="mail") == ["r-2"]
    ledger.shut()


def test_what_waited_before_every_letter_began_a_piece_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.sqlite"
    with before(migrations.GRAMS, monkeypatch):
        ledger = SqliteLedger(path)
        open_reviews(ledger, a_review("r-1"), a_review("r-2", "t-2"), summary="ß Needle", args=None)
        ledger.shut()
    ledger = SqliteLedger(path)
    assert (
        found(ledger, text="ll") == found(ledger, text="needle") == found(ledger, text="ß") == ["r-1", "r-2"]
    )
    with ledger.write() as tx:
        tx.end_review("r-1", ReviewState.CLOSED, AT, "ana", "closed")
    assert found(ledger, text="ll") == found(ledger, text="needle") == ["r-2"]
    ledger.shut()


@pytest.mark.parametrize("text", ["needle", "edl", "e\0n", "\0", "one\0needle", "null"])
def test_what_stands_behind_a_character_0_is_found(ledger: SqliteLedger, text: str) -> None:
    open_reviews(ledger, a_review("r-1"), a_review("r-2", "t-2"), summary="One\0needle", args=None)
    open_reviews(ledger, a_review("r-3", "t-3"), summary="One", args={})
    assert found(ledger, text=text) == ["r-1", "r-2"]


def test_what_stood_behind_a_character_0_before_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.sqlite"
    with before(migrations.WHOLE_TEXTS, monkeypatch) as older:
        older.setattr(queue, "folded", str.casefold)
        ledger = SqliteLedger(path)
        open_reviews(ledger, a_review("r-1"), a_review("r-2", "t-2"), summary="One\0Needle")
        open_reviews(ledger, a_review("r-3", "t-3"), summary="One, and a needle")
        ledger.shut()
    ledger = SqliteLedger(path)
    assert found(ledger, text="needle") == ["r-1", "r-2", "r-3"]
    end(ledger, "r-1", "r-2", "r-3")
    assert (found(ledger, text="needle"), ledger.queue_length()) == ([], 0)
    ledger.shut()


def test_what_waited_when_texts_left_with_their_reviews_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.sqlite"
    with before(migrations.LEAVING, monkeypatch):
        ledger = SqliteLedger(path)
        open_reviews(ledger, a_review("r-1"), a_review("r-2", "t-2"), summary="Needle.")
        end(ledger, "r-1")
        ledger.shut()
    ledger = SqliteLedger(path)
    assert (found(ledger, text="needle"), ledger.queue_length()) == (["r-2"], 1)
    end(ledger, "r-2")
    open_reviews(ledger, a_review("r-3", "t-3"), summary="Needle.")
    assert (found(ledger, text="needle"), kept(ledger)) == (["r-3"], ["r-3"])
    ledger.shut()


def test_a_page_has_each_review_with_all_that_it_asks_in_the_order_of_its_calls(ledger: SqliteLedger) -> None:
    reviews = [a_review(f"r-{n}", f"t-{n}", opened_at=at(n), expires_at=at(9)) for n in range(3)]
    asked = [an_action(f"c-{n}", "t-1", tool=f"tool-{n}", position=n) for n in (1, 2, 0)]
    with ledger.write() as tx:
        assert all(tx.propose(action) for action in asked)
        tx.open_review(reviews[1], [action.key for action in asked])
        tx.open_review(reviews[2], [])
    open_reviews(ledger, reviews[0], args=None)

    page = ledger.queue()
    assert [review.actions for review in page][1:] == [tuple(map(as_asked, (asked[2], *asked[:2]))), ()]
    assert page == [as_waiting(ledger.review(review.review_id)) for review in reviews]


def as_waiting(review: Review | None) -> Waiting:
    assert review is not None
    queued = [getattr(review, name) for name in Waiting._fields[:-1]]
    return Waiting._make([*queued, tuple(map(as_asked, review.actions))])


def as_asked(action: Action) -> AskedAction:
    values = {**vars(action), **vars(action.key), "args_text": rows.dumps(action.args)}
    return AskedAction._make(values[name] for name in AskedAction._fields)
