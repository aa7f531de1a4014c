"""The card where only a browser can tell: what is in view, what the keys reach, and what the JSON field keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Browses, Tab, again, events, outbox, waiting
from tests.conftest import Server, until

pytestmark = [pytest.mark.browser, pytest.mark.process]

WORDS = "naa, what a mess, next: jade"  # letters that would choose, go on or leave
NARROW = {"width": 420, "height": 900}


def letter(server: Server, to: str, body: str = "b") -> dict[str, Any]:
    return waiting(server, f"/call send_email {json.dumps({'to': to, 'subject': 's', 'body': body})}")


def kept(tab: Tab) -> str:
    return tab.of("args").locator("textarea").input_value()


def test_on_a_narrow_screen_the_card_comes_first_and_the_list_is_a_click_away(
    shared: Server, browses: Browses
) -> None:
    reviews = [letter(shared, f"narrow{n}@example.com") for n in range(2)]
    tab = browses(shared)
    tab.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    tab.open(f"/?review={reviews[0]['review_id']}").sees_review(reviews[0]["review_id"])
    expect(tab.at("card").get_by_text("narrow0@example.com", exact=True).first).to_be_in_viewport()
    expect(tab.row(reviews[1]["review_id"])).not_to_be_in_viewport()
    bar = tab.at("decision-bar").bounding_box()
    assert bar is not None
    assert bar["height"] < NARROW["height"] / 4
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab.page.get_by_test_id("stExpandSidebarButton").click(delay=50)
    tab.row(reviews[1]["review_id"]).click(delay=50)
    tab.sees_review(reviews[1]["review_id"])
    expect(tab.row(reviews[1]["review_id"])).not_to_be_in_viewport()


def test_the_button_that_copies_a_tools_name_does_not_lie_on_the_name(
    shared: Server, browses: Browses
) -> None:
    review = letter(shared, "copied@example.com")
    tab = browses(shared).open(f"/?review={review['review_id']}").sees_review(review["review_id"])
    block = tab.at("head").locator(".block").filter(has_text="send_email")
    block.hover()
    name, button = block.locator("code").bounding_box(), block.get_by_role("button").bounding_box()
    assert name is not None
    assert button is not None
    assert name["height"] < 30  # pixels: it stands on one line
    assert name["x"] + name["width"] <= button["x"] + 1


def test_a_long_value_comes_once_its_fold_is_opened_and_then_stays_open(
    shared: Server, browses: Browses
) -> None:
    body = "A word. " * 500 + "The end"
    review = letter(shared, "long@example.com", body)
    tab = browses(shared).open(f"/?review={review['review_id']}").sees_review(review["review_id"])
    expect(tab.button("approve")).to_be_disabled()
    fold = tab.at("call").locator("summary")
    fold.press("Enter")
    text = tab.at("call").locator("details code")
    expect(text).to_have_text(body)
    expect(text).to_be_visible()
    expect(fold).to_be_focused()
    expect(tab.button("approve")).to_be_enabled()
    tab.choose("reject")
    expect(text).to_be_visible()


def test_the_views_of_a_call_are_walked_by_arrow_keys_and_stay_from_card_to_card(
    shared: Server, browses: Browses
) -> None:
    first, second = letter(shared, "first@example.com"), letter(shared, "second@example.com")
    tab = browses(shared).open(f"/?review={first['review_id']}").sees_review(first["review_id"])
    tab.at("call").get_by_role("tab", name="Arguments").press("ArrowRight")
    json_tab, panel = tab.at("call").get_by_role("tab", name="JSON"), tab.at("call").get_by_role("tabpanel")
    expect(json_tab).to_be_focused()
    expect(panel.locator("code")).to_contain_text('"to": "first@example.com"')
    tab.row(second["review_id"]).click(delay=50)
    tab.sees_review(second["review_id"])
    expect(panel.locator("code")).to_contain_text('"to": "second@example.com"')
    expect(json_tab).to_have_attribute("aria-selected", "true")
    json_tab.press("ArrowLeft")
    expect(panel.get_by_text("second@example.com", exact=True)).to_be_visible()


def test_what_is_chosen_comes_into_view_and_its_field_under_the_keys(
    shared: Server, browses: Browses
) -> None:
    review = letter(shared, "view@example.com", body="line\n" * 35)
    tab = browses(shared).open(f"/?review={review['review_id']}").sees_review(review["review_id"])
    tab.at("card").get_by_text("Remember…").scroll_into_view_if_needed()
    tab.choose("edit")
    field = tab.of("args").locator("textarea")
    expect(field).to_be_in_viewport()
    expect(field).to_be_focused()


def test_json_is_judged_while_it_is_typed_and_kept_to_the_character(shared: Server, browses: Browses) -> None:
    review = letter(shared, "typed@example.com")
    tab = browses(shared).open(f"/?review={review['review_id']}").choose("edit")
    field = tab.of("args").locator("textarea")
    field.press("Control+a")
    field.press_sequentially('{"to": 7,\n  "subject": "jade axe",  \n "body": "x\u202ey"')
    tab.sees("args: expected JSON, got a mistake at line 3")  # the field was never left
    expect(tab.of("args").locator(".wrong")).to_have_count(1)
    expect(tab.of("args").locator("mark")).to_have_count(1)
    field.press_sequentially("}")
    tab.sees("args.to: expected text, got 7")
    expect(field).to_be_focused()
    assert kept(tab) == '{"to": 7,\n  "subject": "jade axe",  \n "body": "x\u202ey"}'
    tab.page.reload()
    expect(field).to_have_value('{"to": 7,\n  "subject": "jade axe",  \n "body": "x\u202ey"}')
    assert events(shared, "DecisionMade", thread_id=review["thread_id"]) == []
    tab.press("reset")
    expect(field).to_have_value(json.dumps(review["action_requests"][0]["args"], indent=2))


def test_a_whole_edit_is_made_by_keyboard(shared: Server, browses: Browses) -> None:
    review = letter(shared, "before@example.com")
    tab = browses(shared).open(f"/?review={review['review_id']}").sees_review(review["review_id"])
    tab.settled().page.keyboard.press("e")
    field = tab.of("args").locator("textarea")
    expect(field).to_be_focused()
    tab.page.keyboard.press("Control+a")
    tab.page.keyboard.insert_text('{"to": "after@example.com", "subject": "s", "body": "b"}')
    tab.sees("What will run").type_again()
    sent = tab.at(f"send:{review['review_id']}")
    again(
        lambda: tab.settled().page.keyboard.press("Control+Enter"),
        lambda bound: expect(sent).to_have_count(0, timeout=bound),
    )
    until(lambda: "after@example.com" in outbox(shared))


def test_words_typed_before_their_field_is_there_choose_nothing_and_are_not_lost(
    shared: Server, browses: Browses
) -> None:
    review = letter(shared, "ahead@example.com")
    tab = browses(shared).open(f"/?review={review['review_id']}").sees_review(review["review_id"])
    listens(tab)
    tab.page.keyboard.type(f"d{WORDS}")
    expect(tab.of("reason").locator("textarea")).to_have_value(WORDS)
    tab.settled().page.evaluate("document.activeElement.blur()")
    tab.page.keyboard.type("aem?")  # what is chosen stands until it is undone
    expect(tab.page.get_by_role("dialog")).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(tab.chosen("reject")).to_be_visible()
    tab.of("reason").locator("textarea").press("Control+Enter")
    decided = until(lambda: events(shared, "DecisionMade", thread_id=review["thread_id"]))
    assert [(one["data"]["type"], one["data"]["reason"]) for one in decided] == [("reject", WORDS)]


def test_words_meant_for_a_rejection_that_is_not_offered_choose_nothing(
    shared: Server, browses: Browses
) -> None:
    review = waiting(shared, '/call rotate_keys {"service": "billing"}', agent="operations")
    tab = browses(shared).open(f"/?review={review['review_id']}").sees_review(review["review_id"])
    tab.sees("This cannot be rejected.")
    listens(tab)
    tab.page.keyboard.type(f"d{WORDS}")
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("?")
    expect(tab.page.get_by_role("dialog")).to_be_visible()
    expect(tab.chosen("approve")).to_have_count(0)


def test_what_comes_with_a_choice_moves_no_button(shared: Server, browses: Browses) -> None:
    review = letter(shared, "still@example.com")
    tab = browses(shared).open(f"/?review={review['review_id']}").sees_review(review["review_id"])
    call = review["action_requests"][0]["tool_call_id"]

    def places() -> list[object]:
        tab.settled()
        return [tab.at(f"{kind}:{review['review_id']}:{call}").bounding_box() for kind in kinds]

    kinds = ("reject", "edit", "approve")
    before = places()
    for kind in kinds:
        tab.choose(kind)
        assert places() == before
        tab.press("undo")
        expect(tab.chosen(kind)).to_have_count(0)


def listens(tab: Tab) -> None:
    """The page listens once its components are loaded; they come together."""
    until(lambda: "review_browser" in {one["name"] for one in tab.page.context.cookies()})
    tab.settled()


def test_a_question_mark_tells_the_keys_and_a_switch_turns_them_off_for_good(
    shared: Server, browses: Browses
) -> None:
    review = letter(shared, "keys@example.com")
    tab = browses(shared).open(f"/?review={review['review_id']}").sees_review(review["review_id"])
    dialog = tab.page.get_by_role("dialog")
    told = dialog.get_by_text("send what is chosen")
    again(  # the page listens once its components are loaded
        lambda: tab.settled().page.keyboard.press("?"),
        lambda bound: expect(told).to_be_visible(timeout=bound),
    )
    dialog.get_by_text("Use these keys").click(delay=50)
    expect(dialog).to_have_count(0)
    until(lambda: "review_keys" in {one["name"] for one in tab.page.context.cookies()})
    tab.page.reload()
    tab.sees_review(review["review_id"]).settled().page.keyboard.press("a")
    tab.page.keyboard.press("?")
    tab.press("reject")
    expect(tab.chosen("reject")).to_be_visible()
    expect(tab.chosen("approve")).to_have_count(0)
    expect(dialog).to_have_count(0)


def test_the_waiting_card_is_in_view_on_a_thread(shared: Server, browses: Browses) -> None:
    said = "/say " + "word " * 200
    review = waiting(
        shared, f"{said}\n/call send_email " + json.dumps({"to": "a@b.c", "subject": "s", "body": "b"})
    )
    tab = browses(shared).open(f"/chat?thread={review['thread_id']}").sees_review(review["review_id"])
    expect(tab.at("card").get_by_text("a@b.c", exact=True).first).to_be_in_viewport()


def test_time_behind_another_window_is_not_counted_as_seen(shared: Server, browses: Browses) -> None:
    review = letter(shared, "hidden@example.com")
    tab = browses(shared).open(f"/?review={review['review_id']}").sees_review(review["review_id"]).settled()
    # The page listens once its components are loaded; they come together.
    until(lambda: "review_browser" in {one["name"] for one in tab.page.context.cookies()})
    tab.page.evaluate(
        """() => {
            const turn = hidden => {
                Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
                document.dispatchEvent(new Event("visibilitychange"));
            };
            const now = performance.now.bind(performance);
            turn(true);
            performance.now = () => now() + 3_600_000;  // an hour goes by behind it
            turn(false);
        }"""
    )
    tab.settled().choose("reject").send()
    until(lambda: events(shared, "DecisionMade", thread_id=review["thread_id"]))
    (made,) = events(shared, "DecisionMade", thread_id=review["thread_id"])
    assert made["data"]["visible_seconds"] == 0
    assert made["data"]["seconds_to_decide"] > 0
