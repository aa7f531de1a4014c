"""The card beside the decision itself: all at once, keys, drafts, secrets, and what is put on record of the look."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from agent.bootstrap import Opened
from agent.console import Console
from agent.demos.world import Ref
from agent.review.actions import Review
from agent.review.arguments.args import show
from agent.review.events import EventKind
from pages.parts.state import identity, on_screen, widget_keys
from tests.conftest import SetClock, ask, start_deciding, waiting
from tests.pages.conftest import MAIL, Opens, Screen, calls, of, send, under_clock

SECRET = "sk-proj-abcdefghijklmnop1234567890"


def files(console: Console, *contents: str) -> Review:
    """One review of a file for each content."""
    made = [
        f"write_file {json.dumps({'path': f'{n}.txt', 'content': each})}" for n, each in enumerate(contents)
    ]
    return waiting(console, ask(console, calls(*made), agent="operations"))


def approve_all(review: Review) -> str:
    return widget_keys.key("all-approve", review.review_id)


def test_what_can_be_undone_may_be_approved_all_at_once_and_is_sent_by_another_click(
    opens: Opens, page_console: Opened
) -> None:
    review = files(page_console.console, "a", "b", "c")
    before = len(page_console.world.files())
    screen = opens().click(approve_all(review))
    assert len(page_console.world.files()) == before
    screen.click(send(review))
    assert len(page_console.world.files()) == before + 3


@pytest.mark.parametrize(
    "call",
    ['remove_file {"path": "notes/todo.txt"}', 'ask_user {"question": "Which?"}'],
    ids=["irreversible", "not to be approved"],
)
def test_one_call_that_is_irreversible_or_not_to_be_approved_forbids_approving_all(
    opens: Opens, console: Console, call: str
) -> None:
    review = waiting(
        console, ask(console, calls('write_file {"path": "a", "content": "b"}', call), agent="operations")
    )
    assert not opens().has(approve_all(review))


def test_one_action_alone_has_no_button_for_all(opens: Opens, console: Console) -> None:
    assert not opens().has(approve_all(files(console, "a")))


def test_all_are_approved_only_after_the_long_values_of_each_were_opened(
    opens: Opens, console: Console
) -> None:
    review = files(console, "short", "long " * 1_000)
    assert opens().is_off(approve_all(review))


def shortcuts(screen: Screen) -> set[str]:
    return {one.proto.shortcut for one in screen.at.button if one.proto.shortcut}


def test_keys_can_be_switched_off_and_stay_off(opens: Opens, mail: Review) -> None:
    screen = opens()
    assert {"a", "e", "d", "j", "k", "x"} <= shortcuts(screen)
    screen.click("keys")
    screen.at.toggle(key="use-keys").set_value(False)
    screen.run()
    assert shortcuts(screen.run()) == set()
    (kept,) = (json.loads(one.proto.json) for one in screen.nodes() if one.key == "cookies")
    assert kept[identity.KEYS_COOKIE] == "off"


def test_browsers_without_a_name_have_drafts_of_their_own(
    opens: Opens, console: Console, mail: Review
) -> None:
    one, other = opens(reviewer=""), opens(reviewer="")
    one.click(of("reject", mail))
    assert one.run().primary(of("reject", mail))
    assert not other.run().primary(of("reject", mail))


def test_a_draft_made_before_the_name_was_given_is_still_there_after(opens: Opens, mail: Review) -> None:
    screen = opens(reviewer="").click(of("reject", mail)).click(send(mail))
    screen.at.text_input(key="first-name").set_value("Ben")
    assert screen.click("first-use-name").primary(of("reject", mail))


@pytest.mark.parametrize("wrote", [True, False])
def test_a_draft_is_said_to_be_kept_only_where_there_is_one(
    opens: Opens, console: Console, mail: Review, wrote: bool
) -> None:
    screen = opens(review=mail.review_id)
    if wrote:
        screen.click(of("reject", mail))
    assert console.wait(start_deciding(console, mail.thread_id, [{"type": "reject"}], by="ben"), 30)
    assert ("Your draft on it is kept." in screen.run().said()) == wrote


def test_arguments_whose_names_resemble_a_button_of_the_form_have_fields_of_their_own(
    opens: Opens, console: Console
) -> None:
    args = {"to": "a@b.c", "subject": "s", "body": "b", "to:remove": "x", "to:wrong": "y"}
    review = waiting(console, ask(console, MAIL))
    screen = opens(review=review.review_id).click(of("edit", review)).write_args(review, json.dumps(args))
    screen.at.button_group(key=of("edit-view", review)).set_value("Form")
    screen.run()
    held = {
        name: screen.at.text_area(key=widget_keys.field_key("field", review, review.actions[0], name)).value
        for name in args
    }
    assert held == args


def test_each_field_of_the_form_is_read_aloud_by_its_own_name(opens: Opens, mail: Review) -> None:
    screen = opens().click(of("edit", mail))
    screen.at.button_group(key=of("edit-view", mail)).set_value("Form")
    labels = [
        screen.run().at.text_area(key=widget_keys.field_key("field", mail, mail.actions[0], name)).label
        for name in ("to", "subject", "body")
    ]
    assert labels == ["Argument to", "Argument subject", "Argument body"]


def test_secrets_are_masked_where_text_is_only_read_and_not_where_it_is_decided_on(
    opens: Opens, console: Console
) -> None:
    call = json.dumps({"to": SECRET, "subject": "s", "body": f"password: {SECRET}"})
    thread_id = ask(console, f"/say The key is {SECRET}\n/call send_email {call}")
    card = opens().said()
    assert f"{SECRET}" in card
    assert "send_email  sk-p…[34 characters masked]" in card
    review = waiting(console, thread_id)
    assert console.wait(
        console.decide(thread_id, [{"type": "reject"}], by="ben", review_id=review.review_id), 30
    )
    read = opens("chat", thread=thread_id).said()
    assert SECRET not in read
    assert "[34 characters masked]" in read


def test_the_record_tells_how_long_an_action_was_visible_and_what_was_opened(
    opens: Opens, page_console: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, clock = page_console.console, SetClock()
    content = "long " * 1_000
    review = files(console, content)
    clock.now = datetime.now(UTC)
    under_clock(console, clock)
    screen = opens()
    screen.open_text(content)
    clock.move(seconds=30)
    screen.at.session_state[on_screen.HIDDEN] = 12.0
    screen.click(of("approve", review)).click(send(review))
    (made,) = console.trail.events(kind=EventKind.DECISION_MADE)
    assert (made.data or {})["visible_seconds"] == 18.0
    assert (made.data or {})["opened"] == ["args.content"]


def test_the_record_names_every_fold_of_the_card_that_was_opened(opens: Opens, console: Console) -> None:
    content = "long " * 1_000
    made = [f"write_file {json.dumps({'path': 'a', 'content': content})}", 'read_data {"table": "notes"}']
    review = waiting(console, ask(console, f"/say Trust me.\n{calls(*made)}", agent="operations"))
    screen = opens()
    for fold in (content, show(review.actions[0].args)):
        screen.open_text(fold)
    for beside in ("claim", "siblings"):
        screen.at.session_state[of(beside, review)] = True
    screen.run().click(of("reject", review)).click(send(review))
    (decided,) = console.trail.events(kind=EventKind.DECISION_MADE)
    assert (decided.data or {})["opened"] == ["args.content", "json", "raw", "claim", "siblings"]


def test_a_decision_made_past_the_pages_has_no_look_on_record(console: Console, mail: Review) -> None:
    assert console.wait(start_deciding(console, mail.thread_id, [{"type": "reject"}], by="ben"), 30)
    (made,) = console.trail.events(kind=EventKind.DECISION_MADE)
    assert (made.data or {})["visible_seconds"] is None


def test_the_line_break_at_the_end_of_a_file_is_marked_on_the_card_and_not_in_the_world(
    opens: Opens, console: Console
) -> None:
    call = json.dumps({"path": "reports/2025.csv", "content": "quarter,income\nQ1,9000\n"})
    review = waiting(console, ask(console, f"/call write_file {call}", agent="operations"))
    screen = opens("chat", thread=review.thread_id)
    assert "quarter,income\nQ1,9000⟨NEWLINE⟩" in screen.texts("code")
    blocks = [one.value for one in screen.at.code]
    assert [one for one in blocks if one.startswith("reports/2023.csv") and one.endswith("Q4,12750")]


def test_of_a_long_file_the_world_shows_the_start_and_says_so(opens: Opens, page_console: Opened) -> None:
    page_console.world.write_file("a.txt", "x" * 401, Ref("t", "c"))
    ask(page_console.console, "/say Hello", thread_id="t1", agent="operations")
    assert f"a.txt\n{'x' * 400}…" in [one.value for one in opens("chat", thread="t1").at.code]


def test_the_world_opens_on_what_the_thread_changed(opens: Opens, console: Console) -> None:
    call = """execute_sql {"query": "INSERT INTO notes (text) VALUES ('x')"}"""
    review = waiting(console, ask(console, calls(call), agent="operations"))
    decided = start_deciding(console, review.thread_id, [{"type": "approve"}], by="ben")
    assert console.wait(decided, 30)
    screen = opens("chat", thread=review.thread_id)
    assert screen.at.selectbox(key="world-table").value == "notes"


def test_the_inbox_is_found_by_its_name_too(opens: Opens, mail: Review) -> None:
    screen = opens("inbox")
    screen.at._page_hash = next(
        hash for hash, page in screen.at._registered_pages.items() if page["url_pathname"] == "inbox"
    )
    assert screen.run().has(send(mail))


# What the tool gets, and what the agent wrote.


LETTER = {"to": "alice@example.com", "subject": "Meeting", "body": "At 10."}


def written(**changes: object) -> str:
    return calls(f"send_email {json.dumps({**LETTER, **changes})}")


def test_a_card_shows_what_the_agent_wrote_where_its_tool_gets_something_else(
    opens: Opens, console: Console
) -> None:
    waiting(console, ask(console, written(cc="eve@example.com")))
    shown = opens().said()
    assert "args.cc: dropped" in shown
    assert "As the agent wrote it" in shown
    assert "eve@example.com" in shown


def test_a_card_says_nothing_of_what_the_agent_wrote_where_its_tool_gets_just_that(
    opens: Opens, mail: Review
) -> None:
    assert "As the agent wrote it" not in opens().said()


def test_an_edit_begins_with_what_the_agent_wrote_without_what_the_tool_drops(
    opens: Opens, console: Console
) -> None:
    review = waiting(console, ask(console, written(cc="eve@example.com")))
    screen = opens().click(of("edit", review))
    assert json.loads(screen.args(review)) == LETTER
