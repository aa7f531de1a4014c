"""The Lessons page: every lesson gone through by its buttons."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.bootstrap import Opened
from agent.lessons.course import COURSE
from agent.lessons.lesson import Lesson
from agent.lessons.playing import STAGES
from pages.parts.state import widget_keys
from tests.pages.conftest import Opens


@pytest.fixture(autouse=True)
def no_stage() -> Iterator[None]:
    yield
    STAGES.close()


@pytest.mark.parametrize("lesson", COURSE, ids=[one.name for one in COURSE])
def test_a_lesson_is_gone_through_and_its_check_holds(opens: Opens, lesson: Lesson) -> None:
    screen = opens("lessons", lesson=lesson.name)
    for _ in lesson.steps:
        assert lesson.ends not in [one.value for one in screen.at.success]
        screen.click("step")
        assert not screen.at.error
    assert [one.value for one in screen.at.success] == [lesson.ends]
    assert "not true" not in screen.said()


def test_the_payload_and_the_command_stand_beside_the_text(opens: Opens) -> None:
    screen = opens("lessons", lesson="edit").click("step")
    assert '"action_requests"' in screen.said()
    assert "Continues at: human_review" in screen.said()
    said = screen.click("step").said()
    assert "Command(resume=" in said
    assert '"edited_action"' in said


def test_what_is_refused_is_told_and_the_step_stays(opens: Opens) -> None:
    screen = opens("lessons", lesson="edit").click("step")
    written = widget_keys.key("written", "edit", screen.at.query_params["stage"], 1)
    screen.type(written, '{"to": "x"}').click("step")
    assert "This was refused" in screen.said()
    assert "subject" in screen.said()
    assert screen.has("step")


def test_a_reload_finds_the_stage_again_and_a_reset_begins_anew(opens: Opens) -> None:
    screen = opens("lessons", lesson="pause").click("step")
    stage = screen.at.query_params["stage"]
    again = opens("lessons", lesson="pause", stage=stage)
    assert "Step 2 of 3" in again.said()
    again.click("reset-lesson")
    assert "Step 1 of 3" in again.said()


def test_a_lesson_leaves_the_real_record_and_world_alone(opens: Opens, page_console: Opened) -> None:
    before = page_console.console.queries.pulse()
    screen = opens("lessons", lesson="pause")
    for _ in range(3):
        screen.click("step")
    assert page_console.console.queries.pulse() == before
    assert page_console.world.outbox() == ()


def test_an_address_that_names_no_lesson_shows_the_first(opens: Opens) -> None:
    assert opens("lessons", lesson="nowhere").at.query_params["lesson"] == COURSE[0].name


def test_another_lesson_is_chosen_by_its_button(opens: Opens) -> None:
    screen = opens("lessons").click(widget_keys.key("lesson", "stuck"))
    assert screen.at.query_params["lesson"] == "stuck"


def test_what_came_of_a_step_stands_under_it_and_the_newest_on_the_wire_first(opens: Opens) -> None:
    screen = opens("lessons", lesson="pause").click("step")
    assert "send_email pending; is at human_review" in screen.said()
    screen.click("step").click("step")
    captions = [one.value for one in screen.at.caption]
    assert captions.index("The graph has come to its end; the agent says") < captions.index("The graph asks")


def test_a_finished_lesson_is_ticked_and_leads_to_the_next(opens: Opens) -> None:
    screen = opens("lessons", lesson="pause")
    for _ in range(3):
        assert not screen.has("next-lesson")
        screen.click("step")
    screen.click("next-lesson")
    assert screen.at.query_params["lesson"] == COURSE[1].name
    ticked = screen.at.button(key=widget_keys.key("lesson", "pause")).proto.icon
    assert "check" in ticked
    assert not screen.at.button(key=widget_keys.key("lesson", "edit")).proto.icon


def test_the_last_lesson_leads_nowhere(opens: Opens) -> None:
    screen = opens("lessons", lesson="stuck")
    for _ in range(4):
        screen.click("step")
    assert not screen.has("next-lesson")
    assert "This was the last lesson." in screen.said()
