"""From a request to its effect, through a crash of the server."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Browses, events, outbox, waiting
from tests.conftest import Server, until

pytestmark = [pytest.mark.browser, pytest.mark.process]

MAIL = "Send an e-mail to alice@example.com: The meeting moved to 10."
ARGS = {"to": "alice@example.com", "subject": "The meeting moved to 10", "body": "The meeting moved to 10."}


def test_an_edited_mail_is_sent_once_though_the_server_was_killed_before_the_decision(
    server: Server, browses: Browses
) -> None:
    tab = browses(server).open("/chat").say(MAIL)
    card = tab.at("card")
    for value in ARGS.values():
        expect(card.get_by_text(value, exact=True).first).to_be_visible()
    tab.choose("edit").write("args", json.dumps({**ARGS, "to": "bob@example.com"}))
    tab.sees("What will run")
    server.kill()
    server.start()
    tab.page.reload()
    expect(tab.of("args").locator("textarea")).to_have_value(json.dumps({**ARGS, "to": "bob@example.com"}))
    assert outbox(server) == []
    tab.send()
    until(lambda: outbox(server))
    expect(tab.at("message").locator("textarea")).to_be_enabled()
    assert outbox(server) == ["bob@example.com"]
    (decided,) = events(server, "DecisionMade")
    assert (decided["by"], decided["data"]["type"]) == ("Ana", "edit")


def test_a_page_left_open_finds_its_review_again_after_the_server_was_killed(
    server: Server, browses: Browses
) -> None:
    tab = browses(server).open("/chat").say(MAIL).choose("approve")
    # A browser that is still fetching what draws a field when its server dies has to load the page anew.
    expect(tab.of("typed").locator("input")).to_be_visible()
    with tab.page.expect_websocket():
        server.kill()
        server.start()
    tab.settled().send()
    expect(tab.at("message").locator("textarea")).to_be_enabled()
    assert outbox(server) == ["alice@example.com"]


def test_a_rejection_reaches_the_agent_in_the_persons_words_after_the_server_was_killed(
    server: Server, browses: Browses
) -> None:
    tab = browses(server).open("/chat").say(MAIL)
    expect(tab.at("card")).to_be_visible()
    server.kill()
    server.start()
    tab.page.reload()
    tab.choose("reject").write("reason", "Alice is on leave until May")
    tab.sees("What will be sent to the agent").send()
    expect(tab.at("message").locator("textarea")).to_be_enabled()
    expect(tab.page.get_by_test_id("stChatMessage").last).to_contain_text("Alice is on leave until May")
    assert outbox(server) == []


def test_any_address_can_be_the_first_one_opened_on_a_fresh_server(server: Server, browses: Browses) -> None:
    thread = f"/chat?thread={waiting(server, MAIL)['thread_id']}"
    tab = browses(server)
    for path, seen in {thread: "Approve", "/": "Approve", "/audit": "the agent proposed send_email"}.items():
        server.stop()
        server.start()
        tab.open(path).sees(seen)
