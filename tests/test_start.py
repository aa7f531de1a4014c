"""How the server starts: at once, with what is large behind it, and not at all on wrong settings."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp

import app
from agent import bootstrap, startup
from agent.bootstrap import Opened
from agent.hosting.lazy_app import Later
from agent.settings import Settings
from tests.conftest import ask, free_port, until, wrong_agents
from tests.engine.crashes import die
from tests.forked import ROOT

LARGE = ("fastapi", "pydantic", "langchain_core", "langgraph", "langsmith", "openai", "agent.bootstrap")
NOT_FOR_A_PAGE = ("fastapi", "agent.api.server", "openai", "langchain_openai", "langchain", "hypothesis")
NOT_FOR_AN_INBOX = (
    "langchain_core",
    "langgraph",
    "langsmith",
    "agent.engine.local",
    "pandas",
    "numpy",
    "PIL",
)
DRAW = """
from streamlit.testing.v1 import AppTest
page = AppTest.from_file("pages/shell.py", default_timeout=60).run()
assert page.text_input(key="q") is not None and not page.exception
"""


def imported_by(script: str, data: Path) -> set[str]:
    """The modules that a process of its own has imported after the script."""
    environment = {**os.environ, "REVIEW_DATA": str(data), "REVIEW_ANCHOR": str(data / "anchors.jsonl")}
    script = f"{script}\nimport sys; print('imported', *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("imported ")[2].split())


def test_the_port_opens_before_anything_large_is_imported(tmp_path: Path) -> None:
    assert imported_by("import app", tmp_path).isdisjoint(LARGE)


def test_the_first_page_needs_neither_the_api_nor_a_models_client(tmp_path: Path) -> None:
    assert imported_by(f"import app\n{DRAW}", tmp_path).isdisjoint(NOT_FOR_A_PAGE)


def test_an_inbox_without_a_review_is_drawn_with_what_was_imported_ahead_and_before_what_agents_run_with(
    tmp_path: Path,
) -> None:
    script = f"""
import app, sys
from agent import bootstrap
bootstrap.opened(at_work=False)
import pages.preload
ahead = set(sys.modules)
{DRAW}
late = [name for name in set(sys.modules) - ahead if name.startswith(("pages", "agent", "streamlit.emojis"))]
assert late == [], late
"""
    assert imported_by(script, tmp_path).isdisjoint((*NOT_FOR_A_PAGE, *NOT_FOR_AN_INBOX))


@pytest.mark.process
def test_streamlit_serves_the_pages_and_the_api_and_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    port, data = free_port(), {"REVIEW_DATA": str(tmp_path), "REVIEW_ANCHOR": str(tmp_path / "anchors.jsonl")}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, **data}, stdout=subprocess.DEVNULL) as server:
        try:
            until(lambda: answers(f"http://127.0.0.1:{port}/_stcore/health"), 60)
            assert answers(f"http://127.0.0.1:{port}/")
            assert answers(f"http://127.0.0.1:{port}/hitl/health")
            server.terminate()
            server.wait(30)
        finally:
            server.kill()


def answers(url: str) -> bool:
    try:
        return httpx.get(url, verify=False, timeout=30).status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.process
def test_wrong_settings_end_the_server_with_one_sentence_and_exit_code_2(settings: Settings) -> None:
    environment = {**os.environ, "REVIEW_DATA": str(settings.review_data), "REVIEW_APPROVE_BY": "soon"}
    environment |= {"REVIEW_ORIGINS": "null", "REVIEW_EMBEDDERS": "*", "REVIEW_REVIEWER": "Nobody"}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(free_port())]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    for variable in ("REVIEW_APPROVE_BY", "REVIEW_ORIGINS", "REVIEW_EMBEDDERS", "REVIEW_REVIEWER"):
        assert f"{variable}=" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_nobody_foresaw_ends_the_server_and_says_on_which_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("no such luck")

    codes: list[int] = []
    monkeypatch.setattr(bootstrap, "opened", broken)
    monkeypatch.setattr(os, "_exit", codes.append)
    startup._open(app.first_page)
    said = capsys.readouterr().err
    assert codes == [1]
    assert "RuntimeError: no such luck" in said
    assert f'test_start.py", line {broken.__code__.co_firstlineno + 1}' in said


def test_a_policy_that_does_not_fit_ends_the_server_with_one_sentence_and_exit_code_2(
    own_settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    codes: list[int] = []
    monkeypatch.setenv("REVIEW_AGENTS", str(wrong_agents(tmp_path)))
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(startup, "FIRST_PAGE", 0)
    startup._open(app.first_page)
    said = capsys.readouterr().err
    assert codes == [2]
    assert "The policy does not fit the agent" in said
    assert "Traceback" not in said


def test_what_a_dead_process_left_is_gone_on_with_before_any_page(
    own_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def says(first: Opened) -> None:
        ask(first.console, "/say Done.")

    assert die(own_settings, bootstrap.utc_now, says, 1, "after", only="ledger")
    monkeypatch.setattr(startup, "FIRST_PAGE", 10_000)
    startup._open(app.first_page)
    console = bootstrap.opened().console
    until(lambda: not console.queries.running())
    (thread,) = console.queries.threads()
    assert console.queries.history(thread.thread_id)[-1].content == "Done."


def test_a_server_that_is_to_end_waits_for_no_page(
    own_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(startup, "FIRST_PAGE", 10_000)
    opening = threading.Thread(target=startup._open, args=(app.first_page,))
    opening.start()
    startup._go_on()
    opening.join(60)
    assert not opening.is_alive()
    assert bootstrap.opened().supervisor.was_opened


def asked_at_once(application: ASGIApp, times: int) -> list[str]:
    async def ask() -> list[str]:
        transport = httpx.ASGITransport(app=application)
        async with httpx.AsyncClient(transport=transport, base_url="http://here", verify=False) as client:
            answers: list[Awaitable[httpx.Response]] = [client.get("/") for _ in range(times)]
            return [answer.text for answer in await asyncio.gather(*answers)]

    return asyncio.run(ask())


def test_requests_that_come_first_wait_for_one_application_and_are_answered_by_it() -> None:
    built: list[ASGIApp] = []
    both_wait = threading.Barrier(2)

    def build() -> ASGIApp:
        built.append(PlainTextResponse("here"))
        return built[-1]

    later = Later(build)
    build_in_turn: Callable[[], ASGIApp] = later._built

    def built_in_turn() -> ASGIApp:
        both_wait.wait(30)
        return build_in_turn()

    later._built = built_in_turn  # type: ignore[method-assign]
    assert asked_at_once(later, 2) == ["here", "here"]
    assert asked_at_once(later, 1) == ["here"]
    assert len(built) == 1
