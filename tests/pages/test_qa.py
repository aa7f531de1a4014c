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
from agent.scenarios.files import ENDING
from pages.parts import session
from tests.conftest import ask
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
    assert screen.has(session.key("run", f"several-fates{ENDING}"))


def test_no_scenario_says_how_to_get_one(opens: Opens, saved: Path) -> None:
    assert "save it as one" in opens("qa").said()


def test_a_red_scenario_shows_what_came_beside_what_was_expected(opens: Opens, saved: Path) -> None:
    name = put(saved, "red", LEAST.format(name="It greets", answer="Goodbye"))
    put(saved, "green", LEAST.format(name="It greets", answer="Hello"))
    screen = ended(opens("qa").click("run-all"))
    assert "1 passed" in screen.said()
    assert "1 failed" in screen.said()
    said = screen.click(session.key("open", name)).said()
    assert "At the end: answer" in said
    assert '"Goodbye"' in said
    assert '"Hello"' in said


def test_one_scenario_run_alone_opens_its_report_and_stays_in_the_address(opens: Opens, saved: Path) -> None:
    name = put(saved, "one", LEAST.format(name="Name of it", answer="Hello"))
    screen = ended(opens("qa").click(session.key("run", name)))
    assert screen.at.query_params["scenario"] == name
    assert "Name of it" in screen.said()
    assert "passed" in screen.said()


def test_a_file_that_cannot_be_read_says_where(opens: Opens, saved: Path) -> None:
    name = put(saved, "odd", "scenario: x\nagnet: mail\n")
    assert "agnet: Extra inputs" in ended(opens("qa").click(session.key("run", name))).said()


def test_a_batch_is_followed_and_stopped(opens: Opens, saved: Path) -> None:
    put(saved, "slow", "scenario: s\nagent: mail\nmessage: /slow 500\n")
    screen = opens("qa").click("run-all")
    assert screen.has("stop-batch")
    screen.click("stop-batch")
    assert "not run: stopped" in ended(screen).said()


def test_a_hostile_name_is_shown_as_it_is(opens: Opens, saved: Path) -> None:
    hostile = "![x](https://tracker.example/x.png) **bold**"
    name = put(saved, "hostile", LEAST.format(name=json.dumps(hostile), answer="No"))
    screen = ended(opens("qa").click(session.key("run", name)))
    assert any(hostile in one.value for one in screen.at.text)
    assert not any("tracker" in one.value for one in screen.at.markdown)


def test_a_thread_is_saved_on_the_chat_page_and_passes_at_once(
    opens: Opens, console: Console, saved: Path
) -> None:
    thread_id = ask(console, calls('archive_mail {"message_id": "m-1"}'))
    screen = opens("chat", thread=thread_id)
    screen.at.text_input(key=session.key("scenario-name", thread_id)).set_value("Archives one")
    screen.run().click("scenario-save")
    assert f"archives-one{ENDING}" in screen.said()
    assert screen.has("scenario-download")
    qa = ended(opens("qa").click("run-all"))
    assert "1 passed" in qa.said()


def test_what_should_not_have_run_makes_it_red(opens: Opens, console: Console, saved: Path) -> None:
    thread_id = ask(console, calls('archive_mail {"message_id": "m-1"}'))
    screen = opens("chat", thread=thread_id)
    screen.at.text_input(key=session.key("scenario-name", thread_id)).set_value("Archives unasked")
    screen.at.multiselect(key=session.key("scenario-never", thread_id)).set_value(["archive_mail"])
    screen.run().click("scenario-save")
    said = ended(opens("qa").click(session.key("run", f"archives-unasked{ENDING}"))).said()
    assert "must not run" in said
    assert "never archive_mail" in said


def test_a_thread_that_cannot_be_replayed_says_why(opens: Opens, console: Console, saved: Path) -> None:
    thread_id = ask(console, "/fail once\n/say Well")
    assert not opens("chat", thread=thread_id).has("scenario-save")
    assert console.wait(console.retry(thread_id, by="ana"), 30)
    said = opens("chat", thread=thread_id).click("scenario-save").said()
    assert "It was not saved." in said
    assert "on a new thread" in said
    assert list(saved.iterdir()) == []


def paste(opens: Opens, value: Any) -> Screen:
    screen = opens("qa")
    screen.at.radio(key="qa-view").set_value("Paste a payload")
    screen.run()
    text = value if isinstance(value, str) else json.dumps(value)
    return screen.type("payload", text)


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
    before = console.pulse()
    paste(opens, CASES[0]["interrupt"])
    assert console.pulse() == before


def test_a_payload_that_is_no_json_says_where(opens: Opens) -> None:
    said = paste(opens, '{"a": ').said()
    assert "not JSON" in said


def test_a_typed_answer_that_does_not_fit_is_told(opens: Opens) -> None:
    schema = {"type": "object", "required": ["colour"]}
    screen = paste(opens, {"id": "i", "value": "Which?", "response_schema": schema})
    screen.at.button_group(key="pasted:0:0:kind").set_value("respond")
    screen.run().type("pasted:0:0:respond", "red")
    assert "does not fit" in screen.said()
    screen.type("pasted:0:0:respond", '{"colour": "red"}')
    assert "Command(resume=" in screen.said()
