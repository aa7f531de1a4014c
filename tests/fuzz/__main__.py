"""Long runs: `python -m tests.fuzz --times 500`, of everything or of one of its checks."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
import traceback

import agent  # noqa: F401  sets LangGraph's strict checkpoint reading before LangGraph is imported
from tests.fuzz.checks import CHECKS, bench


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("--times", type=int, default=100, help="draws of each check")
    options.add_argument("--only", choices=list(CHECKS), default=None, help="one of the checks")
    options.add_argument("--seed", type=int, default=None, help="the seed of an earlier run")
    given = options.parse_args()
    seed = secrets.randbelow(2**32) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    wrong = 0
    with bench() as made:
        for name in [given.only] if given.only else CHECKS:
            started = time.monotonic()
            try:
                CHECKS[name](made, given.times, seed)
                said = "nothing wrong"
            except BaseException:
                wrong += 1
                said = traceback.format_exc()
            print(f"{name}: {given.times} draws, {time.monotonic() - started:.0f} s: {said}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
