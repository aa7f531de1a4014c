"""A console on a folder of its own, and how much of the disk it takes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from agent.bootstrap import Opened, open_console
from agent.settings import Settings
from tests.forked import ROOT
from tests.own_settings import OwnSettings


@contextmanager
def console_on(folder: Path) -> Iterator[Opened]:
    """A console with everything real, whose demo model does not pause between words."""
    opened = open_console(settings_for(folder))
    try:
        yield opened
    finally:
        opened.close()


def settings_for(folder: Path) -> Settings:
    folder.mkdir(parents=True, exist_ok=True)
    return OwnSettings(
        review_data=folder / "data",
        review_agents=ROOT / "langgraph.json",
        review_anchor=folder / "anchors.jsonl",
        review_demo_delay=0,
        review_reviewer="ana",
    )


def disk(*files: Path) -> int:
    """Bytes of these databases, with what stands in their write-ahead logs and will be moved into them."""
    total = 0
    for file in files:
        with closing(sqlite3.connect(file, timeout=30)) as conn:
            (pages,), (size,) = (
                conn.execute(f"PRAGMA {what}").fetchone() for what in ("page_count", "page_size")
            )
            total += pages * size
    return total
