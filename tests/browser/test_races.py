"""Reloads, closed tabs, two tabs, two people: one effect, one record, and everybody is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import Browses, Tab, events, outbox, waiting
from tests.conftest import Server, until

pytestmark = [pytest.mark.browser, pytest.mark.process]


def letter(server: Server, to: str) -> dict[str, Any]:
    args = json.dumps({"to": to, "subject": "s", "body": "b"})
    return waiting(server, f"/call send_email {args}")


def address(review: dict[str, Any]) -> str:
    return f"/?review={review['review_id']}"


def decided(server: Server, review: dict[str, Any]) -> list[dict[str, Any]]:
    return events(server, "DecisionMade", thread_id=review["thread_id"])


@pytest.mark.parametrize("leave", ["reload", "close", "go elsewhere"])
def test_leaving_right_after_sending_neither_loses_nor_repeats_anything(
    shared: Server, browses: Browses, leave: str
) -> None:
    to = f"{leave.replace(' ', '-')}@example.com"
    review = letter(shared, to)
    tab = browses(shared).open(address(review)).choose("approve").press_and_see_it_leave("send")
    match leave:
        case "reload":
            tab.page.reload()
        case "close":
            tab.page.close()
        case _:
            tab.page.goto("about:blank")
    until(lambda: to in outbox(shared))
    browses(shared).open(address(review)).sees("This review is over.")
    assert outbox(shared).count(to) == 1
    assert len(decided(shared, review)) == 1
    assert len(events(shared, "ExecutionStarted", thread_id=review["thread_id"])) == 1


def test_two_tabs_that_send_at_once_make_one_effect_and_the_other_is_told(
    shared: Server, browses: Browses
) -> None:
    review = letter(shared, "twice@example.com")
    one = browses(shared).open(address(review))
    two = browses(shared, "Ben").open(address(review))
    one.choose("approve")
    two.choose("reject")
    for tab in (one, two):
        tab.page.evaluate(
            "() => { const b = document.querySelector(\"[class*='st-key-send-'] button\"); setTimeout(() => b.click(), 0) }"
        )
    until(lambda: decided(shared, review))
    (made,) = decided(shared, review)
    loser = two if made["by"] == "Ana" else one
    told = re.compile(f"(decided|ended) by {made['by']}.*: {made['data']['type']}")
    loser.sees(told)
    meanwhile = letter(shared, "meanwhile@example.com")
    expect(loser.row(meanwhile["review_id"])).to_be_visible()
    # The inbox has drawn itself anew, and what is being read has stayed.
    loser.sees(told)
    until(lambda: shared.get(f"threads/{review['thread_id']}")["status"] == "idle")
    assert outbox(shared).count("twice@example.com") == (made["by"] == "Ana")


def take_name(tab: Tab, name: str) -> None:
    tab.take_name(name)
    until(lambda: "review_name" in {one["name"] for one in tab.page.context.cookies()})


def test_two_people_work_side_by_side_under_their_names(shared: Server, browses: Browses) -> None:
    ana, ben = browses(shared, None).open(), browses(shared, None).open()
    take_name(ana, "Ana")
    take_name(ben, "Ben")
    hers, his, both = (letter(shared, f"{name}@example.com") for name in ("hers", "his", "both"))
    ben.open(address(both)).choose("edit")
    ben.write("args", json.dumps({"to": "bens@example.com", "subject": "s", "body": "b"}))
    ben.sees("What will run")
    ana.open(address(both)).choose("approve").send()
    ben.sees("This review is over.").sees(re.compile("ended by Ana: approve"))
    ben.sees("Your draft on it is kept.")
    ana.open(address(hers)).choose("approve").send()
    ben.open(address(his)).choose("approve").send()
    until(lambda: {"hers@example.com", "his@example.com"} <= set(outbox(shared)))
    assert [decided(shared, one)[0]["by"] for one in (hers, his, both)] == ["Ana", "Ben", "Ana"]
    assert "bens@example.com" not in outbox(shared)
    for tab, name in ((ana, "Ana"), (ben, "Ben")):
        tab.page.reload()
        tab.sees(f"You are {name} (unverified)")


def test_a_draft_of_one_is_not_touched_by_the_decision_on_another_review(
    shared: Server, browses: Browses
) -> None:
    review, other = letter(shared, "kept@example.com"), letter(shared, "other@example.com")
    ben = browses(shared, "Ben").open(address(review)).choose("reject")
    area = ben.of("reason").locator("textarea")
    area.fill("I am still writing th")
    ana = browses(shared).open(address(other)).choose("approve").send()
    ana.sees(re.compile("Done today"))
    expect(ben.row(other["review_id"])).to_have_count(0)
    expect(area).to_have_value("I am still writing th")
    expect(area).to_be_focused()


def test_a_name_with_odd_letters_is_known_again_when_the_browser_is_started_anew(
    shared: Server, browses: Browses, contexts: Callable[..., BrowserContext]
) -> None:
    before = browses(shared, None).open()
    take_name(before, 'Zoë; 李=雷 "%41"')
    # What has no end of its own is gone with the browser.
    kept: list[Any] = [one for one in before.page.context.cookies() if one["expires"] > 0]
    anew = contexts()
    anew.add_cookies(kept)
    Tab(anew.new_page(), shared).open().sees('You are Zoë; 李=雷 "%41" (unverified)')
