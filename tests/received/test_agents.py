"""The whole table through every kind of agent: received is recorded is shown, or nothing ran and it is said why."""

from __future__ import annotations

import pytest

from tests.received.agents import ASKING, OWN
from tests.received.comparing import compare, hold_card, received
from tests.received.driving import Scene, Turn, call, in_a_task
from tests.received.spelling import shape, spelt
from tests.received.table import REFUSED, ROWS, Row

BY_ROW = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
APPROVED, EDITED = "approved", "edited"


def proposed(scene: Scene, kind: str, row: Row, *ids: str) -> Turn:
    """The row's call, proposed once under each of these ids."""
    lines = [call(one, row.name, row.proposed) for one in ids]
    return scene.begin(kind, in_a_task(*lines) if kind == "boss" else "\n".join(lines))


def has_to_run(kind: str, row: Row, values: object) -> bool:
    return values != REFUSED and not row.may_refuse and not (row.graph_only and kind in OWN)


def the_tool_broke(turn: Turn, kind: str, row: Row) -> bool:
    """Whether the call ended its whole run, as LangChain lets some do; then nothing was received, and it is said why."""
    if turn.answer["status"] == "idle":
        return False
    assert turn.answer["status"] == "failed", turn.answer
    assert not has_to_run(kind, row, row.received), turn.answer["error"]
    assert received(row) == []
    assert turn.answer["error"]
    return True


@BY_ROW
@pytest.mark.parametrize("kind", ASKING)
def test_what_is_approved_or_edited_is_received_as_it_was_shown(scene: Scene, kind: str, row: Row) -> None:
    turn = proposed(scene, kind, row, APPROVED, EDITED)
    turn.decide_each([APPROVED, EDITED], {EDITED: row.edit})
    if the_tool_broke(turn, kind, row):
        return
    found = compare(turn, row, [APPROVED, EDITED], asked=True)
    for name, values in ((APPROVED, row.received), (EDITED, row.edited)):
        unsteady_edit = name == EDITED and not row.steady and row.edit == row.proposed
        if has_to_run(kind, row, values) and not unsteady_edit:
            assert name in found, turn.said.get(name) or turn.actions(row.name)[name]["result"]
        if name in found and row.steady and not (row.open_schema and (kind in OWN or name == EDITED)):
            assert spelt(found[name]) == spelt(values)
        if name in found and not row.steady:
            assert shape(found[name]) == shape(values)
    for name in (APPROVED, EDITED):
        hold_card(turn, row, name)


@BY_ROW
def test_what_runs_unasked_is_received_as_it_is_recorded(scene: Scene, row: Row) -> None:
    turn = proposed(scene, "own_auto", row, "free")
    if the_tool_broke(turn, "own_auto", row):
        return
    found = compare(turn, row, ["free"], asked=False)
    if has_to_run("own_auto", row, row.received):
        assert "free" in found, turn.actions(row.name)["free"]["result"]
    if "free" in found and not row.open_schema:
        agreed = spelt if row.steady else shape
        assert agreed(found["free"]) == agreed(row.received)
