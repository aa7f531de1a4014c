"""What a tool's function returned is kept so that the same is returned once more, or not at all."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from agent.engine import outcomes

LIMIT = 1_000_000
MESSAGE = ToolMessage("noted", tool_call_id="c1", name="note", id="m-1")
WORTH_KEEPING = [
    "a text",
    "",
    {"n": 1, "at": datetime(2030, 1, 1, tzinfo=UTC)},
    [1, 2.5, None, True],
    ("content", {"artifact": b"bytes"}),
    MESSAGE,
    Command(update={"spent": 5, "messages": [MESSAGE]}),
    None,
]


@pytest.mark.parametrize("returned", WORTH_KEEPING, ids=repr)
def test_what_was_returned_is_returned_again(returned: Any) -> None:
    text = outcomes.text_of(returned)
    kept = outcomes.kept(returned, text, LIMIT)
    found = outcomes.again(kept, text, settled=False)
    assert found is not None
    assert (type(found.value), repr(found.value)) == (type(returned), repr(returned))


class Own:
    """A class that no checkpoint may make objects of."""

    def __reduce__(self) -> Any:
        return os.system, ("exit 1",)


@pytest.mark.parametrize(
    "returned",
    [Own(), {"deep": [Own()]}, object, ("text", Own())],
    ids=["itself", "inside", "a class", "an artifact"],
)
def test_what_cannot_be_read_back_is_not_kept(returned: Any) -> None:
    assert outcomes.kept(returned, "text", LIMIT) is None
    assert outcomes.again(None, "text", settled=False) is None


def test_a_text_stands_on_record_once() -> None:
    assert outcomes.kept("sent", "sent", LIMIT) == outcomes.THE_TEXT


def test_what_a_person_settled_is_returned_in_their_words() -> None:
    found = outcomes.again(None, "It took effect.", settled=True)
    assert found is not None
    assert found.value == "It took effect."


def test_half_of_a_pair_is_written_out_wherever_it_stands() -> None:
    message = ToolMessage("\ud800", tool_call_id="c1")
    found = outcomes._whole([{"k\udc00": "\ud800 x"}, ("\ud800",), message])
    assert found[0] == {"k\\udc00": "\\ud800 x"}
    assert found[1] == ("\\ud800",)
    assert found[2].content == "\\ud800"


def test_a_long_text_is_bounded_once_and_for_all() -> None:
    bounded = outcomes.recordable("x" * 5_000, 1_000)
    assert len(bounded.encode()) <= 1_000
    assert outcomes.recordable(bounded, 1_000) == bounded


def test_an_error_of_the_functions_own_is_one() -> None:
    failed = ToolMessage("no", tool_call_id="c1", status="error")
    assert outcomes.is_error(failed)
    assert outcomes.is_error(Command(update={"messages": [failed]}))
    assert outcomes.is_error((failed, None))
    assert not outcomes.is_error("error")


def test_the_text_is_what_the_model_reads() -> None:
    assert outcomes.text_of(("content", {"artifact": 1}), paired=True) == "content"
    assert outcomes.text_of(Command(update={"messages": [MESSAGE]})) == "noted"
    assert outcomes.text_of({"ä": 1}) == '{"ä": 1}'
