"""What `langgraph.json` and `review.toml` say, and what is refused in words."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from agent.registry import served
from agent.review.errors import SettingsError
from agent.serving import configuration, options
from agent.settings import Settings
from tests.serving import projects

EMPTY: dict[str, Any] = {"graphs": {"a": "./flow.py:a"}}


def test_the_folders_are_its_own_its_local_dependencies_and_their_src(tmp_path: Path) -> None:
    for name in ("src", "../lib/src"):
        (tmp_path / "home" / name).mkdir(parents=True)
    file = projects.write(
        tmp_path / "home", {}, {**EMPTY, "dependencies": [".", "../lib", "langchain-openai", "./missing"]}
    )
    home, lib = tmp_path / "home", tmp_path / "lib"
    assert configuration.read(file).roots == (home, home / "src", lib, lib / "src")


@pytest.mark.parametrize("env", [".env", {"SERVED_A": "of the file", "SERVED_B": "of the file"}])
def test_its_environment_never_overrides_what_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: Any
) -> None:
    monkeypatch.setenv("SERVED_A", "set before")
    monkeypatch.setenv("SERVED_B", "x")
    monkeypatch.delenv("SERVED_B")
    text = "SERVED_A=of the file\nexport SERVED_B='of the file'\nSERVED_C\nREVIEW_DATA=/elsewhere\n"
    file = projects.write(tmp_path, {".env": text}, {**EMPTY, "env": env})
    configuration.read(file).set_environment()
    assert (os.environ["SERVED_A"], os.environ["SERVED_B"]) == ("set before", "of the file")
    assert "SERVED_C" not in os.environ
    assert os.environ.get("REVIEW_DATA") != "/elsewhere"


def test_an_environment_file_that_is_not_there_is_none(tmp_path: Path) -> None:
    file = projects.write(tmp_path, {}, {**EMPTY, "env": ".env"})
    assert configuration.read(file).environment == {}


@pytest.mark.parametrize("wrong", [{"dependencies": "."}, {"env": 3}, {"graphs": []}, {"graphs": {}}])
def test_a_configuration_that_is_not_in_the_format_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="REVIEW_AGENTS"):
        configuration.read(projects.write(tmp_path, {}, {**EMPTY, **wrong}))


def read(folder: Path, text: str) -> Any:
    (folder / "review.toml").write_text(text)
    return options.read(None, folder / "langgraph.json", ["a", "b"])


def test_what_each_agent_is_given(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        '[agents.a]\nstore = "kept/a.sqlite"\n[agents.a.context]\nuser = "ana"\n'
        '[agents.a.configurable]\nmodel = "big"\n[agents.b]\nstore = false\n',
    )
    assert found["a"] == options.AgentOptions({"user": "ana"}, {"model": "big"}, tmp_path / "kept/a.sqlite")
    assert found["b"].store is False


def test_without_the_file_nobody_is_given_anything(tmp_path: Path) -> None:
    assert options.read(None, tmp_path / "langgraph.json", ["a"]) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[agent.a]", "no 'agent' here"),
        ("[agents.c]", "serves no agent of this name"),
        ("[agents.a]\ncontxt = 1", "no 'contxt' here; use context"),
        ("[agents.a]\ncontext = 1", "context is no table"),
        ("[agents.a]\nstore = 1", "a file's path"),
        ("[agents.a.configurable]\nthread_id = 'x'", "LangGraph's own"),
        ("agents = 1", "agents is no table"),
        ("[agents", "TOMLDecodeError"),
    ],
)
def test_what_it_does_not_know_stops_the_start(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        read(tmp_path, text)


def test_every_problem_of_it_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        read(tmp_path, "x = 1\n[agents.a]\ny = 1\n[agents.c]\n")
    assert str(refused.value).count("review.toml") == 3


def test_a_file_that_is_named_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="REVIEW_CONFIG"):
        options.read(tmp_path / "none.toml", tmp_path / "langgraph.json", ["a"])


def test_an_agent_of_ours_is_given_nothing(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "review.toml").write_text("[agents.mail.context]\nuser = 'ana'\n")
    with pytest.raises(SettingsError, match="mail"):
        served(settings.review_agents, options_file=tmp_path / "review.toml")
