"""The long run: `python -m tests.linear` doubles every worst input from 62,500 to a million characters."""

from __future__ import annotations

import sys
import time

from tests.linear.growth import CASES, MOST, SIZES, worst


def main() -> int:
    started, wrong = time.monotonic(), 0
    for name in CASES:
        found, size = worst(name, SIZES)
        if found > MOST:
            wrong += 1
            print(f"{name}: {size:,} characters take {found:.1f} times as long as half of them")
    print(
        f"{len(CASES)} inputs of up to {SIZES[-1]:,} characters: {wrong} too slow, {time.monotonic() - started:.0f} s"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
