"""The README's map of the code leads to what it names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.documents import README, between

SECTION = between(README, "map")
WHERE = re.findall(r"^\| .* \| `([\w/]+\.py)`.* \| `([\w.]+)` \|$", SECTION, re.M)


def named_in(path: Path) -> set[str]:
    """What a module defines: functions, classes, `Class.method`, and constants."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {
                node.name,
                *(f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)),
            }
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def test_the_map_answers_where_what_matters_most_is_done() -> None:
    assert len(WHERE) == 11


@pytest.mark.parametrize(("path", "name"), WHERE)
def test_what_the_map_names_is_there(path: str, name: str) -> None:
    assert name in named_in(ROOT / path)


def entries() -> list[tuple[str, list[str]]]:
    """The folders and files at the beginning of the tree's lines, each line with the folder it is in."""
    tree = SECTION.partition("```\n")[2].partition("\n```")[0]
    found, above = [], {0: ""}
    for line in tree.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        if depth > 2 or not line.strip():
            continue
        names = re.split(r"\s{2,}", line.strip())[0].split() if "  " in line.strip() else line.split()
        names = [one for one in names if one.endswith((".py", "/", ".json"))]
        if len(names) == 1 and names[0].endswith("/"):
            above[depth + 1] = above[depth] + names[0]
        found.append((above[depth], names))
    return found


def test_every_folder_and_file_of_the_tree_is_there() -> None:
    named = [ROOT / (folder + name) for folder, names in entries() for name in names]
    assert [one for one in named if not one.exists()] == []
    assert len(named) > 15


def test_the_tree_names_every_folder_under_agent() -> None:
    named = {(folder + name).rstrip("/") for folder, names in entries() for name in names}
    folders = {
        one.relative_to(ROOT).as_posix()
        for one in (ROOT / "agent").iterdir()
        if (one / "__init__.py").exists()
    }
    assert folders - named == set()
