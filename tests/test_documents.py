"""What the repository's documents lead to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.documents import README, links

DOCUMENTS = sorted(
    [
        README,
        *(ROOT / ".github").glob("*.md"),
        *ROOT.glob("agent/*/README.md"),
        *ROOT.glob("tests/*/README.md"),
    ]
)
PATH = re.compile(r"`((?:agent|pages|tests|\.ci|\.github)/[a-z_/.]*)`")
each = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


@each
def test_a_link_leads_somewhere(document: Path) -> None:
    assert [target for target in links(document) if not (document.parent / target).exists()] == []


@each
def test_a_file_or_folder_that_is_named_is_there(document: Path) -> None:
    named = PATH.findall(document.read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []
