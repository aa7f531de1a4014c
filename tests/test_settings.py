"""Settings are read once, from the environment and `.env`, and every wrong one is named in one message."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from agent import settings as settings_module
from agent.review.errors import SettingsError
from agent.settings import Settings
from tests.documents import README, section
from tests.forked import ROOT

KEY = "sk-test-7f3a91c2e8"


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without `.env`, and an environment without our variables."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("REVIEW_AGENTS", str(ROOT / "langgraph.json"))


def problems() -> str:
    with pytest.raises(SettingsError) as caught:
        settings_module.read()
    return str(caught.value)


def test_without_any_variable_the_defaults_hold() -> None:
    found = settings_module.read()
    assert found.review_data == Path(".data")
    assert found.review_model == "demo"
    assert found.openai_api_key is None
    assert found.openai_models == ("gpt-5.4-mini",)
    assert (found.review_approve_by, found.review_execute_by) == (timedelta(hours=24), timedelta(hours=1))


def test_they_are_frozen() -> None:
    with pytest.raises(ValidationError):
        settings_module.read().review_model = "other"


def test_a_dot_env_file_is_read_and_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text(
        f"REVIEW_REVIEWER=bea\nREVIEW_APPROVE_BY=never\nOPENAI_API_KEY={KEY}\nOTHER=thing\n"
    )
    monkeypatch.setenv("REVIEW_REVIEWER", "ana")
    found = settings_module.read()
    assert (found.review_reviewer, found.review_approve_by) == ("ana", None)
    assert found.openai_api_key is not None
    assert found.openai_api_key.get_secret_value() == KEY


def test_models_are_listed_between_commas_and_one_can_be_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_MODELS", "small, large,,small")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1/")
    monkeypatch.setenv("REVIEW_MODEL", "large")
    found = settings_module.read()
    assert found.openai_models == ("small", "large")
    assert found.openai_base_url == "http://127.0.0.1:11434/v1"
    assert found.review_model == "large"


def test_origins_are_listed_between_commas_in_the_form_browsers_send(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "REVIEW_ORIGINS", "HTTPS://Review.Example.ORG:443/, http://[0:0:0:0:0:0:0:1]:80,http://a:8080"
    )
    monkeypatch.setenv("REVIEW_EMBEDDERS", "https://a.example,https://a.example/")
    found = settings_module.read()
    assert found.review_origins == ("https://review.example.org", "http://[::1]", "http://a:8080")
    assert found.review_embedders == ("https://a.example",)


@pytest.mark.parametrize("user", ["nobody", "", "a" * 81, "a\u200bb"])
def test_a_system_user_whose_name_nobody_may_act_under_does_not_stop_the_start(
    monkeypatch: pytest.MonkeyPatch, user: str
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: user)
    assert settings_module.read().review_reviewer == "reviewer"


def test_every_problem_is_named_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    wrong = {
        "REVIEW_DATA": str(tmp_path / "file" / "data"),
        "REVIEW_AGENTS": str(tmp_path / "nothing.json"),
        "REVIEW_MODEL": "gpt-5.4-mini",
        "REVIEW_REVIEWER": "a" * 81,
        "REVIEW_ORIGINS": "https://review.example.org,review.example.org",
        "REVIEW_EMBEDDERS": "https://*.example.org",
        "REVIEW_APPROVE_BY": "soon",
        "REVIEW_EXECUTE_BY": "1 week",
        "REVIEW_DEMO_DELAY": "-1",
        "OPENAI_BASE_URL": "localhost:8080",
        "OPENAI_MODELS": " , ",
    }
    for name, value in wrong.items():
        monkeypatch.setenv(name, value)
    said = problems()
    assert said.count("\n") == len(wrong)
    assert all(f"{name}=" in said for name in wrong)


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("OPENAI_BASE_URL", "https://ana:secret@example.org/v1", "leave name"),
        ("OPENAI_BASE_URL", "ftp://example.org", "https://api.openai.com/v1"),
        ("OPENAI_MODELS", "demo,small", "demo model's own name"),
        ("REVIEW_MODEL", "small", "OPENAI_API_KEY"),
        ("REVIEW_APPROVE_BY", "24", "24h"),
        ("REVIEW_ORIGINS", "null", "https://review.example.org"),
        ("REVIEW_ORIGINS", "https://review.example.org/console", "https://review.example.org"),
        ("REVIEW_ORIGINS", "https://review.example.org.", "https://review.example.org"),
        ("REVIEW_EMBEDDERS", "*", "https://review.example.org"),
        ("REVIEW_EMBEDDERS", "https://a.example; script-src *", "https://review.example.org"),
        ("REVIEW_EMBEDDERS", "http://[fe80::1%;x]", "https://review.example.org"),
        ("REVIEW_REVIEWER", "Nobody", "a name of your own"),
        ("REVIEW_REVIEWER", "\u200b", "Leave it out"),
        ("REVIEW_REVIEWER", "an\u202ea", "U+202E"),
    ],
)
def test_a_wrong_value_comes_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, remedy: str
) -> None:
    monkeypatch.setenv(name, value)
    assert remedy in problems()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"graphs": {}}', '{"graphs": ["a"]}'])
def test_a_file_that_names_no_agent_is_a_problem(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    Path("agents.json").write_text(content)
    monkeypatch.setenv("REVIEW_AGENTS", "agents.json")
    assert "REVIEW_AGENTS" in problems()


def test_the_key_is_never_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY} and more")
    said = problems()
    assert "OPENAI_API_KEY: " in said
    assert KEY not in said
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    found = settings_module.read()
    assert KEY not in repr(found)
    assert KEY not in str(found.model_dump())
    assert KEY not in found.model_dump_json()


def test_an_empty_variable_counts_as_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    monkeypatch.setenv("REVIEW_MODEL", "")
    assert settings_module.read().openai_api_key is None


def test_the_readme_names_every_setting_and_no_other() -> None:
    table = re.findall(r"^\| (`[A-Z].*?`) \|", section(README, "Settings"), re.M)
    named = [name for cell in table for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(field.upper() for field in Settings.model_fields)


@pytest.mark.parametrize("name", ["REVIEW_DATA", "REVIEW_AGENTS", "REVIEW_ANCHOR", "REVIEW_KEY"])
@pytest.mark.parametrize("value", ["x\0y", "x" * 5_000])
def test_what_cannot_be_a_path_is_said(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.delenv(name, raising=False)
    Path(".env").write_text(f"{name}={value}\n")
    with pytest.raises(SettingsError, match=f"{name}=.*it cannot be a path .*name another"):
        settings_module.read()
