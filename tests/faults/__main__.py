"""Try every fault many times and print what came of it as a table, with the seed.

python -m tests.faults [--times 20] [--seed N] [--point WORDS] [--jobs 2] [--readme]
"""

from __future__ import annotations

import argparse
import platform
import secrets
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.faults.bench import Bench, DoubleEffect, FalseNotExecuted, LostDecision
from tests.faults.trials import ALL, Trial, crowd
from tests.marks import write_between

COUNTED = (LostDecision, DoubleEffect, FalseNotExecuted)
HEAD = (
    "| fault | times | lost decisions | double effects | false “not executed” | anything else wrong |\n"
    "|---|--:|--:|--:|--:|--:|"
)


@dataclass
class Tally:
    """What came of one trial."""

    trial: Trial
    times: int = 0
    wrong: Counter[str] = field(default_factory=Counter)

    def row(self) -> str:
        kinds = [self.wrong[kind.__name__] for kind in COUNTED]
        other = self.wrong.total() - sum(kinds)
        return "| " + " | ".join(map(str, [self.trial, self.times, *kinds, other])) + " |"


def main() -> int:
    asked = _arguments()
    print(f"seed {asked.seed}, {asked.times} times", flush=True)
    started = time.monotonic()
    chosen = [trial for trial in ALL if asked.point in str(trial)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        tallies = _try_all(chosen, asked, Path(folder))
    about = (
        f"Seed {asked.seed}, Python {platform.python_version()}, "
        f"{(time.monotonic() - started) / 60:.0f} minutes."
    )
    table = "\n".join([HEAD, *(tally.row() for tally in tallies), "", about])
    print(table)
    if asked.readme:
        write_between(Path(__file__).with_name("README.md"), "faults", table)
    return int(any(tally.wrong for tally in tallies))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument(
        "--times", type=int, default=20, help="how often each fault is tried; races several times as often"
    )
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(10**6), help="repeats what chance chose"
    )
    parser.add_argument("--point", default="", help="only faults whose name has these words in it")
    parser.add_argument("--jobs", type=int, default=2, help="how many faults are tried side by side")
    parser.add_argument("--readme", action="store_true", help="write the table into the README.md here")
    return parser.parse_args()


def _try_all(chosen: Sequence[Trial], asked: argparse.Namespace, folder: Path) -> list[Tally]:
    def tried(number: int) -> Tally:
        trial = chosen[number]
        # Its own chance: a trial comes out the same whichever others are tried.
        chance = Random(f"{asked.seed} {trial}")
        tally = _try(trial, max(1, round(asked.times * trial.full)), folder / str(number), chance)
        print(tally.row(), flush=True)
        return tally

    crowd.gather(any(trial.group.startswith("race") for trial in chosen))
    with ThreadPoolExecutor(asked.jobs) as pool:
        tallies = list(pool.map(tried, range(len(chosen))))
    crowd.close()
    return tallies


def _try(trial: Trial, times: int, folder: Path, chance: Random) -> Tally:
    """One trial many times on one folder; on a new one after whatever went wrong."""
    tally, bench = Tally(trial), Bench(folder / "0", chance)
    for turn in range(times):
        tally.times += 1
        try:
            trial.once(bench)
            if turn == times - 1:
                bench.close()
        except Exception as error:
            tally.wrong[type(error).__name__] += 1
            print(f"{trial}, {turn + 1}: ", end="", file=sys.stderr)
            traceback.print_exception(error, limit=-4)
            bench.abandon()
            bench = Bench(folder / str(turn + 1), chance)
    bench.abandon()
    return tally


if __name__ == "__main__":
    sys.exit(main())
