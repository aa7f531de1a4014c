"""Long runs: `python -m tests.received --rounds 200` and `python -m tests.received --draws 5000`; or both at once."""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import tempfile
import time
from pathlib import Path

import agent  # noqa: F401  sets LangGraph's strict checkpoint reading before LangGraph is imported
from agent.settings import Settings
from tests.own_settings import OwnSettings
from tests.received import at_random
from tests.received.driving import scene_of
from tests.received.side_by_side import GRAPHS, KINDS, Round, faults, play


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.received", description=__doc__)
    options.add_argument(
        "--rounds", type=int, default=0, help="rounds of two helpers side by side, of each kind"
    )
    options.add_argument("--draws", type=int, default=0, help="schemas and arguments at random")
    options.add_argument("--seed", type=int, default=None, help="the seed of an earlier run")
    given = options.parse_args()
    if not given.rounds and not given.draws:
        options.print_help()
        return 2
    seed = secrets.randbelow(2**32) if given.seed is None else given.seed
    print(f"seed {seed}")
    settings = OwnSettings(review_demo_delay=0, review_reviewer="ana")
    found = (_side_by_side(settings, given.rounds, seed), _at_random(settings, given.draws, seed))
    return 1 if any(found) else 0


def _side_by_side(settings: Settings, rounds: int, seed: int) -> int:
    """How many rounds went wrong."""
    if not rounds:
        return 0
    started, wrong, chance = time.monotonic(), 0, random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, scene_of(settings, Path(folder), GRAPHS) as scene:
        for number in range(rounds):
            for kind in KINDS:
                one = Round.drawn(number, kind, chance)
                try:
                    found = faults(play(scene, one), one)
                except (AssertionError, ValueError) as error:
                    found = [f"round {one}: {error}"]
                wrong += bool(found)
                print("".join(f"{fault}\n" for fault in found), end="")
    print(f"{rounds} rounds of each of {', '.join(KINDS)}: {wrong} wrong, {time.monotonic() - started:.0f} s")
    return wrong


def _at_random(settings: Settings, draws: int, seed: int) -> int:
    """How many draws showed a difference."""
    if not draws:
        return 0
    started = time.monotonic()
    found = at_random.run(settings, draws, seed)
    counts = ", ".join(f"{name} {number}" for name, number in sorted(found.counts.items()))
    if found.faults:
        print(found.smallest)
    print(f"{counts}: {len(found.faults)} differences, {time.monotonic() - started:.0f} s")
    return len(found.faults)


if __name__ == "__main__":
    sys.exit(main())
