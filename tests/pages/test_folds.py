"""Every text of a card has a fold with a name, however many arguments there are, and approving waits for them."""

from __future__ import annotations

from typing import Any

import pytest

from agent.console import Console
from agent.review.actions import Action, ActionState, Key
from agent.review.arguments.args import show
from pages.parts.common.folds import MOST_ROWS, noted, texts
from tests.conftest import ask, waiting
from tests.pages.conftest import Opens, calls, of


def proposed(args: dict[str, Any] | None, as_it_came: Any, **notes: Any) -> Action:
    return Action(
        key=Key("t", "m", "c"),
        agent="mail",
        tool="send",
        args=args,
        proposed_tool="send",
        proposed=as_it_came,
        tier="ask",
        why="It reaches somebody.",
        summary="Send it.",
        allowed=(),
        policy_version="1",
        state=ActionState.PENDING,
        position=0,
        notes=notes,
    )


def test_each_text_is_named() -> None:
    found = list(texts(proposed({"to": "a", "odd key": 1}, {"to": "a", "odd key": "1"})))
    assert found == [
        ("summary", "Send it."),
        ("args.to", "a"),
        ('args["odd key"]', "1"),
        ("notes", ""),
        ("why", "It reaches somebody."),
        ("json", '{\n  "to": "a",\n  "odd key": 1\n}'),
        ("raw", '{\n  "to": "a",\n  "odd key": "1"\n}'),
    ]


@pytest.mark.parametrize("name", ["summary", "why", "json", "raw", "notes", "others", "claim", ""])
def test_no_argument_takes_the_name_of_another_fold(name: str) -> None:
    names = [name for name, _ in texts(proposed({name: "x"}, {}))]
    assert len(set(names)) == len(names)


def test_a_proposal_that_could_not_be_read_is_shown_as_it_came() -> None:
    assert dict(texts(proposed(None, "{not JSON")))["raw"] == "{not JSON"


def test_of_very_many_arguments_none_is_left_out() -> None:
    args = {f"n{number}": number for number in range(MOST_ROWS + 2)}
    found = dict(texts(proposed(args, {})))
    assert found[f"args.n{MOST_ROWS - 1}"] == str(MOST_ROWS - 1)
    assert found["others"] == show({name: args[name] for name in list(args)[MOST_ROWS:]})


def test_what_the_schema_made_of_a_proposal_is_told_line_by_line() -> None:
    made = proposed({}, {}, defaults=["args.a"], dropped=["args.b"], coerced=[["args.c", "1_000", 1000]])
    assert noted(made).split("\n") == [
        "args.a: filled in with the tool's default",
        "args.b: dropped, the tool has no such argument",
        "args.c: 1_000 (text) becomes 1000 (integer)",
    ]


def test_approving_waits_for_what_was_dropped_if_that_is_long(opens: Opens, console: Console) -> None:
    unknown = ", ".join(f'"n{number}": {number}' for number in range(100))
    call = calls(f'write_file {{"path": "a", "content": "b", {unknown}}}')
    review = waiting(console, ask(console, call, agent="operations"))
    screen = opens()
    assert screen.is_off(of("approve", review))
    assert "args.n99" not in screen.said()
    screen.open_text(noted(review.actions[0]))
    assert "args.n99: dropped" in screen.run().said()
    assert not screen.run().is_off(of("approve", review))
