"""The QA page: scenarios run and stopped, payloads read; and saving a thread on the Chat page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.bootstrap import Opened
from agent.console import Console
from agent.review.actions import Review
from agent.scenarios import batch, shelf
from agent.scenarios.files import ENDING, read_file
from pages.parts.state import widget_keys
from tests.conftest import ask, decide
from tests.pages.conftest import Opens, Screen, calls

CASES = json.loads((Path(__file__).parents[1] / "cases" / "shapes.json").read_text())
LEAST = "scenario: {name}\nagent: mail\nmessage: /say Hello\nexpect: {{answer: {answer}}}\n"


@pytest.fixture(autouse=True)
def no_batch() -> Iterator[None]:
    yield
    batch.forget()


@pytest.fixture
def saved(page_console: Opened, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of saved scenarios, and no others on the shelf."""
    monkeypatch.setattr(shelf, "SHIPPED", Path("/nowhere"))
    folder = shelf.saved_in(page_console)
    folder.mkdir()
    return folder


def put(folder: Path, name: str, text: str) -> str:
    (folder / f"{name}{ENDING}").write_text(text)
    return f"{name}{ENDING}"


def ended(screen: Screen) -> Screen:
    """Wait until the batch is over, and draw the page."""
    latest = batch.latest()
    assert latest is not None
    assert latest.wait(60)
    return screen.run()


def test_the_shipped_scenarios_are_there_to_be_run(opens: Opens) -> None:
    screen = opens("qa")
    assert screen.has(widget_keys.key("run", f"several-fates{ENDING}"))


def test_no_scenario_says_how_to_get_one(opens: Opens, saved: Path) -> None:
    assert "save it as one" in opens("qa").said()


def test_a_red_scenario_shows_what_came_beside_what_was_expected(opens: Opens, saved: Path) -> None:
    name = put(saved, "red", LEAST.format(name="It greets", answer="Goodbye"))
    put(saved, "green", LEAST.format(name="It greets", answer="Hello"))
    screen = ended(opens("qa").click("run-all"))
    assert "1 passed" in screen.said()
    assert "1 failed" in screen.said()
    said = screen.click(widget_keys.key("open", name)).said()
    assert "At the end: answer" in said
    assert '"Goodbye"' in said
    assert '"Hello"' in said


def test_one_scenario_run_alone_opens_its_report_and_stays_in_the_address(opens: Opens, saved: Path) -> None:
    name = put(saved, "one", LEAST.format(name="Name of it", answer="Hello"))
    screen = ended(opens("qa").click(widget_keys.key("run", name)))
    assert screen.at.query_params["scenario"] == name
    assert "Name of it" in screen.said()
    assert "passed" in screen.said()


def test_a_file_that_cannot_be_read_says_where(opens: Opens, saved: Path) -> None:
    name = put(saved, "odd", "scenario: x\nagnet: mail\n")
    assert "agnet: Extra inputs" in ended(opens("qa").click(widget_keys.key("run", name))).said()


def test_a_batch_is_followed_and_stopped(opens: Opens, saved: Path) -> None:
    put(saved, "slow", "scenario: s\nagent: mail\nmessage: /slow 500\n")
    screen = opens("qa").click("run-all")
    assert screen.has("stop-batch")
    screen.click("stop-batch")
    assert "not run: stopped" in ended(screen).said()


def test_a_hostile_name_is_shown_as_it_is(opens: Opens, saved: Path) -> None:
    hostile = "![x](https://tracker.example/x.png) **bold**"
    name = put(saved, "hostile", LEAST.format(name=json.dumps(hostile), answer="No"))
    screen = ended(opens("qa").click(widget_keys.key("run", name)))
    assert any(hostile in one.value for one in screen.at.text)
    assert not any("tracker" in one.value for one in screen.at.markdown)


def test_a_thread_is_saved_on_the_chat_page_and_passes_at_once(
    opens: Opens, console: Console, saved: Path
) -> None:
    thread_id = ask(console, calls('archive_mail {"message_id": "m-1"}'))
    screen = to_save(opens, thread_id)
    screen.at.text_input(key=widget_keys.key("scenario-name", thread_id)).set_value("Archives one")
    screen.run().click("scenario-save")
    assert f"archives-one{ENDING}" in screen.said()
    assert screen.has("scenario-download")
    assert not screen.has("scenario-save")
    qa = ended(opens("qa").click("run-all"))
    assert "1 passed" in qa.said()
    assert screen.click("scenario-again").has("scenario-save")


def test_the_way_to_the_qa_page_runs_what_was_saved_and_opens_it(
    opens: Opens, console: Console, saved: Path
) -> None:
    thread_id = ask(console, calls('archive_mail {"message_id": "m-1"}'))
    screen = to_save(opens, thread_id).click("scenario-save").click("scenario-run")
    (name,) = (one.name for one in saved.glob(f"*{ENDING}"))
    assert screen.at.query_params["scenario"] == name
    assert "1 passed" in shown_there(opens, name).said()


