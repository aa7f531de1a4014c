"""What the tests read in the repository's own documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.forked import ROOT

README = ROOT / "README.md"


def section(path: Path, title: str) -> str:
    """The text below this heading, up to the next of its level or a higher one. Raises ValueError without it."""
    found = re.search(rf"^(#+) {re.escape(title)}$", path.read_text(encoding="utf-8"), re.M)
    if found is None:
        raise ValueError(f"{path} has no section {title!r}.")
    after = found.string[found.end() :]
    return re.split(rf"^#{{1,{len(found[1])}}} ", after, maxsplit=1, flags=re.M)[0]


def blocks(text: str, language: str) -> list[str]:
    """The code blocks of this language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def between(path: Path, name: str) -> str:
    """What is between `<!-- name: begin -->` and `<!-- name: end -->`. Raises ValueError without those marks."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    _, begun, rest = path.read_text(encoding="utf-8").partition(begin)
    found, ended, _ = rest.partition(end)
    if not begun or not ended:
        raise ValueError(f"{path} has no {name}: put {begin} and {end} around it.")
    return found


def links(path: Path) -> Iterator[str]:
    """The files and folders that a document links to, as it writes them."""
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("#"):
            yield target.partition("#")[0]
