"""A table goes between its own marks, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents import between
from tests.forked import ROOT
from tests.marks import write_between

TEXT = "a\n<!-- one: begin -->\nold\n<!-- one: end -->\nb\n<!-- two: begin -->\nkept\n<!-- two: end -->\nc\n"


def test_only_what_stands_between_the_marks_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(TEXT)
    write_between(path, "one", "new")
    assert path.read_text() == TEXT.replace("old", "new")


def test_without_marks_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(TEXT)
    with pytest.raises(ValueError, match="three"):
        write_between(path, "three", "new")
    assert path.read_text() == TEXT


@pytest.mark.parametrize(("document", "name"), [("faults", "faults"), ("bench", "speed")])
def test_each_program_has_its_place_in_the_document_next_to_it(document: str, name: str) -> None:
    assert between(ROOT / "tests" / document / "README.md", name).strip().startswith("|")
