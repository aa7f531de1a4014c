"""Tables that programs write into a document, each between two marks of its own."""

from __future__ import annotations

from pathlib import Path


def write_between(path: Path, name: str, table: str) -> None:
    """Put the table between `<!-- name: begin -->` and `<!-- name: end -->`. Raises ValueError without those marks."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, begun, rest = path.read_text(encoding="utf-8").partition(begin)
    _, ended, after = rest.partition(end)
    if not begun or not ended:
        raise ValueError(f"{path} has no place for {name}: put {begin} and {end} into it.")
    path.write_text(f"{before}{begin}\n{table}\n{end}{after}", encoding="utf-8")
