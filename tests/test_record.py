"""Nobody changes the record quietly: what is decided is noted outside it before anything runs, and its key is its own."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent import bootstrap
from agent.bootstrap import Opened, open_console
from agent.console import Console
from agent.demos.world import World
from agent.engine import supervisor
from agent.ledger import keyed, migrations
from agent.ledger import sqlite as ledger_module
from agent.ledger.anchors import AnchorFile
from agent.ledger.sqlite import SqliteLedger
from agent.review import events
from agent.review.errors import AnchorsUnavailable, ErasureRefused, SettingsError
from agent.review.events import Anchor, Event, EventKind
from agent.review.exports import read_json_lines
from agent.settings import Settings, key_path
from tests.conftest import SetClock, ask, decide, start_deciding, until, waiting
from tests.engine.crashes import die
from tests.faults.record import seal_again

MAIL = '/call#c1 send_email {"to": "alice@example.com", "subject": "Meeting", "body": "At 10."}'
APPROVE = {"type": "approve"}
OLD_KEY = b"o" * 32


def anchored(settings: Settings) -> int:
    """Up to which event the record is noted outside now: what the file itself says."""
    assert settings.review_anchor
    lines = settings.review_anchor.read_text().splitlines() if settings.review_anchor.exists() else []
    return max((json.loads(line)["count"] for line in lines), default=0)


def of_kind(console: Console, kind: EventKind) -> list[Event]:
    return console.trail.events(kind=kind, limit=1_000)


@contextmanager
def reopened(settings: Settings, clock: SetClock) -> Iterator[Console]:
    opened = open_console(settings, clock=clock)
    try:
        yield opened.console
    finally:
        opened.close()


# Before the tool's door opens


@pytest.fixture
def at_the_effect(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> list[int]:
    """Up to which event the record was noted outside whenever an e-mail was about to be sent."""
    found: list[int] = []
    send = World.send

    def watched(self: World, *args: Any, **more: Any) -> Any:
        found.append(anchored(settings))
        return send(self, *args, **more)

    monkeypatch.setattr(World, "send", watched)
    return found


def test_a_decision_is_noted_outside_before_what_it_allows_runs(
    settings: Settings, clock: SetClock, at_the_effect: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "ANCHOR_SECONDS", 600)
    with reopened(settings, clock) as console:
        thread = ask(console, MAIL)
        decide(console, thread, APPROVE)
        (made,) = of_kind(console, EventKind.DECISION_MADE)
    assert [count >= made.seq for count in at_the_effect] == [True]


def test_a_decision_whose_process_died_is_noted_outside_before_the_next_one_goes_on(
    settings: Settings, clock: SetClock, at_the_effect: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with reopened(settings, clock) as console:
        thread = ask(console, MAIL)

    def approve(opened: Opened) -> None:
        start_deciding(opened.console, thread, [APPROVE], by="ana")

    assert die(settings, clock, approve, 1, "after", only="ledger")
    before = anchored(settings)
    monkeypatch.setattr(supervisor, "ANCHOR_SECONDS", 600)
    with reopened(settings, clock) as console:
        until(lambda: not console.queries.running())
        (made,) = of_kind(console, EventKind.DECISION_MADE)
    assert before < made.seq, "it died before the decision was noted"
    assert [count >= made.seq for count in at_the_effect] == [True]


def test_nothing_runs_on_a_decision_that_cannot_be_noted_outside_until_it_can(
    settings: Settings, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, kept = opened.console, settings.review_anchor
    assert kept
    thread = ask(console, MAIL)
    until(lambda: anchored(settings) == console.trail.events(newest_first=True, limit=1)[0].seq)
    aside = kept.rename(kept.with_suffix(".aside"))
    kept.mkdir()
    decide(console, thread, APPROVE)
    view = console.queries.view(thread)
    assert (view.thread.status, opened.world.outbox()) == ("failed", ())
    assert str(kept) in str(view.thread.error)
    assert "retry the thread" in str(view.thread.error)
    kept.rmdir()
    aside.rename(kept)
    assert console.wait(console.retry(thread, by="ana"), 30)
    assert [mail.recipient for mail in opened.world.outbox()] == ["alice@example.com"]
    assert console.trail.verify().ok


def test_while_nothing_can_be_noted_outside_nothing_new_runs_either(
    settings: Settings, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, kept = opened.console, Path(str(settings.review_anchor))
    kept.rename(kept.with_suffix(".aside"))
    kept.mkdir()
    ask(console, "/say Hello.", thread_id="t-1")
    until(lambda: opened.supervisor._anchors_fail)
    ask(console, '/call search_mail {"text": "rent"}', thread_id="t-2")
    view = console.queries.view("t-2")
    assert (view.thread.status, of_kind(console, EventKind.EXECUTION_STARTED)) == ("failed", [])
    assert str(kept) in str(view.thread.error)


def test_an_end_is_noted_outside_within_a_second(settings: Settings, console: Console) -> None:
    thread = ask(console, MAIL)
    decide(console, thread, APPROVE)
    last = console.trail.events(newest_first=True, limit=1)[0].seq
    began = time.monotonic()
    until(lambda: anchored(settings) >= last)
    assert supervisor.ANCHOR_SECONDS < 1
    assert time.monotonic() - began < 30


def test_of_several_who_note_at_once_one_notes_for_all(
    settings: Settings, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_console(settings, clock=clock, at_work=False)
    console, appended, go = opened.console, [], threading.Event()
    append = AnchorFile.append

    def slowly(self: AnchorFile, anchor: Anchor) -> None:
        appended.append(anchor.count)
        go.wait(30)
        append(self, anchor)

    monkeypatch.setattr(AnchorFile, "append", slowly)
    console.stop_all(by="ana")
    callers = [threading.Thread(target=console.trail.anchor) for _ in range(8)]
    for caller in callers:
        caller.start()
    until(lambda: appended)
    console.release(by="ana")
    go.set()
    for caller in callers:
        caller.join(30)
    assert (appended, anchored(settings)) == ([1, 2], 2)
    opened.close()


# The key, and a record from before there was one


@pytest.fixture
def old(settings: Settings, clock: SetClock) -> Settings:
    """A folder as a console left it that kept the digests' key in it and keyed no line; a review waits."""
    seal = events.seal
    older = migrations.MIGRATIONS[: migrations.MIGRATIONS.index(migrations.KEYED)]
    with pytest.MonkeyPatch.context() as before:
        before.setattr(migrations, "MIGRATIONS", older)
        before.setattr(ledger_module, "seal", lambda fact, **more: seal(fact, **{**more, "key": None}))
        before.setattr(bootstrap, "take_in", lambda *_: OLD_KEY)
        before.setattr(AnchorFile, "append", lambda *_: None)
        with reopened(settings, clock) as console:
            ask(console, MAIL, thread_id="t-1")
    (settings.review_data / "digest.key").write_bytes(OLD_KEY)
    key_path(settings).unlink()
    return settings


