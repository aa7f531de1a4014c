"""The whole table through every kind of agent: received is recorded is shown, or nothing ran and it is said why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import pytest

from tests.received.agents import ASKING, OWN
from tests.received.comparing import compare, hold_card, received
from tests.received.driving import Scene, Turn, call, in_a_task
from tests.received.spelling import shape, spelt
from tests.received.table import BY_NAME, REFUSED, ROWS, Row

BY_ROW = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
TOGETHER = 5
"""Rows whose calls are proposed in one turn, which takes hardly longer than with one."""
Played = Callable[[str, Row], Turn]


def approved(row: Row) -> str:
    return f"{row.name}-approved"


def edited(row: Row) -> str:
    return f"{row.name}-edited"


def play(scene: Scene, kind: str, rows: Sequence[Row]) -> Turn:
    """Propose each row's call twice; one is approved and one is edited, wherever somebody is asked."""
    names = [name for row in rows for name in (approved(row), edited(row))]
    lines = [call(name, row.name, row.proposed) for row in rows for name in (approved(row), edited(row))]
    turn = scene.begin(kind, in_a_task(*lines) if kind == "boss" else "\n".join(lines))
    turn.decide_each(names, {edited(row): row.edit for row in rows})
    return turn


@pytest.fixture(scope="module")
def played(scene: Scene) -> Played:
    """Gives the turn in which a row was played by a kind of agent; each is played once."""

    @cache
    def together(kind: str, first: int) -> Turn | None:
        try:
            turn = play(scene, kind, ROWS[first : first + TOGETHER])
        except AssertionError:  # one of them is answered with an error, which is that row's alone
            return None
        return turn if turn.answer["status"] == "idle" else None

    @cache
    def alone(kind: str, name: str) -> Turn:
        return play(scene, kind, [BY_NAME[name]])

    def turn_of(kind: str, row: Row) -> Turn:
        place = ROWS.index(row)
        return together(kind, place - place % TOGETHER) or alone(kind, row.name)

    return turn_of


def has_to_run(kind: str, row: Row, values: object) -> bool:
    return values != REFUSED and not row.may_refuse and not (row.graph_only and kind in OWN)


def the_tool_broke(turn: Turn, kind: str, row: Row) -> bool:
    """Whether the call ended its whole run, as LangChain lets some do; then nothing was received, and it is said why."""
    if turn.answer["status"] == "idle":
        return False
    assert turn.answer["status"] == "failed", turn.answer
    assert not has_to_run(kind, row, row.received), turn.answer["error"]
    assert received(turn, row) == []
    assert turn.answer["error"]
    return True


@BY_ROW
@pytest.mark.parametrize("kind", ASKING)
def test_what_is_approved_or_edited_is_received_as_it_was_shown(played: Played, kind: str, row: Row) -> None:
    turn = played(kind, row)
    if the_tool_broke(turn, kind, row):
        return
    found = compare(turn, row, [approved(row), edited(row)], asked=True)
    for name, values in ((approved(row), row.received), (edited(row), row.edited)):
        unsteady_edit = name == edited(row) and not row.steady and row.edit == row.proposed
        if has_to_run(kind, row, values) and not unsteady_edit:
            assert name in found, turn.said.get(name) or turn.actions(row.name)[name]["result"]
        if name in found and row.steady and not (row.open_schema and (kind in OWN or name == edited(row))):
            assert spelt(found[name]) == spelt(values)
        if name in found and not row.steady:
            assert shape(found[name]) == shape(values)
    for name in (approved(row), edited(row)):
        hold_card(turn, row, name)


@BY_ROW
def test_what_runs_unasked_is_received_as_it_is_recorded(played: Played, row: Row) -> None:
    turn = played("own_auto", row)
    if the_tool_broke(turn, "own_auto", row):
        return
    found = compare(turn, row, [approved(row), edited(row)], asked=False)
    for name in (approved(row), edited(row)):
        if has_to_run("own_auto", row, row.received):
            assert name in found, turn.actions(row.name)[name]["result"]
        if name in found and not row.open_schema:
            agreed = spelt if row.steady else shape
            assert agreed(found[name]) == agreed(row.received)
