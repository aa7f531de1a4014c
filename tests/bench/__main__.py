"""Measure the console beside what people would use instead, and print what came of it as a table.

python -m tests.bench [--quick] [--only WORDS] [--json FILE] [--data FOLDER] [--soak TURNS] [--readme]
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.bench import seed, subjects
from tests.bench.figures import Figure, table
from tests.bench.machine import described
from tests.bench.scale import FULL, QUICK
from tests.marks import write_between


def main() -> int:
    asked = _arguments()
    scale = QUICK if asked.quick else replace(FULL, soak=asked.soak)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if asked.data:
            seed.keep(Path(folder), asked.data.resolve())
        for name, measure in subjects.ALL.items():
            if asked.only in name:
                _forget_the_last()
                for figure in measure(scale, Path(folder)):
                    print(figure.row(), flush=True)
                    figures.append(figure)
    print(f"\n{table(figures)}\n\n{described()}")
    if asked.json:
        kept = {"machine": described(), "figures": [figure.kept() for figure in figures]}
        asked.json.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if asked.readme:
        write_between(Path(__file__).with_name("README.md"), "speed", f"{table(figures)}\n\n{described()}")
    return 0


def _forget_the_last() -> None:
    """Let no collection that falls into what is timed now go through what was measured before, and all that was imported."""
    gc.collect()
    gc.freeze()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="so little of each that only its running is shown"
    )
    parser.add_argument("--only", default="", help="only subjects whose name has these words in it")
    parser.add_argument("--json", type=Path, help="keep the figures in this file")
    parser.add_argument("--data", type=Path, help="keep the large ledgers here, and use them again")
    parser.add_argument("--soak", type=int, default=FULL.soak, help="turns over which memory is watched")
    parser.add_argument("--readme", action="store_true", help="write the table into the README.md here")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
