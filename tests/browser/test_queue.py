"""A queue worked through by keyboard and mouse, every effect checked in the world's own database."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Browses, Tab, again, events, outbox, shown_within, waiting, world
from tests.conftest import Server, until

pytestmark = [pytest.mark.browser, pytest.mark.process]

KEYS = {"approve": "a", "edit": "e", "reject": "d", "respond": "m"}


@dataclass(frozen=True)
class Work:
    """One review to be put into the queue, and how to decide each of its actions."""

    calls: tuple[str, ...]
    kinds: tuple[str, ...]
    typed: str = ""
    agent: str = "operations"


def mail(to: str) -> str:
    return "send_email " + json.dumps({"to": to, "subject": "s", "body": "b"})


def file(path: str, content: str = "x") -> str:
    return "write_file " + json.dumps({"path": path, "content": content})


def note(text: str) -> str:
    return "execute_sql " + json.dumps({"query": f"INSERT INTO notes (text) VALUES ('{text}')"})


ROTATE = 'rotate_keys {"service": "billing"}'
ASK = 'ask_user {"question": "Which report?"}'
ANSWER = "The one of May"
WHY = "not this one"

QUEUE = (
    Work((mail("one@example.com"),), ("approve",), agent="mail"),
    Work((mail("two@example.com"),), ("reject",), WHY, agent="mail"),
    Work((mail("three@example.com"),), ("edit",), mail("edited@example.com").partition(" ")[2], agent="mail"),
    Work((file("c.txt"),), ("edit",), file("c2.txt", "y").partition(" ")[2]),
    Work((ASK, file("g.txt")), ("respond", "approve"), ANSWER),
    Work((ASK,), ("respond",), ANSWER),
    Work((file("d.txt"), note("dropped"), file("f.txt")), ("approve", "reject", "approve"), WHY),
    Work(('remove_file {"path": "d.txt"}',), ("approve",)),
    Work((ROTATE, note("kept")), ("approve", "approve")),
    Work((mail("batch1@example.com"), mail("batch2@example.com")), ("approve", "approve"), agent="mail"),
)
"""Every other one is decided by keyboard, the rest by mouse."""
FIELD = {"edit": "args", "reject": "reason", "respond": "reply"}


@pytest.fixture(scope="module")
def queue(shared: Server) -> list[dict[str, Any]]:
    """The reviews of `QUEUE`, waiting."""
    return [
        waiting(shared, "\n".join(f"/call {call}" for call in work.calls), agent=work.agent) for work in QUEUE
    ]


def press(tab: Tab, key: str) -> None:
    """A letter, pressed with nothing in focus."""
    tab.page.evaluate("document.activeElement && document.activeElement.blur()")
    tab.page.keyboard.press(key)


def choose(tab: Tab, button: Locator, key: str) -> None:
    """By its key where one is given, else by the mouse."""
    tab.settled()
    if key:
        press(tab, key)
    else:
        button.click(delay=50)


def decide(tab: Tab, review: dict[str, Any], work: Work, *, by_keyboard: bool) -> None:
    tab.sees_review(review["review_id"])
    ids = [one["tool_call_id"] for one in review["action_requests"]]
    for place, (call, kind) in enumerate(zip(ids, work.kinds, strict=True)):
        button = tab.at(f"{kind}:{review['review_id']}:{call}").get_by_role("button")
        expect(button).to_be_visible()
        taken = button.and_(tab.page.locator("[kind=primary]"))
        # Approving goes on to the next action by itself.
        onward = tab.at("card").get_by_text(f"{place + 2} of {len(ids)}", exact=True)
        effect = onward.or_(taken)
        again(
            partial(choose, tab, button, KEYS[kind] if by_keyboard else ""),
            partial(shown_within, effect),
        )
        if kind in FIELD:
            area = tab.at(f"{FIELD[kind]}:{review['review_id']}:{call}").locator("textarea")
            area.fill(work.typed)
            area.press("Tab")
        if kind != "approve" and place + 1 < len(ids):
            expect(tab.at(f"undo:{review['review_id']}:{call}")).to_be_visible()
            tab.settled().of(f"step-{review['review_id']}").get_by_role("radio").nth(place + 1).click(
                delay=50
            )
        if kind == "edit":
            tab.sees("What will run")  # an edit is sent as it was shown, or not at all
        tab.type_again()
    send = tab.at(f"send:{review['review_id']}").get_by_role("button")
    expect(send).to_be_enabled()
    # What is sent in the first moments of a card is refused, and sent again.
    again(
        lambda: choose(tab, send, "Control+Enter" if by_keyboard else ""),
        lambda bound: expect(send).to_have_count(0, timeout=bound),
    )


def counts(tab: Tab, waiting: int) -> None:
    expect(tab.page).to_have_title(f"({waiting}) Review console" if waiting else "Review console")
    expect(tab.page.get_by_role("link", name="Inbox")).to_have_text(
        f"inboxInbox · {waiting}" if waiting else "inboxInbox"
    )


def test_letters_walk_the_queue_and_choose_without_sending(
    shared: Server, browses: Browses, queue: list[dict[str, Any]]
) -> None:
    ids = [one["review_id"] for one in queue]
    tab = browses(shared).open().sees_review(ids[0])
    for key, shown in (("j", 1), ("j", 2), ("k", 1), ("x", 2), ("k", 1), ("k", 0)):
        press(tab, key)
        tab.sees_review(ids[shown])
    press(tab, "a")
    expect(tab.chosen("approve")).to_be_visible()
    press(tab, "Escape")
    expect(tab.chosen("approve")).to_have_count(0)
    press(tab, "d")
    expect(tab.chosen("reject")).to_be_visible()
    tab.of("reason").locator("textarea").press_sequentially("jade axe")
    expect(tab.of("reason").locator("textarea")).to_have_value("jade axe")
    tab.sees_review(ids[0]).press("undo")
    expect(tab.chosen("reject")).to_have_count(0)
    assert events(shared, "DecisionMade") == []


def test_the_whole_queue_is_worked_through_and_each_decision_has_its_effect(
    shared: Server, browses: Browses, queue: list[dict[str, Any]]
) -> None:
    versions = world(shared, "SELECT version FROM service_keys WHERE service = 'billing'")
    tab = browses(shared).open()
    counts(tab, len(queue))
    for place, (review, work) in enumerate(zip(queue, QUEUE, strict=True)):
        decide(tab, review, work, by_keyboard=place % 2 == 0)
        counts(tab, len(queue) - place - 1)
    tab.sees("Nothing waits for a decision.")
    until(lambda: shared.get("health")["runs"] == 0)
    sent = ["one", "edited", "batch1", "batch2"]
    assert outbox(shared) == [f"{name}@example.com" for name in sent]
    files = dict(world(shared, "SELECT path, content FROM files"))
    mine = {path: files[path] for path in files if len(path) in (5, 6) and path.endswith(".txt")}
    assert mine == {"c2.txt": "y", "f.txt": "x", "g.txt": "x"}
    texts = [text for (text,) in world(shared, "SELECT text FROM notes")]
    assert [texts.count(text) for text in ("kept", "dropped")] == [1, 0]
    assert world(shared, "SELECT version FROM service_keys WHERE service = 'billing'") == [
        (versions[0][0] + 1,)
    ]
    results = [
        action["result"]
        for review in queue
        for action in shared.get(f"threads/{review['thread_id']}")["actions"]
        if action["name"] == "ask_user"
    ]
    assert results == [ANSWER, ANSWER]
    assert len(events(shared, "DecisionMade", limit=1000)) == sum(len(work.kinds) for work in QUEUE)


def test_a_page_that_shows_no_review_counts_what_starts_to_wait_meanwhile(
    server: Server, browses: Browses
) -> None:
    tab = browses(server).open("/audit")
    counts(tab, 0)
    for count in (1, 2):
        waiting(server, f"/call {mail('a@example.com')}")
        counts(tab, count)
