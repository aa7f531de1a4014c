"""Testers' notes on the Chat page, and threads by what was noted on them."""

from __future__ import annotations

from agent.console import Console
from pages.parts.state import widget_keys
from tests.conftest import ask
from tests.pages.conftest import Opens


def test_a_note_is_saved_and_shown_as_it_is(opens: Opens, console: Console) -> None:
    thread_id = ask(console, "/say Hello")
    screen = opens("chat", reviewer="ben", thread=thread_id)
    screen.at.button_group(key=widget_keys.key("note-verdict", thread_id)).set_value("fail")
    screen.at.text_area(key=widget_keys.key("note-text", thread_id)).set_value(
        "It **said** ![x](https://t.example/x.png)"
    )
    screen.at.text_input(key=widget_keys.key("note-link", thread_id)).set_value("https://tracker.example/7")
    screen.run().click("note-save")
    (note,) = console.notes.of(thread_id)
    assert (note.by, str(note.verdict)) == ("ben", "fail")
    assert any("It **said** ![x]" in one.value for one in screen.at.text)
    assert any("https://tracker.example/7" in one.value for one in screen.at.text)
    assert screen.at.text_area(key=widget_keys.key("note-text", thread_id)).value == ""


def test_a_note_without_a_verdict_or_with_a_bad_link_is_refused(opens: Opens, console: Console) -> None:
    thread_id = ask(console, "/say Hello")
    screen = opens("chat", thread=thread_id).click("note-save")
    assert "Choose pass, fail or unsure" in screen.said()
    screen.at.button_group(key=widget_keys.key("note-verdict", thread_id)).set_value("pass")
    screen.at.text_input(key=widget_keys.key("note-link", thread_id)).set_value("javascript:alert(1)")
    screen.run().click("note-save")
    assert "not a web address" in screen.said()
    assert console.notes.of(thread_id) == []


def test_threads_are_found_by_their_last_verdict(opens: Opens, console: Console) -> None:
    bad, good, neither = (ask(console, f"/say {n}") for n in range(3))
    console.notes.add(bad, by="ana", verdict="fail")
    console.notes.add(good, by="ana", verdict="fail")
    console.notes.add(good, by="ana", verdict="pass")
    screen = opens("chat")
    for chosen, expected in (("fail", bad), ("pass", good), ("no note", neither)):
        screen.at.radio(key="by-note").set_value(chosen)
        screen.run()
        there = [one for one in (bad, good, neither) if screen.has(widget_keys.key("open", one))]
        assert there == [expected]


def test_a_thread_can_be_taken_along_as_html_and_as_json(opens: Opens, console: Console) -> None:
    screen = opens("chat", thread=ask(console, "/say Hello"))
    assert screen.has("export-html")
    assert screen.has("export-json")
