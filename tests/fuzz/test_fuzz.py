"""A few draws of everything, what earlier draws brought up, and what is shown of a row that was changed."""

from __future__ import annotations

import pickle
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from agent.engine.decoding import DecodesOnce, Strict
from tests.fuzz import damage
from tests.fuzz.checkpoints import HOSTILE, HOSTILE_PICKLE, MARK
from tests.fuzz.checks import CHECKS, Bench, bench, check_none
from tests.fuzz.damage import Damage
from tests.fuzz.looking import COMMANDS, GETS, environment
from tests.fuzz.pages import PAGES, as_in_a_browser
from tests.pages.conftest import Screen

CHANGED = "was changed past the console"
SEED = secrets.randbelow(2**32)
TIMES = {"environment": 20, "scenarios": 60, "rows": 4, "pages": 2, "checkpoints": 4}
FOUND = (
    Damage("drafts", 0, "set", "body", '{"v": 1}'),
    Damage("drafts", 1, "set", "body", "no JSON"),
    Damage("threads", 3, "set", "status", "no status"),
    Damage("threads", 4, "set", "opening", b"\xff"),
    Damage("events", 11, "set", "kind", "<b>x</b>"),
    Damage("events", 12, "set", "data", "[1]"),
    Damage("events", 13, "set", "data", '{"actions": 1}'),
    Damage("events", 99, "set", "hash", b"\xc3\xa4"),
    Damage("messages", 2, "set", "idx", 2**63 - 1),
    Damage("messages", 5, "set", "type", "no type"),
    Damage("messages", 6, "set", "tool_calls", '[{"id": 1}]'),
    Damage("notes", 0, "set", "verdict", "splendid"),
    Damage("rules", 0, "set", "made_from", '{"to": "alice@example.com"}'),
    Damage("actions", 2, "set", "decision", "no JSON"),
    Damage("waiting_count", 0, "remove"),
    Damage("shown", 0, "set", "at", "yesterday"),
    Damage("reviews", 1, "set", "ended_at", "yesterday"),
)
"""What once made a page or an answer fail."""


@pytest.fixture(scope="module")
def made() -> Iterator[Bench]:
    with bench() as found:
        yield found


@pytest.mark.parametrize("check", CHECKS)
def test_whatever_is_drawn_is_read_or_refused_in_words(made: Bench, check: str) -> None:
    print(f"seed {SEED}")
    CHECKS[check](made, TIMES[check], SEED)


def test_the_api_and_the_command_line_answer_over_what_was_found(made: Bench) -> None:
    check_none(made.looked_at(FOUND, GETS, COMMANDS))


def test_every_page_opens_over_what_was_found(made: Bench) -> None:
    check_none(made.drawn(FOUND, PAGES))


def test_over_a_record_that_nobody_changed_everything_is_there(made: Bench) -> None:
    check_none(made.looked_at((), GETS, COMMANDS))


def test_a_review_that_cannot_be_read_is_one_card_that_says_so_and_the_next_is_shown(made: Bench) -> None:
    with made.copied() as folder:
        ledger = folder / "data" / "ledger.sqlite"
        (changed, row), (other, _) = waiting(ledger)
        damage.apply(ledger, [Damage("actions", row, "set", "summary", b"open\xff")])
        with environment(folder), as_in_a_browser():
            said = Screen("inbox", "ana", {"review": changed}).said()
            assert CHANGED in said
            assert changed in said
            inbox = Screen("inbox", "ana", {"review": other})
            assert CHANGED not in inbox.said()
            assert {changed, other} <= {name for name, *_ in inbox.rows("waiting")}


def waiting(ledger: Path) -> list[tuple[str, int]]:
    """Two reviews that wait, each with the place of its action's row."""
    with closing(sqlite3.connect(ledger)) as conn:
        actions = conn.execute("SELECT review_id, state, thread_id FROM actions").fetchall()
    found = {thread: (name, at) for at, (name, state, thread) in enumerate(actions) if state == "pending"}
    return [found["waits-0"], found["waits-1"]]


@pytest.mark.parametrize("kind", ["msgpack", "json", "pickle"])
@pytest.mark.parametrize("serde", [Strict(), DecodesOnce()], ids=["plain", "decoding once"])
def test_no_bytes_of_a_checkpoint_are_run(
    kind: str, serde: Strict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-kept")
    for one in HOSTILE:
        read: object = None
        with suppress(Exception):  # refused, in one way or another
            read = serde.loads_typed((kind, one))
        assert "sk-kept" not in repr(read)
        assert not Path(MARK).exists(), one


def test_bytes_that_would_run_do_run_where_pickle_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark is one that can be seen."""
    monkeypatch.chdir(tmp_path)
    pickle.loads(HOSTILE_PICKLE)
    assert Path(MARK).exists()
