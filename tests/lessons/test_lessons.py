"""Every lesson, gone through: what is told in it happens, and its check looks at what happened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.lessons import again, edit, several, stuck
from agent.lessons.course import COURSE, after, lesson
from agent.lessons.lesson import Lesson
from agent.lessons.playing import Stages
from agent.lessons.stage import Stage
from agent.review.errors import ReviewError


@pytest.fixture
def stages() -> Iterator[Stages]:
    found = Stages()
    yield found
    found.close()


def go_through(stages: Stages, one: Lesson, **written: str) -> Stage:
    """Take every step; `written` is what is put into the fields of some of them, by the step's function."""
    for number, step in enumerate(one.steps):
        refused = stages.take(one, "a", number, written.get(step.do.__name__, step.begin))
        assert refused is None, refused
    return stages.of(one, "a")


def fails(stages: Stages, one: Lesson) -> list[str]:
    return [finding.said for finding in stages.findings(one, "a") if not finding.holds]


@pytest.mark.parametrize("one", COURSE, ids=[one.name for one in COURSE])
def test_a_lesson_gone_through_as_it_stands_passes_its_check(stages: Stages, one: Lesson) -> None:
    assert stages.findings(one, "a") == []
    stage = go_through(stages, one)
    assert fails(stages, one) == []
    assert len(stages.findings(one, "a")) >= 4
    assert stage.pictures()
    assert all(step.do.__name__ in step.code for step in one.steps)


def test_the_pause_waits_at_its_node_and_goes_on_from_there(stages: Stages) -> None:
    one = lesson("pause")
    stages.take(one, "a", 0, "")
    ((_, inside),) = stages.of(one, "a").pictures()
    assert inside.at == ("human_review",)
    assert [sent.what for sent in stages.of(one, "a").wire] == ["To the graph", "The graph asks"]
    go_on = stages.of(one, "a")
    for number in (1, 2):
        stages.take(one, "a", number, "")
    assert go_on.wire[-2].value.startswith("Command(resume=")


@pytest.mark.parametrize("args", ['{"to": "x"}', "[]", '{"to": 1, "subject": "s", "body": "b"}', "{"])
def test_an_edit_that_does_not_fit_is_refused_and_the_step_can_be_taken_again(
    stages: Stages, args: str
) -> None:
    stages.take(edit.LESSON, "a", 0, "")
    assert isinstance(stages.take(edit.LESSON, "a", 1, args), ReviewError)
    assert stages.of(edit.LESSON, "a").done == 1
    assert stages.take(edit.LESSON, "a", 1, edit.EDITED) is None


def outcomes(stages: Stages, one: Lesson, **written: str) -> list[str]:
    return [came.said for came in go_through(stages, one, **written).outcomes]


def test_each_step_tells_what_came_of_it_as_it_came(stages: Stages) -> None:
    asked, rejected, compared = outcomes(stages, lesson("reject"))
    assert asked == "The console's agent: send_email pending; is at human_review."
    assert rejected.startswith("The console's agent: send_email rejected; has come to its end.")
    assert "outbox" not in rejected
    assert compared.startswith("Looked up: ")


def test_an_outcome_follows_what_the_learner_did(stages: Stages) -> None:
    decided = outcomes(stages, several.LESSON, decide='[{"type": "approve"}, {"type": "approve"}]')[1]
    assert "send_email done, send_email done, archive_mail done" in decided
    assert "2 e-mails more in the outbox, 2 in total." in decided


def test_an_outcome_tells_what_a_plain_graph_raised_and_what_the_console_refused(stages: Stages) -> None:
    stage = go_through(stages, stuck.LESSON)
    _, malformed, right, repaired = (came.said for came in stage.outcomes)
    assert "A stock agent: raised KeyError: 'decisions'; is at" in malformed
    assert "the answer was refused (InvalidDecision); is at human_review" in malformed
    assert "'decisions', 2 times" in right
    assert "A stock agent: has come to its end. 1 e-mail more" in repaired
    assert stage.outcomes[-1].wires == {stuck.STOCK}


