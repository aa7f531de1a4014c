"""Find and save scenario files: those saved on this console, and those that ship with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent.bootstrap import Opened
from agent.scenarios.files import found, save, write_text
from agent.scenarios.format import Never
from agent.scenarios.recording import record

SHIPPED = Path(__file__).parents[2] / "tests" / "scenarios"
SAVED = "scenarios"
"""The folder of saved scenarios, in the data folder."""


def saved_in(opened: Opened) -> Path:
    """Return the folder of the scenarios saved on this console."""
    return opened.settings.review_data / SAVED


def on_shelf(opened: Opened) -> list[Path]:
    """Return every scenario file: the saved ones first, latest first."""
    own = list(found([saved_in(opened)])) if saved_in(opened).is_dir() else []
    own.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    return [*own, *(found([SHIPPED]) if SHIPPED.is_dir() else ())]


def save_thread(opened: Opened, thread_id: str, *, name: str, never: Sequence[Never] = ()) -> Path:
    """Save a thread as a scenario; return its file. If `record` raises, nothing is saved."""
    made = record(opened, thread_id, name=name, never=never)
    return save(saved_in(opened), made.scenario, write_text(made))