def test_what_waits_from_before_the_key_can_still_be_decided_and_the_record_says_from_where_it_is_keyed(
    old: Settings, clock: SetClock
) -> None:
    opened = open_console(old, clock=clock)
    shown = waiting(opened.console, "t-1").actions[0].shown_digest
    decide(opened.console, "t-1", {**APPROVE, "shown_digest": shown})
    assert [mail.recipient for mail in opened.world.outbox()] == ["alice@example.com"]
    (keyed,) = of_kind(opened.console, EventKind.CHAIN_KEYED)
    found = opened.console.trail.verify()
    assert (found.ok, found.unkeyed) == (True, keyed.seq - 1)
    opened.close()
    with reopened(old, clock) as console:
        assert of_kind(console, EventKind.CHAIN_KEYED) == [keyed]
        assert console.trail.verify().ok


def test_several_consoles_that_open_an_old_record_at_once_key_it_once(old: Settings, clock: SetClock) -> None:
    opened: list[Opened] = []
    together = threading.Barrier(6)

    def open_it() -> None:
        together.wait(30)
        opened.append(open_console(old, clock=clock, at_work=False))

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(opened) == 6
    assert len(of_kind(opened[0].console, EventKind.CHAIN_KEYED)) == 1
    assert len({one.console._secret for one in opened}) == 1
    for one in opened:
        one.close()


