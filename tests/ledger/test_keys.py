"""The key of a record: made once, whoever comes first, and never replaced."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.ledger.keys import SIZE, RecordKeys, key_in, read_key
from agent.review.errors import SettingsError
from tests.forked import ROOT

MANY = 40
ROUNDS = 5
AT_ONCE = """
import os, sys
from pathlib import Path
from agent.ledger.keys import key_in
folder, many, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
for number in range(rounds):
    read, write = os.pipe()
    children = []
    for child in range(many):
        if (pid := os.fork()) == 0:
            os.close(write)
            os.read(read, 1)  # ends for all of them at once
            try:
                found = key_in(folder / str(number) / "key").hex()
            except BaseException as error:
                found = repr(error)
            (folder / f"{number}-{child}").write_text(found)
            os._exit(0)
        children.append(pid)
    os.close(write)
    for pid in children:
        os.waitpid(pid, 0)
"""


def test_many_processes_that_start_at_once_on_an_empty_folder_have_one_key(tmp_path: Path) -> None:
    command = [sys.executable, "-c", AT_ONCE, str(tmp_path), str(MANY), str(ROUNDS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for number in range(ROUNDS):
        kept = (tmp_path / str(number) / "key").read_bytes()
        assert len(kept) == SIZE
        seen = {(tmp_path / f"{number}-{child}").read_text() for child in range(MANY)}
        assert seen == {kept.hex()}
        assert os.listdir(tmp_path / str(number)) == ["key"]


def test_a_key_is_its_owners_alone_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "state" / "key"
    made = key_in(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert key_in(path) == read_key(path) == made


def test_the_two_uses_of_a_key_differ_from_it_and_from_each_other(tmp_path: Path) -> None:
    key = key_in(tmp_path / "key")
    keys = RecordKeys.of(key)
    assert len({key, keys.digest, keys.chain}) == 3


ODD: dict[str, Callable[[Path], object]] = {
    "empty": Path.touch,
    "short": lambda path: path.write_bytes(b"k" * (SIZE - 1)),
    "long": lambda path: path.write_bytes(b"k" * (SIZE + 1)),
    "a folder": Path.mkdir,
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "a pipe": lambda path: os.mkfifo(path),
}


@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_key_is_refused_in_words_and_left_as_it_is(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "key"
    ODD[odd](path)
    before = path.lstat()
    with pytest.raises(SettingsError, match="key") as refused:
        key_in(path)
    assert str(path) in str(refused.value)
    after = path.lstat()
    assert (before.st_ino, before.st_size, before.st_mode) == (after.st_ino, after.st_size, after.st_mode)
    assert os.listdir(tmp_path) == ["key"]


def test_a_place_where_no_key_can_be_made_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match="REVIEW_KEY"):
        key_in(tmp_path / "file" / "key")
