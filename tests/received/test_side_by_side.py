"""Two helpers at the same time with the same call ids: each gets its own decision and its own result."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from agent.settings import Settings
from tests.received.driving import Scene, scene_of
from tests.received.side_by_side import FATES, GRAPHS, KINDS, NAMES, Round, faults, play

ROUNDS = 4


@pytest.fixture(scope="module")
def scene(base_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with scene_of(base_settings, tmp_path_factory.mktemp("side"), GRAPHS) as found:
        yield found


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("kind", KINDS)
def test_each_helper_gets_its_own_result(scene: Scene, kind: str, number: int) -> None:
    one = Round.drawn(number, kind, random.Random(f"{kind}-{number}"))
    assert faults(play(scene, one), one) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", [NAMES, NAMES[::-1]])
def test_an_approval_is_used_by_the_helper_it_was_given_to(
    scene: Scene, kind: str, order: tuple[str, ...]
) -> None:
    one = Round(9, kind, {NAMES[0]: FATES[1], NAMES[1]: FATES[0]}, order)
    assert faults(play(scene, one), one) == []
