"""Tools of one's own under a policy of ours: the README's lines, copied into a folder and run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.bootstrap import Opened, open_console
from agent.review.errors import NotIsolated, PolicyError
from agent.sandbox import Scratch
from agent.scenarios.recording import record
from agent.settings import Settings
from tests.conftest import Server, ask, decide, waiting
from tests.documents import README, blocks, section

SECTION = section(README, "Your own tools under a policy")
(CODE,) = blocks(SECTION, "python")
(CONFIG,) = blocks(SECTION, "json")
CALL = '/call add_note {"text": "Buy milk."}'


def copied(folder: Path, code: str = CODE, config: str = CONFIG) -> Path:
    """The README's two files in a folder; the path of the configuration."""
    folder.mkdir(exist_ok=True)
    (folder / "my_tools.py").write_text(code, encoding="utf-8")
    path = folder / "langgraph.json"
    path.write_text(config, encoding="utf-8")
    return path


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    return copied(tmp_path / "mine")


@pytest.fixture
def settings(settings: Settings, agents: Path) -> Settings:
    return settings.model_copy(update={"review_agents": agents})


@pytest.fixture
def opened(settings: Settings) -> Iterator[Opened]:
    found = open_console(settings)
    yield found
    found.close()


def test_the_readme_names_the_call_that_is_tried_here() -> None:
    assert CALL in SECTION


@pytest.mark.process
def test_the_readmes_tool_waits_for_a_person_and_then_runs_once(tmp_path: Path, agents: Path) -> None:
    server = Server(tmp_path / "data", REVIEW_AGENTS=str(agents)).start()
    notes = agents.with_name("notes.txt")
    try:
        asked = server.post("chat", thread_id="t-1", message=CALL).json()
        assert asked["status"] == "waiting"
        (request,) = asked["pending_review"]["action_requests"]
        assert (request["name"], request["args"]) == ("add_note", {"text": "Buy milk."})
        assert not notes.exists()
        shown = asked["pending_review"]["review_id"]
        decision = {"type": "approve", "shown_digest": request["shown_digest"]}
        answer = server.post("review", thread_id="t-1", review_id=shown, decisions=[decision])
        assert answer.status_code == 200, answer.text
        assert notes.read_text() == "Buy milk.\n"
        read = server.post("chat", thread_id="t-1", message="/call read_notes {}").json()
        assert (read["status"], read["pending_review"]) == ("idle", None)
        assert "Buy milk." in str(server.get("threads/t-1")["messages"])
    finally:
        server.stop()


def test_a_rejected_call_does_not_run(opened: Opened, agents: Path) -> None:
    thread_id = ask(opened.console, CALL)
    decide(opened.console, thread_id, {"type": "reject", "message": "No."})
    assert not agents.with_name("notes.txt").exists()


def test_the_configuration_gives_the_agent_its_name(tmp_path: Path, settings: Settings) -> None:
    path = copied(tmp_path / "other", config='{"graphs": {"jottings": "./my_tools.py:notes"}}')
    found = open_console(settings.model_copy(update={"review_agents": path}))
    try:
        assert found.console.queries.agents() == ("jottings",)
        assert found.console.queries.agent("jottings").name == "jottings"
        assert waiting(found.console, ask(found.console, CALL)).agent == "jottings"
    finally:
        found.close()


def test_a_tool_that_its_policy_misspells_stops_the_start(tmp_path: Path, settings: Settings) -> None:
    path = copied(tmp_path / "wrong", CODE.replace('"add_note": ', '"ad_note": '))
    with pytest.raises(PolicyError, match=r"ad_note .*has no such tool"):
        open_console(settings.model_copy(update={"review_agents": path}))


def test_a_definition_that_fails_is_named_and_keeps_no_other_agent(
    tmp_path: Path, settings: Settings
) -> None:
    path = copied(
        tmp_path / "wrong",
        CODE + "\nbroken = OwnAgent(lambda: 1 / 0)\n",
        '{"graphs": {"notes": "./my_tools.py:notes", "broken": "./my_tools.py:broken"}}',
    )
    found = open_console(settings.model_copy(update={"review_agents": path}))
    try:
        assert found.console.queries.agents() == ("notes",)
        assert "ZeroDivisionError" in found.console.queries.broken_agents()["broken"].reason
    finally:
        found.close()


def test_no_scenario_plays_with_tools_that_reach_what_is_real(opened: Opened, agents: Path) -> None:
    with pytest.raises(NotIsolated, match="Use one of the demo agents"):
        Scratch(agents, "notes")
    thread_id = ask(opened.console, "/say Hello.")
    with pytest.raises(NotIsolated):
        record(opened, thread_id, name="A thread")
