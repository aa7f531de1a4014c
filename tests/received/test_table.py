"""The table's own values: LangChain by itself, without the console, hands over what was written by hand."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from pydantic import ValidationError

from tests.received.agents import STORE, Quick
from tests.received.comparing import own_arguments
from tests.received.driving import call
from tests.received.spelling import reads_as, shape, spelt
from tests.received.table import BY_NAME, REFUSED, ROWS, Row
from tests.received.writing import RECEIVED


def invoked(row: Row, args: dict[str, Any]) -> dict[str, Any] | str:
    """What the tool's function receives from LangChain alone; `REFUSED` where LangChain refuses."""
    RECEIVED.clear()
    call = {"type": "tool_call", "id": "c1", "name": row.name, "args": copy.deepcopy(args)}
    try:
        row.make().invoke(call)
    except (ValidationError, TypeError, ValueError):
        assert RECEIVED == []
        return REFUSED
    ((tool, given),) = RECEIVED
    assert tool == row.name
    return {name: value for name, value in given.items() if name not in row.injected}


def test_every_row_has_a_name_of_its_own() -> None:
    assert len(BY_NAME) == len(ROWS)


@pytest.mark.parametrize(
    "row", [one for one in ROWS if not one.graph_only and one.steady], ids=lambda row: row.name
)
def test_langchain_alone_hands_over_what_the_row_says(row: Row) -> None:
    assert spelt(invoked(row, row.proposed)) == spelt(row.received)
    assert spelt(invoked(row, row.edit)) == spelt(row.edited)


def test_langgraph_alone_hands_over_what_the_rows_with_injected_arguments_say() -> None:
    rows = [one for one in ROWS if one.injected]
    graph = create_agent(Quick(), [one.make() for one in rows], store=STORE)
    for row in rows:
        RECEIVED.clear()
        graph.invoke({"messages": [HumanMessage(call("c1", row.name, row.proposed))]})
        assert spelt(own_arguments(row, [given for _, given in RECEIVED])) == spelt([row.received]), row.name


def test_a_row_that_is_not_steady_gives_something_else_each_time() -> None:
    for row in (one for one in ROWS if not one.steady):
        first, second = invoked(row, row.proposed), invoked(row, row.proposed)
        assert spelt(first) != spelt(second), row.name
        assert shape(first) == shape(second) == shape(row.received), row.name
        if row.edit != row.proposed:
            assert spelt(invoked(row, row.edit)) == spelt(row.edited), row.name


@pytest.mark.parametrize(
    ("value", "json"),
    [
        (5, "5"),
        (5, 5.0),
        (True, 1),
        ("x", None),
        ({"a"}, ["b"]),
        ([1, 2], [2, 1]),
        (b"x", "y"),
        ({"a": 1}, {}),
    ],
)
def test_json_that_says_another_value_is_not_taken_for_it(value: Any, json: Any) -> None:
    assert not reads_as(value, json)
