"""The record on screen and as files."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest

from agent.bootstrap import Opened
from agent.console import Console
from agent.console.trail import Trail
from agent.review.actions import Review
from agent.review.events import GENESIS, Event, EventKind, UnsealedEvent, seal
from agent.review.exports import COLUMNS, as_csv, as_json_lines, read_json_lines
from agent.review.verify_chain import verify
from agent.settings import Settings
from tests.conftest import ask, start_deciding, waiting
from tests.pages.conftest import MAIL, Opens, Screen, calls, ended, of

MAIL_CALL = 'send_email {"to": "alice@example.com", "subject": "Hello", "body": "At 10."}'

KEY = b"k" * 32


def rows(screen: Screen) -> list[int]:
    """The numbers of the events listed, from top to bottom."""
    return [int(name) for name, *_ in screen.rows("events")]


def row(screen: Screen, event: Event) -> str:
    """The two lines of an event's row."""
    (found,) = ("\n".join(lines) for name, *lines in screen.rows("events") if name == str(event.seq))
    return found


def test_an_empty_record_says_so(opens: Opens) -> None:
    assert "Nothing has happened yet." in opens("audit").said()


def test_events_stand_newest_first(opens: Opens, console: Console, mail: Review) -> None:
    listed = rows(opens("audit"))
    assert listed == sorted(listed, reverse=True)
    assert listed[-1] == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("thread_id", "t1"),
        ("by", "ben"),
        ("agent", "operations"),
        ("tool", "write_file"),
        ("kind", "MessageSent"),
    ],
)
def test_the_record_is_narrowed_by_the_address(opens: Opens, console: Console, name: str, value: str) -> None:
    ask(console, MAIL)
    call = '/call write_file {"path": "a", "content": "b"}'
    assert console.wait(console.send(call, by="ben", thread_id="t1", agent="operations"), 30)
    expected = [e.seq for e in console.trail.events() if str(getattr(e, name)) == value]
    assert expected
    assert rows(opens("audit", **{name: value})) == expected[::-1]


def test_a_filter_without_a_match_says_so(opens: Opens, mail: Review) -> None:
    assert "No event matches." in opens("audit", thread_id="nowhere").said()


def test_older_events_are_a_page_away(opens: Opens, console: Console) -> None:
    for _ in range(13):
        ask(console, "/say Hello")
    screen = opens("audit")
    total = console.trail.verify().count
    assert rows(screen) == list(range(total, total - 50, -1))
    screen.click("older")
    assert rows(screen) == list(range(total - 50, 0, -1))
    screen.click("newest")
    assert rows(screen)[0] == total


def test_an_event_opens_in_full(opens: Opens, console: Console, mail: Review) -> None:
    args = {**(mail.actions[0].args or {}), "to": "bob@example.com"}
    decision = [{"type": "edit", "edited_action": {"name": "send_email", "args": args}}]
    assert console.wait(start_deciding(console, mail.thread_id, decision, by="ben"), 30)
    (event,) = console.trail.events(kind=EventKind.DECISION_MADE)
    said = opens("audit").pick("events", str(event.seq)).said()
    assert "to\n  alice@example.com\n→ bob@example.com" in said
    assert event.hash in said
    assert event.commitment in said
    assert mail.thread_id in said


def test_the_filter_speaks_as_the_rows_do_and_the_address_carries_the_kind(
    opens: Opens, console: Console, mail: Review
) -> None:
    screen = opens("audit")
    picked = screen.at.selectbox(key="chosen-kind")
    assert "the agent proposed" in picked.options
    picked.set_value(EventKind.ACTION_PROPOSED)
    screen.run()
    (event,) = console.trail.events(kind=EventKind.ACTION_PROPOSED)
    assert screen.at.query_params["kind"] in ("ActionProposed", ["ActionProposed"])
    assert rows(screen) == [event.seq]
    assert "the agent proposed send_email" in row(screen, event)


def test_a_kind_that_there_is_not_narrows_nothing(opens: Opens, mail: Review) -> None:
    assert rows(opens("audit", kind="Nothing")) == rows(opens("audit"))


def test_one_click_leaves_the_decisions_only_and_another_brings_all_back(
    opens: Opens, console: Console, mail: Review
) -> None:
    opens().approve(mail).send(mail)
    screen = opens("audit", before="3").click("decisions")
    assert rows(screen) == [event.seq for event in console.trail.events(kind=EventKind.DECISION_MADE)]
    assert len(rows(screen.click("everything"))) == console.trail.verify().count


