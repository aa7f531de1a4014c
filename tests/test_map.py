"""The README's map leads to what is there, and so does every link of a document."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.documents import README, between, blocks, links

MAP = between(README, "map")
PLACES = [line.split()[0] for block in blocks(MAP, "") for line in block.splitlines() if line[:1].strip()]
QUESTIONS = re.findall(r"^\| (?!where \||---)(.+?) \| (.+?) \| (.+?) \|$", MAP, re.M)
ASKED = 10
DOCUMENTS = sorted(
    [
        README,
        *(ROOT / ".github").glob("*.md"),
        *ROOT.glob("agent/*/README.md"),
        *ROOT.glob("tests/*/README.md"),
    ]
)


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("place", PLACES)
def test_every_place_of_the_map_is_there(place: str) -> None:
    assert (ROOT / place).is_dir() if place.endswith("/") else (ROOT / place).is_file()


def test_the_map_names_every_room_of_the_agents_side() -> None:
    rooms = {f"agent/{found.parent.name}/" for found in ROOT.glob("agent/*/__init__.py")}
    assert rooms <= set(PLACES)


def test_the_map_answers_each_question() -> None:
    assert len(QUESTIONS) == ASKED


@pytest.mark.parametrize(("question", "files", "names"), QUESTIONS, ids=[one[0] for one in QUESTIONS])
def test_what_a_question_asks_for_is_in_the_file_named(question: str, files: str, names: str) -> None:
    paths = [ROOT / name for name in quoted(files)]
    assert paths, question
    assert all(path.is_file() for path in paths), files
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    for name in quoted(names):
        for part in name.split("."):
            assert re.search(rf"^ *(?:def|class) {part}\b|^{part}\b.* = ", text, re.M), name


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_documents_links_lead_somewhere(document: Path) -> None:
    assert [target for target in links(document) if not (document.parent / target).exists()] == []