def test_a_restart_tells_that_the_same_review_waits(stages: Stages) -> None:
    said = outcomes(stages, lesson("pause"))[1]
    waited, waits = (part.rpartition(": ")[2].rstrip(".") for part in said.split("; "))
    assert waited == waits != ""


def test_the_repair_is_shown_with_the_checkpoint_it_starts_from(stages: Stages) -> None:
    wire = go_through(stages, stuck.LESSON).plain[stuck.STOCK].wire
    (repair,) = (sent.value for sent in wire if sent.value.startswith("invoke(None"))
    assert "'checkpoint_id': '" in repair


def test_the_code_ends_where_it_ends() -> None:
    assert [step.code for one in COURSE for step in one.steps if step.code != step.code.rstrip()] == []


def test_a_lesson_is_finished_once_every_step_was_taken(stages: Stages) -> None:
    one = lesson("pause")
    assert not stages.finished(one, "a")
    stages.take(one, "a", 0, "")
    assert not stages.finished(one, "a")
    go_through(stages, one)
    assert stages.finished(one, "a")
    assert not stages.finished(one, "b")


def test_the_lessons_follow_each_other_to_the_last() -> None:
    assert [after(one) for one in COURSE] == [*COURSE[1:], None]


def test_an_edit_that_changes_nothing_does_not_pass(stages: Stages) -> None:
    same = '{"to": "alice@example.com", "subject": "The meeting moved to 10", "body": "The meeting moved to 10."}'
    go_through(stages, edit.LESSON, edit=same)
    assert fails(stages, edit.LESSON) == ["What ran is not what the model proposed."]


def test_a_reject_without_a_reason_does_not_pass(stages: Stages) -> None:
    go_through(stages, lesson("reject"), reject="")
    assert fails(stages, lesson("reject")) == ["The result holds your reason."]


def test_the_same_fate_for_both_does_not_pass(stages: Stages) -> None:
    go_through(stages, several.LESSON, decide='[{"type": "approve"}, {"type": "approve"}]')
    (said,) = fails(stages, several.LESSON)
    assert "different ends" in said


def test_what_a_learner_writes_is_what_the_plain_graph_says_twice(stages: Stages) -> None:
    stage = go_through(stages, again.LESSON, start_one="Look here.")
    sent = [mail.body for mail in stage.world.outbox() if mail.recipient == again.TO_TWICE]
    assert sent == ["Look here."] * 2


def test_a_right_answer_in_the_place_of_the_malformed_one_does_not_pass(stages: Stages) -> None:
    stages.take(stuck.LESSON, "a", 0, "")
    stages.take(stuck.LESSON, "a", 1, '{"decisions": [{"type": "approve"}]}')
    assert stages.of(stuck.LESSON, "a").sent_to(stuck.TO_STOCK) == 1
    for number in (2, 3):
        stages.take(stuck.LESSON, "a", number, "")
    assert "The stock agent failed on the malformed answer." in fails(stages, stuck.LESSON)


def test_a_step_clicked_twice_is_taken_once(stages: Stages) -> None:
    one = lesson("pause")
    for _ in range(2):
        assert stages.take(one, "a", 0, "") is None
    assert stages.of(one, "a").done == 1
    assert stages.take(one, "a", 2, "") is None
    assert stages.of(one, "a").done == 1


def test_learners_and_lessons_have_stages_of_their_own_and_a_reset_one_starts_anew(stages: Stages) -> None:
    one = lesson("pause")
    stages.take(one, "a", 0, "")
    assert [stages.of(one, "b").done, stages.of(lesson("edit"), "a").done] == [0, 0]
    stages.reset(one, "a")
    assert stages.of(one, "a").done == 0


def test_the_stage_used_longest_ago_gives_way() -> None:
    few = Stages(most=2)
    one = lesson("pause")
    first = few.of(one, "a")
    few.of(one, "b")
    assert few.of(one, "a") is first
    few.of(one, "c")
    assert few.of(one, "a") is first
    few.close()