def test_rows_tell_what_it_was_done_to_without_secrets(opens: Opens, console: Console) -> None:
    key = "sk-proj-abcdefghijklmnop1234567890"
    ask(
        console,
        calls('archive_mail {"message_id": "m-1"}', "wipe_mailbox {}", f'search_mail {{"text": "{key}"}}'),
    )
    screen = opens("audit")
    archived, searched = (
        console.trail.events(kind=EventKind.EXECUTION_FINISHED, tool=tool)[0]
        for tool in ("archive_mail", "search_mail")
    )
    assert "execution finished archive_mail  m-1" in row(screen, archived)
    assert "search_mail  sk-p…[" in row(screen, searched)
    assert key not in screen.said()


def test_an_event_without_arguments_of_its_own_is_told_apart_by_those_of_its_action(
    opens: Opens, console: Console, mail: Review
) -> None:
    ask(console, '/call archive_mail {"message_id": "m-1"}')
    (ran,) = console.queries.ran_without_asking()
    console.given.look_over(ran.key, by="ben")
    (event,) = console.trail.events(kind=EventKind.ACTION_LOOKED_OVER)
    assert "ben · looked it over archive_mail  m-1" in row(opens("audit"), event)


def test_who_approved_is_told_apart_from_what_the_console_ran(opens: Opens, console: Console) -> None:
    thread_id = ask(console, calls('archive_mail {"message_id": "m-1"}', MAIL_CALL))
    (mail,) = console.queries.view(thread_id).reviews
    opens(reviewer="ben").approve(mail).send(mail)
    ended(console, mail.thread_id)
    screen = opens("audit")
    (sent,) = console.trail.events(kind=EventKind.EXECUTION_FINISHED, tool="send_email")
    (archived,) = console.trail.events(kind=EventKind.EXECUTION_FINISHED, tool="archive_mail")
    (decided,) = console.trail.events(kind=EventKind.DECISION_MADE)
    (proposed,) = console.trail.events(kind=EventKind.ACTION_PROPOSED, tool="send_email")
    assert row(screen, decided).startswith("ben · decided: approve send_email  alice@example.com")
    assert row(screen, sent).startswith("execution finished send_email  alice@example.com")
    assert row(screen, sent).endswith("· approved by ben")
    assert row(screen, archived).endswith("· without asking")
    assert row(screen, proposed).startswith("the agent proposed send_email")
    assert row(screen, proposed).endswith("· in a run started by ana")


def test_a_call_that_a_rule_let_run_is_told_with_the_rule(opens: Opens, console: Console) -> None:
    note = '/call#w write_file {"path": "notes/today.txt", "content": "Buy stamps."}'
    thread_id = ask(console, note, agent="operations")
    (review,) = console.queries.queue()
    rule = console.rules.make(
        thread_id,
        "w",
        free=[],
        scope="agent",
        lasting="15 minutes",
        by="ben",
        shown_digest=review.actions[0].shown_digest,
        zone=UTC,
    )
    ask(console, note, agent="operations")
    (ran,) = console.trail.events(kind=EventKind.EXECUTION_FINISHED)
    assert row(opens("audit"), ran).endswith(f"· allowed by rule {rule.rule_id}")


def test_a_later_call_under_the_same_id_does_not_lend_its_approval(
    opens: Opens, page_console: Opened
) -> None:
    console = page_console.console
    thread_id = ask(console, '/call#x archive_mail {"message_id": "m-1"}')
    first = waiting(console, ask(console, f"/call#x {MAIL_CALL}", thread_id=thread_id))
    opens(reviewer="ben").approve(first).send(first)
    ended(console, thread_id)
    (archived,) = console.trail.events(kind=EventKind.EXECUTION_FINISHED, tool="archive_mail")
    assert "ben" not in row(opens("audit"), archived)


def test_an_opened_event_says_reason_and_arguments_in_words_before_its_data(
    opens: Opens, console: Console, mail: Review
) -> None:
    decision = [{"type": "reject", "message": "Alice is away until May."}]
    assert console.wait(start_deciding(console, mail.thread_id, decision, by="ben"), 30)
    (event,) = console.trail.events(kind=EventKind.DECISION_MADE)
    screen = opens("audit", event=str(event.seq))
    shown = [str(node.value) for node in screen.nodes() if node.type == "code"]
    as_kept = next(place for place, text in enumerate(shown) if text.startswith("{"))
    assert "Alice is away until May." in shown[:as_kept]
    assert "alice@example.com" in screen.texts("code")
    order = [node.key if node.key == "event-args" else getattr(node, "value", "") for node in screen.nodes()]
    assert order.index("event-args") < order.index(shown[as_kept])


