"""Where scenarios stand: those that were saved here, beside the record, and those that ship with the console."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent.bootstrap import Opened
from agent.scenarios.files import found, save, write_text
from agent.scenarios.format import Never
from agent.scenarios.recording import record

SHIPPED = Path(__file__).parents[2] / "tests" / "scenarios"
SAVED = "scenarios"
"""The folder of saved ones, in the data folder."""


def saved_in(opened: Opened) -> Path:
    """The folder of the scenarios that were saved on this console."""
    return opened.settings.review_data / SAVED


def on_shelf(opened: Opened) -> list[Path]:
    """Every scenario file there is: the saved ones first, the one saved last at the head."""
    own = list(found([saved_in(opened)])) if saved_in(opened).is_dir() else []
    own.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    return [*own, *(found([SHIPPED]) if SHIPPED.is_dir() else ())]


def save_thread(opened: Opened, thread_id: str, *, name: str, never: Sequence[Never] = ()) -> Path:
    """Save a thread as a scenario; gives its file. Raises what `record` does, and nothing is saved then."""
    made = record(opened, thread_id, name=name, never=never)
    return save(saved_in(opened), made.scenario, write_text(made))
