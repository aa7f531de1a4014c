"""Scripts and styles of the pages' own components, one file each, read once at import."""

from __future__ import annotations

from pathlib import Path


def source(name: str) -> str:
    """Return the text of this folder's file with that name."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
