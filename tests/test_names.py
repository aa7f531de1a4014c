"""One name, one meaning; and words a reader takes in at once."""

from __future__ import annotations

import ast
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = [ROOT / "app.py", *sorted((ROOT / "agent").rglob("*.py")), *sorted((ROOT / "pages").rglob("*.py"))]


def public_classes(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path in SOURCES:
        for name in public_classes(path):
            places[name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


AVOIDED = re.compile(
    r"\b(?:of another make|mend(?:s|ed|ing)?|anew|lest|heed(?:s|ed)?|beside)\b", re.IGNORECASE
)
STORED = {'"mend"'}
"""The ledger's name of a delivery."""


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Every comment and string of a module, with its line."""
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING) and token.string not in STORED:
                yield token.start[0], token.string


def test_what_is_written_keeps_to_plain_words() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {words}"
        for path in SOURCES
        for line, text in texts(path)
        for words in AVOIDED.findall(text)
    ]
    assert found == []


def test_documents_keep_to_plain_words() -> None:
    documents = [ROOT / "README.md", *ROOT.glob("agent/*/README.md"), *ROOT.glob(".github/*.md")]
    assert [(str(path), AVOIDED.findall(path.read_text(encoding="utf-8"))) for path in documents] == [
        (str(path), []) for path in documents
    ]
