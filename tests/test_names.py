"""One name, one meaning; and words a reader takes in at once."""

from __future__ import annotations

import ast
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