def to_save(opens: Opens, thread_id: str) -> Screen:
    """The thread's page, with the popover in which it is saved."""
    return opens("chat", thread=thread_id).open_fold("scenario")


def shown_there(opens: Opens, name: str) -> Screen:
    """The QA page, once what was started from elsewhere is over."""
    latest = batch.latest()
    assert latest is not None
    assert latest.wait(60)
    return opens("qa", scenario=name)


def to_bob_and_eve(console: Console) -> str:
    """A thread on which both were written to."""
    both = [{"to": f"{one}@example.com", "subject": "Meeting", "body": "At 11."} for one in ("bob", "eve")]
    thread_id = ask(console, calls(*(f"send_email {json.dumps(args)}" for args in both)))
    decide(console, thread_id, {"type": "approve"}, {"type": "approve"})
    return thread_id


def tick(screen: Screen, text: str) -> Screen:
    """Tick the box beside this text."""
    boxes = [one for one in screen.at.checkbox if str(one.key).startswith("scenario-never:")]
    shown = [one.value for one in screen.at.text]
    boxes[shown.index(text) - shown.index("send_email → bob@example.com")].check()
    return screen.run()


def test_one_call_of_a_tool_is_forbidden_and_the_report_names_it(
    opens: Opens, console: Console, saved: Path
) -> None:
    thread_id = to_bob_and_eve(console)
    screen = tick(to_save(opens, thread_id), "send_email → eve@example.com")
    name = screen.at.text_input(key=widget_keys.key("scenario-name", thread_id)).value
    assert name == "send_email → eve@example.com must not run"
    screen.click("scenario-save").click("scenario-run")
    said = shown_there(opens, screen.at.query_params["scenario"]).said()
    assert 'never send_email with to: "eve@example.com"' in said
    assert 'It is green once send_email with to: "eve@example.com"' in said
    assert "1 failed" in said
    (file,) = saved.glob(f"*{ENDING}")
    (never,) = read_file(file).expect.never
    assert never.args["to"].value == "eve@example.com"


def test_any_call_of_a_tool_is_the_wider_choice(opens: Opens, console: Console, saved: Path) -> None:
    thread_id = to_bob_and_eve(console)
    screen = tick(to_save(opens, thread_id), "any send_email")
    screen.click("scenario-save").click("scenario-run")
    said = shown_there(opens, screen.at.query_params["scenario"]).said()
    assert "never send_email, whatever its arguments" in said


def test_a_name_that_somebody_wrote_is_kept_whatever_is_ticked(opens: Opens, console: Console) -> None:
    thread_id = to_bob_and_eve(console)
    screen = to_save(opens, thread_id)
    screen.at.text_input(key=widget_keys.key("scenario-name", thread_id)).set_value("Mine")
    tick(screen.run(), "any send_email")
    assert screen.at.text_input(key=widget_keys.key("scenario-name", thread_id)).value == "Mine"


def test_a_tick_stays_with_what_it_was_set_on_when_more_has_run(opens: Opens, console: Console) -> None:
    thread_id = to_bob_and_eve(console)
    screen = tick(to_save(opens, thread_id), "any send_email")
    ask(console, calls('search_mail {"text": "rent"}'), thread_id=thread_id)
    screen.run()
    assert "search_mail → rent" in screen.said()
    name = screen.at.text_input(key=widget_keys.key("scenario-name", thread_id)).value
    assert name == "any send_email must not run"


def test_calls_that_begin_alike_are_told_apart(opens: Opens, console: Console) -> None:
    thread_id = ask(console, calls('search_mail {"text": "rent"}', 'search_mail {"text": "rent"}'))
    assert "search_mail → rent" not in opens("chat", thread=thread_id).said()  # nothing while it is closed
    said = to_save(opens, thread_id).said()
    assert said.count("search_mail → rent") == 1
    thread_id = ask(
        console,
        calls(*(f'archive_mail {{"message_id": "{"m" * 50}-{n}"}}' for n in (1, 2))),
    )
    assert f'"{"m" * 50}-2"' in to_save(opens, thread_id).said()


def test_hostile_arguments_stand_beside_the_boxes_as_they_are(opens: Opens, console: Console) -> None:
    thread_id = ask(console, calls('search_mail {"text": "![x](https://t.example/x.png) **b**"}'))
    screen = to_save(opens, thread_id)
    assert any("search_mail → ![x](https://t.example/x.png)" in one.value for one in screen.at.text)
    assert not any("t.example" in one.label for one in screen.at.checkbox)


