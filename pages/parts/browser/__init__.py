"""Scripts and styles of the elements that the pages draw themselves, each a file that is read once."""

from __future__ import annotations

from pathlib import Path


def source(name: str) -> str:
    """The text of the file of that name in this folder."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
