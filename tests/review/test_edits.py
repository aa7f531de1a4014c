"""When an edit is large, and when a call is the one that was edited away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool

from agent.review.actions import Action, ActionState, Key
from agent.review.agents import Agent
from agent.review.edits import Large, edited_away, how_large
from agent.review.policy import Policy, Tier, ToolPolicy

BODY = "The meeting on the roof moved to ten, so please bring your own chair and a hat."


@tool
def move(path: str, times: int = 1, force: bool = False) -> str:
    """Move it."""
    return f"{path} {times} {force}"


def an_agent(*tools: BaseTool, **changes: Any) -> Agent:
    policy = Policy({} if changes else {one.name: ToolPolicy(Tier.ASK) for one in tools})
    return Agent("files", "Files", tools, policy, "", **changes)


AGENT = an_agent(move)
WHOLE = {"path": "a", "times": 1, "force": False}
"""What the tool gets of no more than a path."""


def call(args: dict[str, Any] | None, proposed: Any = None, tool: str = "move") -> Action:
    return Action(
        key=Key("t", "m", "c"),
        agent="files",
        tool=tool,
        args=args,
        proposed_tool=tool,
        proposed=args if proposed is None else proposed,
        tier="ask",
        why="",
        summary="",
        allowed=("edit",),
        policy_version="1",
        state=ActionState.PENDING,
        position=0,
    )


def was_edited(proposed: Any, to: dict[str, Any], tool: str = "move") -> Action:
    return replace(call(to, proposed), tool=tool, proposed_tool="move", state=ActionState.DONE)


MAIL = {"to": "a@x.org", "subject": "s", "body": BODY}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (MAIL, MAIL),
        (MAIL, {**MAIL, "to": "nobody.like.that@elsewhere.example"}),
        (MAIL, {**MAIL, "body": BODY.replace("ten", "eleven")}),
        (MAIL, {**MAIL, "body": BODY.upper().lower().replace("the", "The", 1)}),
        ({"path": "notes/a.txt"}, {"path": "b"}),
        ({"path": "a", "times": 1}, {"path": "a", "times": 2}),
        ({"text": "seven words are not yet a text"}, {"text": "none of it kept"}),
        ({"a": 1, "b": 2, "c": 3, "d": 4}, {"a": 0, "b": 0, "c": 3, "d": 4}),
        ({}, {"a": 1}),
        (None, {}),
    ],
)
def test_an_edit_that_leaves_the_call_what_it_was_is_not_large(before: Any, after: Any) -> None:
    assert how_large(call(before), call(after)) is None


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (MAIL, {**MAIL, "to": "b@x.org", "subject": "t"}, Large.MOST),
        ({"a": 1, "b": [1, 2]}, {"a": 1.0, "b": [1, 3]}, Large.MOST),
        ({"a": 1, "b": 2}, {"c": 1, "d": 2}, Large.MOST),
        ({"a": 1}, {"a": 1, "b": 2, "c": 3}, Large.MOST),
        (MAIL, {**MAIL, "body": "No."}, Large.TEXT),
        (MAIL, {**MAIL, "body": f"{BODY} {'More and more. ' * 8}"}, Large.TEXT),
        ({"all": [{"body": BODY}, 1]}, {"all": [{"body": ""}, 1]}, Large.TEXT),
    ],
)
def test_an_edit_of_most_arguments_or_of_a_whole_text_is_large(before: Any, after: Any, why: Large) -> None:
    assert how_large(call(before), call(after)) is why


def test_an_edit_to_another_tool_is_large_whatever_it_keeps() -> None:
    assert how_large(call({"path": "a"}), call({"path": "a"}, tool="copy")) is Large.TOOL


@pytest.mark.parametrize(
    ("proposed", "args"),
    [
        ({"path": "a"}, WHOLE),
        ({"path": "a", "times": "1"}, WHOLE),
        ({"force": False, "unknown": 1, "path": "a"}, WHOLE),
        ('{"path": "a"}', WHOLE),
    ],
)
def test_the_original_is_known_by_what_the_tool_would_get_of_it(proposed: Any, args: dict[str, Any]) -> None:
    edited = was_edited(proposed, {"path": "b", "times": 1, "force": False})
    assert edited_away(call(args), [edited], AGENT) is edited


@pytest.mark.parametrize(
    ("action", "edited"),
    [
        (call({"path": "b", "times": 1, "force": False}), was_edited({"path": "a"}, {"path": "b"})),
        (call({"path": "a"}, tool="copy"), was_edited({"path": "a"}, {"path": "a"}, tool="copy")),
        (call(WHOLE), was_edited({"path": "a"}, WHOLE)),
        (call(None, "not JSON"), was_edited("not JSON", {"path": "b"})),
        (call(WHOLE), was_edited("[1]", {"path": "b"})),
        (call(WHOLE), was_edited({"path": 7}, {"path": "b"})),
    ],
    ids=["what ran instead", "of another tool", "not changed", "unreadable", "no object", "does not fit"],
)
def test_another_call_is_not_the_original(action: Action, edited: Action) -> None:
    assert edited_away(action, [edited], AGENT) is None


def test_the_edit_given_first_is_found() -> None:
    last, earlier = (was_edited({"path": "a"}, {"path": to}) for to in "bc")
    action = call(WHOLE)
    assert edited_away(action, [last, earlier], AGENT) is last


def test_the_original_of_a_tool_without_schema_is_known_by_its_words() -> None:
    elsewhere = an_agent(gates_itself=True)
    edited = was_edited({"path": "a"}, {"path": "b"})
    assert edited_away(call({"path": "a"}), [edited], elsewhere) is edited
    assert edited_away(call({"path": "b"}), [edited], elsewhere) is None
    assert edited_away(call({"path": "a"}), [edited], an_agent()) is None
