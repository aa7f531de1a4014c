"""A tester's note: on the thread, on record, and without any effect on how the thread stands."""

from __future__ import annotations

import pytest

from agent.console import Console
from agent.review.errors import InvalidNote, UnknownThread
from agent.review.events import EventKind
from agent.review.notes import NoteVerdict
from tests.conftest import ask


def test_a_note_says_who_and_when_and_is_on_record(console: Console) -> None:
    thread_id = ask(console, "/say Hello")
    before = console.queries.view(thread_id)
    made = console.notes.add(thread_id, by="ben", verdict="fail", text=" no ", link=" https://t.example/1 ")
    assert (made.verdict, made.text, made.link, made.by) == (
        NoteVerdict.FAIL,
        "no",
        "https://t.example/1",
        "ben",
    )
    assert made.at == console.queries.now()
    assert console.notes.of(thread_id) == [made]
    assert console.queries.view(thread_id) == before
    (event,) = console.trail.events(thread_id=thread_id, kind=EventKind.THREAD_NOTED)
    assert (event.by, event.data) == ("ben", {"verdict": "fail", "text": "no", "link": "https://t.example/1"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"verdict": "good"}, "no verdict"),
        ({"verdict": "pass", "text": "x" * 10_001}, "Shorten it"),
        ({"verdict": "pass", "text": "\ud800"}, "surrogate"),
        ({"verdict": "pass", "link": "javascript:alert(1)"}, "not a web address"),
        ({"verdict": "pass", "link": "https://"}, "not a web address"),
        ({"verdict": "pass", "link": "https://bank.example@evil.example/"}, "not a web address"),
        ({"verdict": "pass", "link": "https://a.example/\u202egpj"}, "not a web address"),
        ({"verdict": "pass", "link": "http://[1"}, "not a web address"),
    ],
)
def test_what_is_no_note_is_refused_with_a_remedy(console: Console, given: dict[str, str], said: str) -> None:
    thread_id = ask(console, "/say Hello")
    with pytest.raises(InvalidNote, match=said):
        console.notes.add(thread_id, by="ben", **given)
    assert console.notes.of(thread_id) == []


def test_a_note_on_no_thread_is_refused(console: Console) -> None:
    with pytest.raises(UnknownThread):
        console.notes.add("nowhere", by="ben", verdict="pass")
