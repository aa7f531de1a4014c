"""What may be decided, in which order it is checked, and what an accepted decision amounts to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import StructuredTool

from agent.review import errors
from agent.review.actions import Action, ActionState, Key, with_digests
from agent.review.agents import Agent
from agent.review.decisions import check_decisions, outcome
from agent.review.errors import InvalidDecision, ReviewChanged
from agent.review.policy import Case, Policy, Tier, ToolPolicy

CASES = json.loads((Path(__file__).parents[1] / "cases" / "decisions.json").read_text())
SECRET = b"a key for tests"
MAIL = {"to": "alice@example.com", "subject": "Meeting", "body": "At 10."}
APPROVE = {"type": "approve"}


def schema_tool(name: str, schema: dict[str, Any]) -> StructuredTool:
    """A tool of which nothing but its JSON Schema is known."""
    return StructuredTool(name=name, description="", args_schema=schema, func=lambda **_: None)


def agent_of_the_cases() -> Agent:
    tools = CASES["tools"]
    return Agent(
        name="cases",
        title="Cases",
        tools=[schema_tool(name, tool["args_schema"]) for name, tool in tools.items()],
        policy=Policy(
            {
                name: ToolPolicy(
                    Tier(tool["tier"]),
                    allowed=tuple(tool.get("allowed_decisions", ())),
                    effects=name != "ask_user",
                )
                for name, tool in tools.items()
            }
        ),
        prompt="",
    )


AGENT = agent_of_the_cases()


def waiting(tool: str, args: dict[str, Any], allowed: list[str], place: int = 0) -> Action:
    """An action as it stands while it waits for its decision."""
    action = Action(
        key=Key("t-1", "m-1", f"c{place}"),
        agent="cases",
        tool=tool,
        args=args,
        proposed_tool=tool,
        proposed=args,
        tier="ask",
        why="",
        summary="…",
        allowed=tuple(allowed),
        policy_version=AGENT.policy.version,
        state=ActionState.PENDING,
        position=place,
    )
    return with_digests(action, SECRET)


def actions_of(case: dict[str, Any]) -> list[Action]:
    review = case["pending_review"]
    pairs = zip(review["action_requests"], review["review_configs"], strict=True)
    return [
        waiting(request["name"], request["args"], config["allowed_decisions"], place)
        for place, (request, config) in enumerate(pairs)
    ]


def mail(**changes: Any) -> Action:
    return waiting("send_email", {**MAIL, **changes}, ["approve", "edit", "reject"])


def edit(name: str = "send_email", **args: Any) -> dict[str, Any]:
    return {
        "type": "edit",
        "edited_action": {"name": name, "args": args or {**MAIL, "to": "bob@example.com"}},
    }


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.parametrize("case", [c for c in CASES["cases"] if not c["expect"]["error"]], ids=named)
def test_a_fitting_decision_is_accepted(case: dict[str, Any]) -> None:
    accepted = check_decisions(case["decisions"], actions_of(case), AGENT, SECRET)
    assert [one.type for one in accepted] == [one["type"] for one in case["decisions"]]


@pytest.mark.parametrize("case", [c for c in CASES["cases"] if c["expect"]["error"]], ids=named)
def test_a_decision_that_cannot_be_taken_is_refused_by_name(case: dict[str, Any]) -> None:
    expected = getattr(errors, case["expect"]["error"])
    with pytest.raises(expected) as refused:
        check_decisions(case["decisions"], actions_of(case), AGENT, SECRET)
    mentions = case["expect"]["message_mentions"] + case["expect"].get("python_message_mentions", [])
    assert [word for word in mentions if word not in str(refused.value)] == []


@pytest.mark.parametrize("odd", [None, {}, "approve", 3, {"type": "approve"}, ()])
def test_what_is_no_list_is_no_set_of_decisions(odd: Any) -> None:
    with pytest.raises(InvalidDecision, match="list"):
        check_decisions(odd, [mail()], AGENT, SECRET)


@pytest.mark.parametrize("field", ["message", "comment"])
@pytest.mark.parametrize(
    "words",
    [3, ["no"], {"text": "no"}, "\ud800", "x" * 100_001],
    ids=["number", "list", "object", "half a pair", "too long"],
)
def test_words_that_are_no_text_are_refused(field: str, words: Any) -> None:
    with pytest.raises(InvalidDecision, match=field):
        check_decisions([{"type": "reject", field: words}], [mail()], AGENT, SECRET)


def test_a_type_written_with_another_class_of_text_is_refused() -> None:
    with pytest.raises(InvalidDecision):
        check_decisions([{"type": b"approve"}], [mail()], AGENT, SECRET)


def test_an_approval_leaves_the_action_as_it_was_shown() -> None:
    action = mail()
    (one,) = check_decisions([APPROVE], [action], AGENT, SECRET)
    assert one.after == replace(action, state=ActionState.APPROVED)


def test_an_approval_is_answered_to_the_interrupt_with_its_type_alone() -> None:
    (one,) = check_decisions([{**APPROVE, "message": "fine", "comment": "seen"}], [mail()], AGENT, SECRET)
    assert one.wire == {"type": "approve"}


def test_a_comment_is_kept_for_the_record() -> None:
    (one,) = check_decisions([{**APPROVE, "comment": "seen"}], [mail()], AGENT, SECRET)
    assert one.comment == "seen"


def test_a_rejection_tells_the_model_the_reason() -> None:
    (one,) = check_decisions([{"type": "reject", "message": "not him"}], [mail()], AGENT, SECRET)
    assert one.told is not None
    assert one.told == "User rejected this action. It was not executed. The user's reason: not him"


def test_a_rejection_of_blanks_has_no_reason() -> None:
    (one,) = check_decisions([{"type": "reject", "message": "  \n"}], [mail()], AGENT, SECRET)
    assert one.told == (
        "User rejected this action. It was not executed. Do not try it again unless the user asks for it."
    )


def test_an_answer_becomes_the_result_word_for_word() -> None:
    question = waiting("ask_user", {"question": "Which?"}, ["respond"])
    (one,) = check_decisions([{"type": "respond", "message": "  the first\n"}], [question], AGENT, SECRET)
    assert one.told == "  the first\n"


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_a_blank_answer_is_no_answer(blank: str) -> None:
    question = waiting("ask_user", {"question": "Which?"}, ["respond"])
    with pytest.raises(InvalidDecision, match="message"):
        check_decisions([{"type": "respond", "message": blank}], [question], AGENT, SECRET)


def test_an_edit_is_sealed_anew() -> None:
    action = mail()
    (one,) = check_decisions([edit()], [action], AGENT, SECRET)
    assert one.after.args == {**MAIL, "to": "bob@example.com"}
    assert one.after.call_digest != action.call_digest
    assert one.after.shown_digest != action.shown_digest


def test_an_edit_keeps_the_proposal() -> None:
    (one,) = check_decisions([edit()], [mail()], AGENT, SECRET)
    assert (one.after.proposed_tool, one.after.proposed) == ("send_email", MAIL)


def test_an_edit_to_another_tool_is_described_as_that_tool() -> None:
    (one,) = check_decisions([edit("archive_mail", message_id="m-1")], [mail()], AGENT, SECRET)
    assert one.after.summary.startswith("Call archive_mail with")


def test_an_edit_answers_the_interrupt_with_the_whole_action() -> None:
    (one,) = check_decisions([edit()], [mail()], AGENT, SECRET)
    assert one.wire["edited_action"] == {"name": "send_email", "args": one.after.args}


def test_an_edit_that_changes_nothing_is_the_same_call() -> None:
    action = mail()
    (one,) = check_decisions([edit(**MAIL)], [action], AGENT, SECRET)
    assert one.after.call_digest == action.call_digest


def test_a_decision_on_what_was_on_screen_is_accepted() -> None:
    action = mail()
    assert check_decisions([{**APPROVE, "shown_digest": action.shown_digest}], [action], AGENT, SECRET)


@pytest.mark.parametrize("kind", [APPROVE, {"type": "reject"}, edit()], ids=["approve", "reject", "edit"])
def test_a_decision_on_something_else_is_refused(kind: dict[str, Any]) -> None:
    stale = mail(body="At 11.").shown_digest
    with pytest.raises(ReviewChanged):
        check_decisions([{**kind, "shown_digest": stale}], [mail()], AGENT, SECRET)


@pytest.mark.parametrize("odd", ["", 0, [], {}, False])
def test_a_digest_that_is_none_is_not_that_of_the_review(odd: Any) -> None:
    with pytest.raises(ReviewChanged):
        check_decisions([{**APPROVE, "shown_digest": odd}], [mail()], AGENT, SECRET)


def test_an_edit_confirmed_as_it_was_previewed_is_accepted() -> None:
    action = mail()
    (preview,) = check_decisions([edit()], [action], AGENT, SECRET)
    assert check_decisions([{**edit(), "edited_digest": preview.after.shown_digest}], [action], AGENT, SECRET)


def test_an_edit_that_would_now_show_something_else_is_refused() -> None:
    with pytest.raises(ReviewChanged):
        check_decisions([{**edit(), "edited_digest": mail().shown_digest}], [mail()], AGENT, SECRET)


def test_a_confirmation_without_an_edit_is_ignored() -> None:
    assert check_decisions([{**APPROVE, "edited_digest": "stale"}], [mail()], AGENT, SECRET)


def test_the_number_is_checked_before_the_kind() -> None:
    with pytest.raises(InvalidDecision, match="needs 2"):
        check_decisions([{"type": "nonsense"}], [mail(), mail()], AGENT, SECRET)


def test_every_decision_is_checked_before_any_digest() -> None:
    with pytest.raises(InvalidDecision, match="Decision 2"):
        check_decisions(
            [{**APPROVE, "shown_digest": "stale"}, {"type": "respond"}], [mail(), mail()], AGENT, SECRET
        )


def test_the_first_faulty_decision_is_the_one_named() -> None:
    with pytest.raises(InvalidDecision, match="Decision 1"):
        check_decisions([{"type": "respond"}, {"type": "nonsense"}], [mail(), mail()], AGENT, SECRET)


def test_a_single_decision_is_summed_up_by_its_type() -> None:
    assert outcome(check_decisions([APPROVE], [mail()], AGENT, SECRET)) == "approve"


def test_several_decisions_are_summed_up_by_number() -> None:
    accepted = check_decisions(
        [APPROVE, {"type": "reject"}, APPROVE], [mail(), mail(), mail()], AGENT, SECRET
    )
    assert outcome(accepted) == "2 approve, 1 reject"


def test_an_edit_into_what_the_policy_denies_for_its_arguments_is_refused() -> None:
    eve = Case(Tier.DENY, {"properties": {"to": {"const": "eve@example.com"}}}, why="Nobody writes to Eve.")
    entries = {**AGENT.policy.tools, "send_email": replace(AGENT.policy.tools["send_email"], cases=(eve,))}
    agent = replace(AGENT, policy=replace(AGENT.policy, tools=entries))
    action = waiting("send_email", MAIL, ["approve", "edit"])

    def edit(to: str) -> list[dict[str, Any]]:
        return [{"type": "edit", "edited_action": {"name": "send_email", "args": {**MAIL, "to": to}}}]

    with pytest.raises(InvalidDecision, match=r"denied with these arguments\. Nobody writes to Eve\."):
        check_decisions(edit("eve@example.com"), [action], agent, SECRET)
    assert check_decisions(edit("bob@example.com"), [action], agent, SECRET)[0].after.args == {
        **MAIL,
        "to": "bob@example.com",
    }