def test_the_page_says_what_it_is_and_what_a_check_finds(opens: Opens) -> None:
    screen = opens("audit")
    assert [one.value for one in screen.at.subheader] == ["The record"]
    assert "finds any line that was changed, removed or slipped in" in screen.said()


def test_what_ran_and_was_not_decided_has_a_red_flag(
    opens: Opens, page_console: Opened, mail: Review
) -> None:
    (action,) = mail.actions
    proposed = page_console.console.trail.events(kind=EventKind.ACTION_PROPOSED)[0]
    assert "without a person's approval" not in opens("audit", event=str(proposed.seq)).said()
    started = UnsealedEvent(
        kind=EventKind.EXECUTION_STARTED,
        at=proposed.at,
        thread_id=mail.thread_id,
        tool_call_id=action.key.tool_call_id,
        tool=action.tool,
        digest=action.call_digest,
        data={"args": action.args},
    )
    with page_console.console._ledger.write() as tx:
        tx.append(started)
    assert "without a person's approval" in opens("audit", event=str(proposed.seq)).said()


def test_an_event_leads_to_its_thread(opens: Opens, mail: Review) -> None:
    screen = opens("audit", event="1").click("event-thread")
    assert screen.has(of("approve", mail))


@pytest.mark.parametrize("number", ["0", "999", "-1", "x", "1.5", "9" * 30, "٣", ""])
def test_an_address_of_no_event_opens_none(opens: Opens, mail: Review, number: str) -> None:
    screen = opens("audit", event=number)
    assert rows(screen)
    assert number == "٣" or not screen.has("event-thread")


@pytest.mark.parametrize("cursor", ["0", "-1", "x", "9" * 30])
def test_a_wrong_page_of_the_record_is_no_error(opens: Opens, mail: Review, cursor: str) -> None:
    opens("audit", before=cursor)


def test_the_chain_is_checked_on_demand(opens: Opens, console: Console, mail: Review) -> None:
    screen = opens("audit")
    assert "not checked yet" in screen.said()
    assert f"{console.trail.verify().count} events, chain intact" in screen.click("verify").said()


@pytest.mark.parametrize(
    ("other", "said"),
    [("", "chain intact"), ("f", "written again"), ("half", "not a line to check against")],
)
def test_the_chain_is_checked_against_a_line_kept_elsewhere(
    opens: Opens, console: Console, mail: Review, other: str, said: str
) -> None:
    screen = opens("audit")
    head = console.trail.head()
    assert head is not None
    assert str(head) in screen.said()
    line = str(replace(head, head=other * 64 or head.head)) if len(other) < 2 else other
    screen.at.text_input(key="kept-anchor").set_value(line)
    assert said in screen.click("verify-kept").said()


def test_anchors_that_cannot_be_read_are_said_and_nothing_is_called_intact(
    opens: Opens, own_settings: Settings, mail: Review
) -> None:
    Path(str(own_settings.review_anchor)).write_bytes(b"no anchors at all")
    said = opens("audit").click("verify").said()
    assert "it is not an anchor file" in said
    assert "chain intact" not in said


