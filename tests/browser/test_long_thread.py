"""A thread that is longer than anybody can read at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from agent.bootstrap import open_console
from agent.review.threads import Message
from tests.browser.conftest import Browses
from tests.conftest import Server, ask
from tests.forked import ROOT
from tests.own_settings import OwnSettings

pytestmark = [pytest.mark.browser, pytest.mark.process]


def test_two_thousand_messages_open_at_their_end_and_go_back_page_by_page(
    tmp_path: Path, browses: Browses
) -> None:
    server = Server(tmp_path / "data")
    fill(server.data, 2_000)
    server.start()
    try:
        tab = browses(server).open("/chat?thread=long").sees("message 1999.")
        messages = tab.page.get_by_test_id("stChatMessage")
        expect(messages).to_have_count(50)
        # By keyboard: the page still scrolls to its end, and would move from under the mouse.
        tab.settled().of("earlier").get_by_role("button").press("Enter")
        expect(messages).to_have_count(100)
        tab.say("/say Still here")
        expect(messages.last).to_contain_text("Still here")
    finally:
        server.stop()


def fill(data: Path, length: int) -> None:
    """Put a thread of that many messages into the record of a console that is not running."""
    kept = OwnSettings(
        review_data=data,
        review_anchor=data.parent / "anchors.jsonl",
        review_agents=ROOT / "langgraph.json",
    )
    opened = open_console(kept)
    try:
        ask(opened.console, "/say message 0.", thread_id="long")
        said = [Message(f"m{n}", "human" if n % 2 else "ai", f"message {n}.") for n in range(2, length)]
        with opened.console._ledger.write() as tx:
            tx.put_messages("long", said, opened.console.queries.now())
    finally:
        opened.close()
