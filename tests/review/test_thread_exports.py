"""A thread as one file: literal text, nothing that runs or is fetched, no secret."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from agent.console import Console
from agent.review.errors import UnknownThread
from agent.review.text.deception import visible
from agent.review.thread_exports import as_html, as_json
from tests.conftest import ask, decide

HOSTILE = (
    "</pre><script>alert('run')</script><img src=https://tracker.example/x.png onerror=alert(1)>"
    '"><style>@import url(//t.example)</style>&lt;b&gt; \u202egpj\u202c\u200b **bold** ![x](https://t.example)'
)
SECRET = "sk-" + "a1" * 16
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "pre", "section"),
    *("table", "tr", "td", "th"),
}


class Read(HTMLParser):
    """What a browser makes of the file."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(sorted(name for name, _ in attrs))))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def thread_id(console: Console) -> str:
    args = json.dumps({"to": "a@b.example", "subject": HOSTILE, "body": f"the key is {SECRET}"})
    found = ask(console, f"/say {HOSTILE}\n/call send_email {args}")
    decide(console, found, {"type": "reject", "message": HOSTILE}, by="<b>ana</b>")
    console.notes.add(found, by="<i>ben</i>", verdict="fail", text=HOSTILE, link="https://t.example/<script>")
    return found


def test_the_html_holds_everything_as_text_and_nothing_else(console: Console, thread_id: str) -> None:
    text = as_html(console.queries.whole_thread(thread_id))
    read = Read(text)
    assert {tag for tag, _ in read.tags} <= TAGS
    with_attributes = {attributes for _, attributes in read.tags if attributes}
    assert with_attributes == {("lang",), ("charset",), ("content", "http-equiv")}
    assert read.text.count(visible(HOSTILE)) >= 3
    assert "<b>ana</b>" in read.text
    assert "<i>ben</i>" in read.text
    assert "\u202e" not in text


def test_the_json_holds_everything_there_is(console: Console, thread_id: str) -> None:
    found = json.loads(as_json(console.queries.whole_thread(thread_id)))
    assert found["thread"]["thread_id"] == thread_id
    assert [one["type"] for one in found["messages"]] == ["human", "ai", "tool", "ai"]
    assert found["actions"][0]["state"] == "rejected"
    assert found["actions"][0]["args"]["subject"] == HOSTILE
    assert found["notes"][0]["text"] == HOSTILE
    kinds = [one["kind"] for one in found["events"]]
    assert kinds == [str(event.kind) for event in console.trail.events(thread_id=thread_id)]
    assert not any({"salt", "commitment"} & event.keys() for event in found["events"])


def test_no_secret_leaves_in_either(console: Console, thread_id: str) -> None:
    whole = console.queries.whole_thread(thread_id)
    assert any(SECRET in message.content for message in whole.messages)
    for text in (as_json(whole), as_html(whole)):
        assert SECRET not in text
        assert "characters masked" in text


def test_a_thread_that_is_not_there_is_refused(console: Console) -> None:
    with pytest.raises(UnknownThread):
        console.queries.whole_thread("nowhere")


def test_a_thread_whose_actions_ran_is_exported_with_what_their_agent_got(console: Console) -> None:
    args = json.dumps({"to": "a@b.example", "subject": "s", "body": "b"})
    thread_id = ask(console, f"/call send_email {args}")
    decide(console, thread_id, {"type": "approve"})
    (action,) = json.loads(as_json(console.queries.whole_thread(thread_id)))["actions"]
    assert (action["state"], action["returned"]) == ("done", None)
    assert "a@b.example" in action["result"]