def test_events_from_before_the_record_had_a_key_are_said(
    opens: Opens, console: Console, mail: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = replace(console.trail.verify(), unkeyed=3)
    monkeypatch.setattr(Trail, "verify", lambda *_, **__: found)
    assert "The first 3 events are from before the record had a key" in opens("audit").click("verify").said()


@pytest.mark.parametrize(
    ("tampered", "fault"),
    [
        ("UPDATE events SET by = 'eve' WHERE seq = 2", "Event 2 was edited"),
        ("DELETE FROM events WHERE seq = 3", "Event 3 is missing"),
    ],
)
def test_a_record_that_was_tampered_with_is_found(
    opens: Opens, page_console: Opened, mail: Review, tampered: str, fault: str
) -> None:
    tamper(page_console, tampered)
    said = opens("audit").click("verify").said()
    assert "the chain is broken" in said
    assert fault in said


def tamper(opened: Opened, statement: str) -> None:
    """As one with the file in hand would: past the triggers that keep the table append-only."""
    with sqlite3.connect(opened.settings.review_data / "ledger.sqlite") as ledger:
        triggers = ledger.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            ledger.execute(f"DROP TRIGGER {name}")
        assert ledger.execute(statement).rowcount == 1
    ledger.close()


@pytest.fixture
def events(opens: Opens, console: Console, mail: Review) -> list[Event]:
    opens().approve(mail).send(mail)
    return list(console.trail.whole())


def test_the_jsonl_export_loses_nothing_and_verifies_again(events: list[Event], console: Console) -> None:
    again = list(read_json_lines(as_json_lines(events, KEY)))
    assert again == events
    assert console.trail.verify(again).ok


def test_the_jsonl_export_keeps_one_event_to_a_line_whatever_is_in_it(events: list[Event]) -> None:
    odd = replace(events[1], data={"text": "one\ntwo\r\u2028three\u0085\x0b\x0c\x1c"})
    text = "".join(as_json_lines([odd, odd], KEY))
    assert text.count("\n") == 2
    assert [json.loads(line)["data"] for line in text.split("\n")[:-1]] == [odd.data, odd.data]


def test_a_secret_is_masked_in_exports_and_the_chain_still_verifies() -> None:
    key = "sk-proj-abcdefghijklmnop1234567890"
    fact = UnsealedEvent(
        kind=EventKind.MESSAGE_SENT, at="2030-01-01T00:00:00.000000Z", data={"text": f"use {key}"}
    )
    event = seal(fact, seq=1, previous=GENESIS, salt="0", key=KEY)
    lines = list(as_json_lines([event], KEY))
    assert key not in lines[0]
    assert key not in "".join(as_csv([event]))
    found = verify(read_json_lines(lines), key=KEY)
    assert (found.ok, found.masked) == (True, 1)
    assert key in "".join(as_json_lines([event], KEY, values=True))


def test_masked_data_that_was_changed_in_an_export_is_found() -> None:
    at = "2030-01-01T00:00:00.000000Z"
    data = {"text": "use sk-proj-abcdefghijklmnop1234567890", "approved": False}
    event = seal(
        UnsealedEvent(kind=EventKind.MESSAGE_SENT, at=at, data=data),
        seq=1,
        previous=GENESIS,
        salt="0",
        key=KEY,
    )
    (line,) = as_json_lines([event], KEY)
    told = json.loads(line)
    told["masked_data"]["approved"] = True
    assert "masked data" in (verify(read_json_lines([json.dumps(told)]), key=KEY).first_fault or "")
    del told["masked_seal"]
    assert not verify(read_json_lines([json.dumps(told)]), key=KEY).ok
    del told["masked_data"]
    assert "its data is gone" in (verify(read_json_lines([json.dumps(told)]), key=KEY).first_fault or "")


def table(events: list[Event]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(as_csv(events)).removeprefix("\ufeff"))))


def test_the_csv_export_begins_with_the_mark_that_makes_a_spreadsheet_read_utf8(events: list[Event]) -> None:
    assert "".join(as_csv(events)).startswith('\ufeff"seq",')


def test_the_csv_export_has_a_row_for_each_event(events: list[Event]) -> None:
    found = table(events)
    assert [row["seq"] for row in found] == [str(event.seq) for event in events]
    assert list(found[0]) == list(COLUMNS)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "＝", "＋", "－", "＠"])
@pytest.mark.parametrize(
    "space", ["", " ", "  ", "\t", "\r", "\n", "\r\n", "\u00a0", "\u3000", "\ufeff", "\u200b"]
)
def test_no_cell_of_the_csv_export_can_be_taken_for_a_formula(space: str, start: str) -> None:
    cell = f"{space}{start}HYPERLINK(1)"
    at = "2030-01-01T00:00:00.000000Z"
    fact = UnsealedEvent(kind=EventKind.MESSAGE_SENT, at=at, thread_id=cell, agent=cell, by=cell, tool=cell)
    (row,) = table([seal(fact, seq=1, previous=GENESIS, salt="0", key=KEY)])
    for name in ("by", "tool", "thread_id", "agent"):
        assert row[name] == f"'{cell}"


def test_a_cell_cannot_be_split_into_a_formula_by_another_separator(events: list[Event]) -> None:
    text = "".join(as_csv([replace(events[0], by="a;=1+1\t=1+1")]))
    assert '"a;=1+1\t=1+1"' in text


def test_ordinary_cells_of_the_csv_export_are_left_as_they_are(events: list[Event]) -> None:
    found = table(events)
    assert {row["agent"] for row in found} == {"mail"}
    assert [row["hash"] for row in found] == [event.hash for event in events]
