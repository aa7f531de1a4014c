"""Whatever is wrong at the start is said in one sentence, with exit code 2 and no trace, and is left as it is."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as of_hypothesis
from hypothesis import strategies as st
from typer.testing import CliRunner

import app
from agent import bootstrap, startup
from agent.bootstrap import open_console
from agent.cli.main import app as command_line
from agent.registry import served
from agent.review.errors import SettingsError
from agent.settings import Settings, key_path
from tests.conftest import ROOT, ask, free_port

GARBAGE = b"no database, but some bytes " * 500


def put(path: Path, make: Callable[[Path], object]) -> None:
    """Something else in the place of a file, and of the logs beside a database."""
    for one in path.parent.glob(f"{path.name}*") if path.suffix == ".sqlite" else [path]:
        shutil.rmtree(one) if one.is_dir() else one.unlink()
    make(path)


def garbage(path: Path) -> None:
    path.write_bytes(GARBAGE)


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA user_version = 99")


def cut(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])


def owners_a_file(settings: Settings) -> None:
    put(settings.review_data / "owners", Path.touch)


def of_the_key(make: Callable[[Path], object]) -> Callable[[Settings], None]:
    return lambda settings: put(key_path(settings), make)


def of_the_anchors(make: Callable[[Path], object]) -> Callable[[Settings], None]:
    return lambda settings: put(Path(str(settings.review_anchor)), make)


def of_a_database(name: str, make: Callable[[Path], object]) -> Callable[[Settings], None]:
    def damage(settings: Settings) -> None:
        path = settings.review_data / f"{name}.sqlite"
        make(path) if make in (newer, cut) else put(path, make)

    return damage


FAULTS: dict[str, tuple[Callable[[Settings], None], str]] = {
    "the key a folder": (of_the_key(Path.mkdir), "anchors.jsonl.key"),
    "the key empty": (of_the_key(Path.touch), "a key has 32 bytes, and it holds 0"),
    "the key another": (of_the_key(lambda path: path.write_bytes(b"x" * 32)), "not the key of this record"),
    "the anchors a folder": (of_the_anchors(Path.mkdir), "anchors.jsonl"),
    "the anchors binary": (of_the_anchors(garbage), "not an anchor file"),
    "owners a file": (owners_a_file, "owners"),
    "the ledger of a newer console": (of_a_database("ledger", newer), "newer version"),
    "the world of a newer console": (of_a_database("world", newer), "newer version"),
    **{
        f"the {name} {what}": (of_a_database(name, make), name)
        for name in ("ledger", "world", "checkpoints")
        for what, make in (("damaged", garbage), ("cut off", cut), ("a folder", Path.mkdir))
    },
}


@pytest.fixture
def kept(own_settings: Settings) -> Settings:
    """A folder that a console has been at work on, and has left."""
    opened = open_console(own_settings)
    ask(opened.console, "/say Hello.")
    opened.close()
    return own_settings


def sizes(settings: Settings) -> dict[str, int]:
    folder = settings.review_data.parent
    return {
        str(path): path.stat().st_size for path in folder.rglob("*") if path.suffix in (".key", ".sqlite")
    }


@pytest.mark.parametrize("fault", FAULTS)
def test_the_command_line_says_what_is_wrong_at_the_start(kept: Settings, fault: str) -> None:
    damage, said = FAULTS[fault]
    damage(kept)
    before = sizes(kept)
    found = CliRunner().invoke(command_line, ["chat", "/say Still here?"])
    assert found.exit_code == 2, found.output
    assert said in found.stderr
    assert "Traceback" not in found.stderr
    assert before.items() <= sizes(kept).items()


@pytest.mark.parametrize("fault", FAULTS)
def test_the_server_says_what_is_wrong_at_the_start_and_ends(
    kept: Settings, fault: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(startup, "FIRST_PAGE", 0)
    damage, wanted = FAULTS[fault]
    damage(kept)
    startup._open(app.first_page)
    said = capsys.readouterr().err
    assert codes == [2]
    assert wanted in said
    assert "Traceback" not in said


WAYS = {
    "streamlit": ["-m", "streamlit", "run", "app.py", "--server.port"],
    "python": ["app.py"],
    "command line": ["-m", "agent", "chat", "/say Hello."],
    "API": ["-m", "agent", "serve-api", "--port"],
}


def started(way: str, folder: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """What a process of its own comes to on this folder, started in one of the ways there are."""
    words = WAYS[way] + ([str(free_port())] if WAYS[way][-1].endswith("port") else [])
    environment = {
        **os.environ,
        "REVIEW_DATA": str(folder / "data"),
        "REVIEW_ANCHOR": str(folder / "anchors.jsonl"),
        "STREAMLIT_SERVER_PORT": str(free_port()),
        "PYTHONPATH": str(ROOT),
    }
    at = {"cwd": ROOT, "env": environment, **more}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=120, **at)


@pytest.mark.process
@pytest.mark.parametrize("way", WAYS)
def test_however_it_is_started_it_ends_with_one_sentence(tmp_path: Path, way: str) -> None:
    (tmp_path / "anchors.jsonl.key").touch()
    done = started(way, tmp_path)
    assert done.returncode == 2, done.stderr
    assert "a key has 32 bytes" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.process
@pytest.mark.parametrize("room", [0, 20, 5_000, 40_000, 100_000])
def test_a_disk_that_is_full_at_the_start_is_said(tmp_path: Path, room: int) -> None:
    def no_more_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    done = started("command line", tmp_path, preexec_fn=no_more_room)
    assert done.returncode == 2, done.stderr
    assert "llow" in done.stderr or "Free" in done.stderr
    assert "Traceback" not in done.stderr


def test_settings_that_are_not_text_are_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_bytes("REVIEW_REVIEWER=Jörg\n".encode("latin-1"))
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(command_line, ["reviews"])
    assert found.exit_code == 2
    assert ".env: it is not UTF-8" in found.stderr


def test_an_agent_whose_file_ends_the_process_is_broken_and_the_others_are_served(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("import sys\nsys.exit('no key is set')\n")
    (tmp_path / "langgraph.json").write_text(
        json.dumps({"graphs": {"ends": "./ends.py:agent", "mail": "./agent/bootstrap.py:mail"}})
    )
    found = served(tmp_path / "langgraph.json")
    assert list(found.targets) == ["mail"]
    assert found.broken["ends"].reason == "SystemExit: no key is set"
    assert found.broken["ends"].where == f"{tmp_path / 'ends.py'}, line 2"


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(), max_size=12),
    st.sampled_from(
        ["./agent/bootstrap.py:mail", "./none.py:agent", ":", "agent:", "./\x00.py:a", "../../..:x"]
    ),
)
NAMES = st.text(st.characters(), max_size=6) | st.sampled_from(["graphs", "path", "mail"])
VALUES = st.recursive(
    LEAVES, lambda one: st.lists(one, max_size=3) | st.dictionaries(NAMES, one, max_size=3), max_leaves=8
)
GRAPHS = st.dictionaries(NAMES, VALUES, max_size=3).map(lambda graphs: {"graphs": graphs})
ODD = [b"", b"\xff\xfe", b"[" * 100_000, b'{"graphs":' * 50_000, b'{"graphs": {"a": ' + b"9" * 5_000 + b"}}"]
FILES = st.one_of(
    (VALUES | GRAPHS).map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=40),
    st.sampled_from(ODD),
)


@pytest.fixture(scope="module")
def agents_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as environment:
        folder = tmp_path_factory.mktemp("agents")
        environment.setenv("REVIEW_DATA", str(folder / "data"))
        environment.setenv("REVIEW_ANCHOR", str(folder / "anchors.jsonl"))
        environment.setenv("REVIEW_AGENTS", str(folder / "langgraph.json"))
        yield folder / "langgraph.json"


@of_hypothesis(max_examples=200)
@given(FILES)
def test_any_file_of_agents_is_served_or_refused_in_words(agents_file: Path, content: bytes) -> None:
    agents_file.write_bytes(content)
    with suppress(SettingsError):
        bootstrap.open_console(bootstrap.settings_module.read(), at_work=False).close()