def test_a_record_that_another_console_keys_while_this_one_looks_is_opened_under_the_same_key(
    old: Settings, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, others = keyed._witnesses, list[Opened]()

    def looked_too_early(ledger: SqliteLedger) -> Iterator[tuple[Event, str]]:
        seen = list(look(ledger))
        monkeypatch.setattr(keyed, "_witnesses", look)
        others.append(open_console(old, clock=clock, at_work=False))
        return iter(seen)

    monkeypatch.setattr(keyed, "_witnesses", looked_too_early)
    late = open_console(old, clock=clock, at_work=False)
    (other,) = others
    assert late.console._secret == other.console._secret
    assert len(of_kind(late.console, EventKind.CHAIN_KEYED)) == 1
    late.close()
    other.close()


def test_a_copy_of_a_folder_goes_on_with_its_key_and_with_no_other(
    old: Settings, clock: SetClock, tmp_path: Path
) -> None:
    with reopened(old, clock):
        pass
    copy = tmp_path / "copy"
    shutil.copytree(old.review_data, copy)
    with pytest.raises(SettingsError, match="not the key of this record"):
        open_console(old.model_copy(update={"review_data": copy, "review_key": tmp_path / "other.key"}))
    there = old.model_copy(update={"review_data": copy, "review_anchor": tmp_path / "there.jsonl"})
    with reopened(there, clock) as console:
        decide(console, "t-1", APPROVE)
        assert console.trail.verify().ok


def test_two_consoles_with_keys_of_their_own_do_not_begin_one_record(
    settings: Settings, tmp_path: Path
) -> None:
    first = open_console(settings, at_work=False)
    with pytest.raises(SettingsError, match="not the key of this record"):
        open_console(settings.model_copy(update={"review_key": tmp_path / "other.key"}), at_work=False)
    first.close()


def test_another_old_key_in_the_folder_is_refused(old: Settings, clock: SetClock) -> None:
    with reopened(old, clock):
        pass
    path = old.review_data / "digest.key"
    for planted in (b"p" * 32, b""):
        path.write_bytes(planted)
        with pytest.raises(SettingsError, match=r"digest\.key"):
            open_console(old, clock=clock)


def test_an_old_key_in_the_folder_of_a_record_that_began_keyed_is_not_used(
    settings: Settings, clock: SetClock
) -> None:
    with reopened(settings, clock) as console:
        thread = ask(console, MAIL)
        own = console._secret
    (settings.review_data / "digest.key").write_bytes(b"p" * 32)
    with reopened(settings, clock) as console:
        assert console._secret == own
        decide(console, thread, APPROVE)


def test_a_record_without_a_key_that_is_put_in_the_place_of_one_with_it_is_found(
    settings: Settings, clock: SetClock
) -> None:
    """Even where nothing had been recorded yet, and a console has taken the forged one under its key since."""
    with reopened(settings, clock):
        pass
    ledger = settings.review_data / "ledger.sqlite"
    with closing(sqlite3.connect(ledger)) as conn:
        at, told = "2030-01-01T00:00:00.000000Z", {"text": "I approve everything."}
        committed = events.commitment("salt", told)
        fields = {"seq": 1, "at": at, "kind": "MessageSent", "by": "ana", "data": committed}
        sealed = events.event_hash(events.GENESIS, fields, None)
        conn.execute(
            "INSERT INTO events (seq, at, kind, by, salt, data, commitment, hash) VALUES (1, ?, ?, ?, 'salt', ?, ?, ?)",
            (at, "MessageSent", "ana", json.dumps(told), committed, sealed),
        )
        conn.commit()
    with reopened(settings, clock) as console:
        found = console.trail.verify()
    assert not found.ok
    assert "keyed from event 1 on" in str(found.first_fault)


# Erasing


def test_erased_data_is_gone_from_the_file_and_the_chain_holds(
    settings: Settings, opened: Opened, clock: SetClock
) -> None:
    console = opened.console
    console.stop_all(by="ana")
    ask_for = "the-secret-word"
    with console._ledger.write() as tx:
        tx.append(
            events.UnsealedEvent(
                kind=EventKind.THREAD_NOTED, at=console.queries.now(), by="bob", data={"text": ask_for}
            )
        )
    noted = of_kind(console, EventKind.THREAD_NOTED)[0].seq
    console.trail.erase([noted], by="bea", why="asked for by its author")
    event = console.trail.events(after=noted - 1, limit=1)[0]
    assert (event.data, event.salt, event.by) == (None, "", "bob")
    (told,) = of_kind(console, EventKind.DATA_ERASED)
    assert (told.by, told.data) == ("bea", {"seqs": [noted], "why": "asked for by its author"})
    found = console.trail.verify()
    assert (found.ok, found.masked) == (True, 1)
    assert console.trail.verify(read_json_lines(console.trail.exported())).ok
    opened.close()
    for path in settings.review_data.glob("ledger.sqlite*"):
        assert ask_for.encode() not in path.read_bytes()


def test_what_cannot_be_erased_is_refused_and_nothing_is_recorded(console: Console) -> None:
    console.stop_all(by="ana")
    console.trail.erase([1], by="ana", why="a test")
    refused: list[tuple[list[int], str]] = [
        ([], "x"),
        ([99], "x"),
        ([1], "x"),
        ([2], "x"),
        ([1], " "),
        ([0], "x"),
    ]
    for seqs, why in refused:
        with pytest.raises(ErasureRefused):
            console.trail.erase(seqs, by="ana", why=why)
    assert console.trail.events(newest_first=True, limit=1)[0].seq == 2


# Edits


EDITS: dict[str, str] = {
    "blanked": "UPDATE events SET data = NULL, salt = '' WHERE seq = 2",
    "renamed": "UPDATE events SET by = 'mallory' WHERE seq = 2",
    "removed": "DELETE FROM events WHERE seq > 1",
    "no kind": "UPDATE events SET kind = 'Anything' WHERE seq = 2",
    "no JSON": "UPDATE events SET data = '{' WHERE seq = 2",
    "deep": "UPDATE events SET data = replace(hex(zeroblob(50000)), '00', '[') WHERE seq = 2",
    "no object": "UPDATE events SET data = '[1]' WHERE seq = 2",
    "no hash": "UPDATE events SET hash = 'ü' WHERE seq = 2",
    "no salt": "UPDATE events SET salt = char(55296) WHERE seq = 2",
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_the_record_is_found(settings: Settings, clock: SetClock, edit: str) -> None:
    with reopened(settings, clock) as console:
        ask(console, "/say Hello.")
        assert console.trail.verify().ok
    with closing(sqlite3.connect(settings.review_data / "ledger.sqlite")) as conn:
        for name in ("changed", "removed"):
            conn.execute(f"DROP TRIGGER events_are_not_{name}")
        conn.execute(EDITS[edit])
        conn.commit()
    with reopened(settings, clock) as console:
        found = console.trail.verify()
        assert not found.ok
        assert "vent 2 " in str(found.first_fault)


def test_a_record_whose_first_event_is_none_still_opens_and_says_so(
    settings: Settings, clock: SetClock
) -> None:
    with reopened(settings, clock) as console:
        ask(console, "/say Hello.")
    with closing(sqlite3.connect(settings.review_data / "ledger.sqlite")) as conn:
        conn.execute("DROP TRIGGER events_are_not_changed")
        conn.execute("UPDATE events SET kind = 'Anything', data = '{' WHERE seq = 1")
        conn.commit()
    with reopened(settings, clock) as console:
        assert "Event 1 was edited" in str(console.trail.verify().first_fault)
        assert not of_kind(console, EventKind.CHAIN_KEYED)


def test_a_record_whose_last_hash_was_made_without_the_key_is_not_keyed_a_second_time(
    settings: Settings, clock: SetClock
) -> None:
    with reopened(settings, clock) as console:
        ask(console, "/say Hello.")
    with closing(sqlite3.connect(settings.review_data / "ledger.sqlite")) as conn:
        conn.execute("DROP TRIGGER events_are_not_changed")
        (last,) = conn.execute("SELECT max(seq) FROM events").fetchone()
        seal_again(conn, last)
        conn.commit()
    with reopened(settings, clock) as console:
        assert f"Event {last} " in str(console.trail.verify().first_fault)
        assert not of_kind(console, EventKind.CHAIN_KEYED)


def test_anchors_that_cannot_be_read_are_no_anchors_that_hold(
    settings: Settings, opened: Opened, clock: SetClock
) -> None:
    ask(opened.console, "/say Hello.")
    assert settings.review_anchor
    with settings.review_anchor.open("w") as file:
        file.write("something else\n")
    with pytest.raises(AnchorsUnavailable, match="not an anchor file"):
        opened.console.trail.verify()
