"""Every text of a card has a fold with a name, and no argument can take the name of another fold."""

from __future__ import annotations

from typing import Any

import pytest

from agent.review.actions import Action, Key, State
from agent.review.seen import texts


def proposed(args: dict[str, Any] | None, as_it_came: Any) -> Action:
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
        state=State.PENDING,
        position=0,
    )


def test_each_text_is_named() -> None:
    found = list(texts(proposed({"to": "a", "odd key": 1}, {"to": "a", "odd key": "1"})))
    assert found == [
        ("summary", "Send it."),
        ("why", "It reaches somebody."),
        ("args.to", "a"),
        ('args["odd key"]', "1"),
        ("json", '{\n  "to": "a",\n  "odd key": 1\n}'),
        ("raw", '{\n  "to": "a",\n  "odd key": "1"\n}'),
    ]


@pytest.mark.parametrize("name", ["summary", "why", "json", "raw", "claim", ""])
def test_no_argument_takes_the_name_of_another_fold(name: str) -> None:
    names = [name for name, _ in texts(proposed({name: "x"}, {}))]
    assert len(set(names)) == len(names)


def test_a_proposal_that_could_not_be_read_is_shown_as_it_came() -> None:
    assert dict(texts(proposed(None, "{not JSON")))["raw"] == "{not JSON"
