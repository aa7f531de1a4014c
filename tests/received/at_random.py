"""Schemas and arguments at random, through a console of their own: received is recorded is shown, or it is refused."""

from __future__ import annotations

import copy
import tempfile
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import strategies as st

from agent.settings import Settings
from tests.received import drawn_agents
from tests.received.comparing import compare, received
from tests.received.drawing import Drawn, drawn
from tests.received.driving import Scene, call, scene_of
from tests.received.rows import Row
from tests.received.spelling import shape, spelt
from tests.received.writing import RECEIVED, tool_of

BATCH = 8
"""Draws that share one console, which takes longer to open than a turn."""
SMALLEST = 8
"""How many faults are told."""
KINDS = ("own", "created")
GRAPHS = {kind: f"./tests/received/drawn_agents.py:{kind}" for kind in KINDS}
APPROVED, EDITED = "approved", "edited"


def rows_of(some: Sequence[Drawn]) -> list[Row]:
    """The draws as rows; LangChain alone says what each has to receive, and None where it refuses."""
    rows = []
    for number, one in enumerate(some):
        name = f"drawn_{number}"
        make, (proposed, edit) = partial(tool_of, name, one.schema(name)), one.args()
        values = [_alone(make, name, args) for args in (proposed, edit)]
        rows.append(Row(name, make, proposed, values[0], edit, values[1], steady=one.steady))  # type: ignore[arg-type]
    return rows


def _alone(make: Any, name: str, args: dict[str, Any]) -> dict[str, Any] | None:
    RECEIVED.clear()
    try:
        make().invoke({"type": "tool_call", "id": "c", "name": name, "args": copy.deepcopy(args)})
    except Exception:
        return None
    ((_, given),) = RECEIVED
    return given


@dataclass
class Found:
    """What came of a run of draws."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @property
    def smallest(self) -> str:
        """The faults that are told in the fewest words."""
        return "\n\n".join(sorted(self.faults, key=len)[:SMALLEST])


def play(settings: Settings, some: Sequence[Drawn], found: Found) -> None:
    """Propose each draw to both agents, approve one call and edit the other, and compare."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # pydantic warns of defaults that do not fit; here they are meant
        rows = rows_of(some)
        drawn_agents.MAKERS.clear()
        drawn_agents.MAKERS.update({row.name: row.make for row in rows})
        with scene_of(settings, Path(folder), GRAPHS) as scene:
            for row, one in zip(rows, some, strict=True):
                for kind in KINDS:
                    try:
                        _one(scene, kind, row, found.counts)
                    except AssertionError as error:
                        found.faults.append(f"{kind}: {one}\n{error}")
    found.counts["draws"] += len(some)


def _one(scene: Scene, kind: str, row: Row, counts: Counter[str]) -> None:
    turn = scene.begin(kind, *[call(one, row.name, row.proposed) for one in (APPROVED, EDITED)])
    turn.decide_each([APPROVED, EDITED], {EDITED: row.edit})
    if turn.answer["status"] == "failed":  # an error that LangChain lets end the run
        assert received(turn, row) == []
        assert turn.answer["error"]
        counts["ended the run"] += 1
        return
    assert turn.answer["status"] == "idle", turn.answer
    ran = compare(turn, row, [APPROVED, EDITED], asked=True)
    counts["received"] += len(ran)
    counts["not run"] += 2 - len(ran)
    _hold_against_langchain(row, ran)


def _hold_against_langchain(row: Row, found: dict[str, dict[str, Any]]) -> None:
    """What ran got what LangChain alone would have handed over; its types, where the values differ each time."""
    agreed = spelt if row.steady else shape
    for name, values in ((APPROVED, row.received), (EDITED, row.edited)):
        if name in found:
            assert agreed(found[name]) == agreed(values), (
                f"received {found[name]}, by LangChain alone {values}"
            )


def run(settings: Settings, draws: int, seed: int | None = None) -> Found:
    """So many draws, in batches; without a seed, always the same ones."""
    found = Found()

    @hypothesis.given(st.lists(drawn(), min_size=BATCH, max_size=BATCH))
    @hypothesis.settings(
        max_examples=-(-draws // BATCH),
        deadline=None,
        database=None,
        derandomize=seed is None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.generate],  # a draw is small as it is, and each try opens a console
    )
    def each(some: list[Drawn]) -> None:
        play(settings, some, found)

    (each if seed is None else hypothesis.seed(seed)(each))()
    return found
