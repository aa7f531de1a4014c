"""What the repository's documents lead to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documents import README, links
from tests.forked import ROOT

DOCUMENTS = sorted(
    [
        README,
        *(ROOT / ".github").glob("*.md"),
        *ROOT.glob("agent/*/README.md"),
        *ROOT.glob("tests/*/README.md"),
    ]
)
PATH = re.compile(r"`((?:agent|pages|tests|\.ci|\.github)/[a-z_/.]*)`")
MODULE = re.compile(r"`([a-z_]+[.]py)`")
"""A module next to the document, named without its folder."""
OF_THE_READER = {"my_tools.py", "my_agent.py"}
each = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


@each
def test_a_link_leads_somewhere(document: Path) -> None:
    assert [target for target in links(document) if not (document.parent / target).exists()] == []


@each
def test_a_file_or_folder_that_is_named_is_there(document: Path) -> None:
    named = PATH.findall(document.read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []
    modules = set(MODULE.findall(document.read_text(encoding="utf-8"))) - OF_THE_READER
    assert [name for name in modules if not (document.parent / name).exists()] == []