def test_the_last_results_stay_while_others_are_run_and_after_leaving(opens: Opens, saved: Path) -> None:
    put(saved, "red", LEAST.format(name="r", answer="Goodbye"))
    name = put(saved, "green", LEAST.format(name="g", answer="Hello"))
    ended(opens("qa").click("run-all"))
    ended(opens("qa").click(widget_keys.key("run", name)))
    said = opens("qa").said()
    assert "1 passed" in said
    assert "1 failed" in said


def test_the_file_of_a_red_scenario_is_one_click_away_and_whole(opens: Opens, saved: Path) -> None:
    long = "x" * 5_000
    name = put(saved, "red", LEAST.format(name="r", answer=long))
    screen = ended(opens("qa").click(widget_keys.key("run", name)))
    assert not any(long in one.value for one in screen.at.code if "scenario: r" in one.value)
    screen.open_fold(widget_keys.key("file", name, True))
    assert any(long in one.value for one in screen.at.code if "scenario: r" in one.value)


def test_a_thread_that_cannot_be_replayed_says_why(opens: Opens, console: Console, saved: Path) -> None:
    thread_id = ask(console, "/fail once\n/say Well")
    assert not to_save(opens, thread_id).has("scenario-save")
    assert console.wait(console.retry(thread_id, by="ana"), 30)
    said = to_save(opens, thread_id).click("scenario-save").said()
    assert "It was not saved." in said
    assert "on a new thread" in said
    assert list(saved.iterdir()) == []


def paste(opens: Opens, value: Any) -> Screen:
    screen = opens("qa")
    screen.at.radio(key="qa-view").set_value("Paste a payload")
    screen.run()
    text = value if isinstance(value, str) else json.dumps(value)
    screen.at.text_area(key="payload").set_value(text)
    return screen.click("read-payload")


@pytest.mark.parametrize("case", CASES[::3], ids=[case["name"] for case in CASES[::3]])
def test_a_payload_is_shown_as_its_card_with_the_answer_that_would_be_sent(
    opens: Opens, case: dict[str, Any]
) -> None:
    screen = paste(opens, case["interrupt"])
    for action in case["expect"]["actions"]:
        assert action["name"] in screen.said()
    first = case["expect"]["answer_to_first_decision"]
    if first is None:
        return
    for place, action in enumerate(case["expect"]["actions"]):
        screen.at.button_group(key=f"pasted:0:{place}:kind").set_value(action["allowed"][0])
    assert f"Command(resume={json.dumps(first, ensure_ascii=False, indent=2)})" in screen.run().said()


def test_a_payload_of_very_many_arguments_is_drawn_whole_and_in_few_elements(opens: Opens) -> None:
    args = {f"n{number}": "a\u200bb" if number > 90 else number for number in range(100)}
    screen = paste(opens, {"action_requests": [{"name": "send", "args": args}], "review_configs": []})
    assert "50 more arguments" in screen.said()
    assert "U+200B ZERO WIDTH SPACE ×9" in screen.said()
    assert sum(node.type == "code" for node in screen.nodes()) < 60


def test_pasting_records_and_runs_nothing(opens: Opens, console: Console, mail: Review) -> None:
    before = console.queries.pulse()
    paste(opens, CASES[0]["interrupt"])
    assert console.queries.pulse() == before


def test_a_payload_that_is_no_json_says_where(opens: Opens) -> None:
    for text in ('{"a": ', "hello"):
        said = paste(opens, text).said()
        assert "it is not JSON" in said
        assert "args" not in said


def test_a_payload_that_allows_no_known_decision_says_what_is_missing(opens: Opens) -> None:
    screen = paste(opens, {"action_requests": [{"name": "send", "args": {}}]})
    assert "It has no `review_configs`" in screen.said()
    assert "Choose a decision" not in screen.said()


def test_a_payload_that_asks_about_nothing_says_so(opens: Opens) -> None:
    screen = paste(opens, {"action_requests": [], "review_configs": []})
    assert "It asks about nothing" in screen.said()
    assert not screen.has("pasted:0:0:kind")


def test_a_reject_that_cannot_be_ignored_says_how_it_is_sent(opens: Opens) -> None:
    config = {"allow_accept": True, "allow_edit": True, "allow_respond": True, "allow_ignore": False}
    screen = paste(opens, [{"action_request": {"action": "send", "args": {}}, "config": config}])
    assert "Its `allow_ignore` is not true" in screen.said()


def test_a_typed_answer_that_does_not_fit_is_told(opens: Opens) -> None:
    schema = {"type": "object", "required": ["colour"]}
    screen = paste(opens, {"id": "i", "value": "Which?", "response_schema": schema})
    screen.at.button_group(key="pasted:0:0:kind").set_value("respond")
    screen.run().type("pasted:0:0:respond", "red")
    assert "does not fit" in screen.said()
    screen.type("pasted:0:0:respond", '{"colour": "red"}')
    assert "Command(resume=" in screen.said()
