"""Each fault a few times: nothing decided is lost, nothing happens twice, nothing that happened is told as not done."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.conftest import missing
from tests.faults import own_clock
from tests.faults.bench import Bench
from tests.faults.trials import ALL, Trial, crowd

SEED = secrets.randbelow(10**6)

pytestmark = pytest.mark.process


class Benches:
    """One bench for all trials, so that servers are shared; a new one after whatever went wrong."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._made = folder, 0
        self._bench: Bench | None = None

    def ready(self, chance: Random) -> Bench:
        if self._bench is None:
            self._made += 1
            self._bench = Bench(self._folder / str(self._made), chance)
        self._bench.chance = chance
        return self._bench

    def abandon(self) -> None:
        if self._bench is not None:
            self._bench.abandon()
            self._bench = None

    def close(self) -> None:
        if self._bench is not None:
            self._bench.close()


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    found = Benches(tmp_path_factory.mktemp("faults"))
    yield found
    crowd.close()
    try:
        found.close()
    finally:
        found.abandon()


@pytest.mark.parametrize("trial", [trial for trial in ALL if trial.quick], ids=str)
def test_after_a_fault_everything_is_as_it_was_decided(trial: Trial, benches: Benches) -> None:
    if trial.own_clock and own_clock.library() is None:
        missing(own_clock.PACKAGE)
    chance = Random(f"{SEED} {trial}")
    print(f"seed {SEED}")
    for _ in range(trial.quick):
        try:
            trial.once(benches.ready(chance))
        except BaseException:
            benches.abandon()
            raise
