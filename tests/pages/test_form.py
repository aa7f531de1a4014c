"""The form of an edit keeps every value's exact type."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def drawn() -> None:
    from agent.review.actions import Action, ActionState, Key, Review, ReviewState
    from pages.parts.card.form import form

    action = Action(
        key=Key("t", "m", "c"),
        agent="mail",
        tool="set",
        args={"flag": False},
        proposed_tool="set",
        proposed={"flag": False},
        tier="ask",
        why="",
        summary="",
        allowed=(),
        policy_version="1",
        state=ActionState.PENDING,
        position=0,
    )
    review = Review("r", "t", "mail", ReviewState.OPEN, "2030-01-01T00:00:00.000000Z", None, (action,))
    schema = {"properties": {"flag": {"enum": [0, 0.0, False, "false", None]}}}
    form(review, action, {"flag": False}, schema, lambda _: None)


def test_a_choice_among_equal_values_of_other_types_is_the_exact_one() -> None:
    (choice,) = AppTest.from_function(drawn).run().selectbox
    assert choice.options == ["0", "0.0", "false", '"false"', "null"]
    assert choice.index == 2
