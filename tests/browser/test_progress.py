"""A run as it goes on: followed, left, found again, stopped and gone on with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Browses
from tests.conftest import Server

pytestmark = [pytest.mark.browser, pytest.mark.process]

SLOWLY = "/say " + " ".join(f"word{n}" for n in range(120))


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose model writes as slowly as a person reads."""
    server = Server(tmp_path_factory.mktemp("slow") / "data", REVIEW_DEMO_DELAY="0.1").start()
    yield server
    server.stop()


def test_words_stream_while_the_agent_writes_and_a_reload_loses_none(slow: Server, browses: Browses) -> None:
    tab = browses(slow).open("/chat").say(SLOWLY)
    tab.sees("running").sees("word3")
    expect(tab.page.get_by_text("word119")).to_have_count(1)  # in the request alone
    tab.page.reload()
    tab.sees("running").sees("word9")
    expect(tab.at("message").locator("textarea")).to_be_enabled()
    expect(tab.page.get_by_test_id("stChatMessage").last).to_contain_text("word0 word1")
    expect(tab.page.get_by_test_id("stChatMessage").last).to_contain_text("word119")


def test_a_run_can_be_stopped_and_gone_on_with(slow: Server, browses: Browses) -> None:
    tab = browses(slow).open("/chat")
    tab.say('/slow 6\n/call archive_mail {"message_id": "m-1"}\n/then\n/say All archived')
    tab.press("stop").sees("This turn was stopped.")
    assert slow.get("audit", kind="ExecutionStarted")["events"] == []
    tab.at("retry").get_by_role("button").click(delay=50)
    tab.sees("log: ran without asking")
    expect(tab.page.get_by_test_id("stChatMessage").last).to_contain_text("All archived")
