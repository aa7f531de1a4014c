"""The file of anchors: on disk before it is counted on, and taken for nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent.ledger.anchors import AnchorFile
from agent.review.errors import AnchorsUnavailable
from agent.review.events import Anchor

ONE = Anchor(3, "a" * 64, "2030-01-01T12:00:00.000000Z", keyed=1)


def test_what_was_noted_is_read_again(tmp_path: Path) -> None:
    file = AnchorFile(tmp_path / "state" / "anchors.jsonl")
    assert file.read() == []
    old = replace(ONE, count=2, keyed=None)
    file.append(old)
    file.append(ONE)
    assert file.read() == [old, ONE]


@pytest.mark.parametrize("cut", [b'{"count": 7, "he', b"{", b'{"count": 7}', b"\0\0\0", b"\n\n"])
def test_a_line_that_was_cut_short_is_passed_over_and_spoils_no_later_one(tmp_path: Path, cut: bytes) -> None:
    file = AnchorFile(tmp_path / "anchors.jsonl")
    file.append(ONE)
    with file.path.open("ab") as raw:
        raw.write(cut)
    assert file.read() == [ONE]
    file.append(ONE)
    assert file.read() == [ONE, ONE]


ODD: dict[str, Callable[[Path], object]] = {
    "binary": lambda path: path.write_bytes(bytes(range(256))),
    "another file": lambda path: path.write_text("alice,bob\n"),
    "a list": lambda path: path.write_text("[1, 2]\n"),
    "deeply nested": lambda path: path.write_text("[" * 100_000),
    "a folder": Path.mkdir,
    "a pipe": lambda path: os.mkfifo(path),
}


@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_file_of_anchors_is_refused_in_words(tmp_path: Path, odd: str) -> None:
    ODD[odd](tmp_path / "anchors.jsonl")
    with pytest.raises(AnchorsUnavailable, match="REVIEW_ANCHOR"):
        AnchorFile(tmp_path / "anchors.jsonl").read()


@pytest.mark.parametrize("odd", ["binary", "another file", "a list", "a folder"])
def test_nothing_is_written_to_what_is_no_file_of_anchors(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "anchors.jsonl"
    ODD[odd](path)
    before = path.stat().st_size
    with pytest.raises(AnchorsUnavailable, match="REVIEW_ANCHOR"):
        AnchorFile(path).append(ONE)
    assert path.stat().st_size == before


def test_an_anchor_that_may_not_be_on_disk_is_no_anchor(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AnchorsUnavailable, match="REVIEW_ANCHOR"):
        AnchorFile(tmp_path / "file" / "anchors.jsonl").append(ONE)
