"""Everything a person or a program can look at, over a data folder as it is: what is wrong with it, in lines."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest.mock import patch

from starlette.testclient import TestClient
from typer.testing import CliRunner

from agent import bootstrap
from agent.api import server
from agent.bootstrap import Opened
from agent.cli.main import app as command_line
from agent.review.errors import ReviewError
from tests.fuzz.filled import settings_in

THREADS = (
    *("approved", "edited", "rejected", "answered", "remembered", "by-rule", "unknown", "t-1", "failed"),
    *(
        "refused",
        "tool-failed",
        "logged",
        "closed",
        "archived",
        "waits-0",
        "waits-1",
        "waits-2",
        "waits-both",
    ),
)
GETS = (
    *("health", "reviews", "reviews?agent=mail", "reviews?tool=send_email", "reviews?thread_id=waits-1"),
    *("audit", "audit?kind=DecisionMade&thread_id=approved", "audit/verify", "audit/anchor", "rules"),
    *(f"threads/{name}" for name in THREADS),
    *(f"threads/{name}/export?format={form}" for name in THREADS for form in ("json", "html")),
)
COMMANDS = (
    *(("doctor",), ("reviews",), ("reviews", "--json"), ("audit", "verify"), ("audit", "anchor")),
    *(("audit", "export"), ("audit", "export", "--format", "csv")),
)
built = cache(server.build)


@contextmanager
def environment(folder: Path) -> Iterator[None]:
    """The settings of the console in this folder, for whatever reads them from the environment."""
    settings = settings_in(folder)
    given = {
        "REVIEW_DATA": settings.review_data,
        "REVIEW_AGENTS": settings.review_agents,
        "REVIEW_ANCHOR": settings.review_anchor,
        "REVIEW_KEY": settings.review_key,
        "REVIEW_DEMO_DELAY": 0,
        "REVIEW_REVIEWER": "ana",
    }
    with patch.dict(os.environ, {name: str(value) for name, value in given.items()}):
        try:
            yield
        finally:
            bootstrap.close()


def opened_or_refused(folder: Path, *, at_work: bool) -> tuple[Opened | None, list[str]]:
    """The console on the folder; or none, and what is wrong with how it refuses, if anything is."""
    try:
        return bootstrap.open_console(settings_in(folder), at_work=at_work), []
    except ReviewError as error:
        return None, [] if str(error) else ["a refusal without words"]
    except Exception:
        return None, [f"opening: {traceback.format_exc()}"]


def api(opened: Opened, gets: Sequence[str] = GETS) -> list[str]:
    """What fails of the HTTP API."""
    app = built()
    app.state.console = lambda: opened.console
    client, found = TestClient(app, raise_server_exceptions=False), []
    for path in gets:
        answer = client.get(f"/{path}")
        if answer.status_code not in (200, 404, 409, 503) or (
            answer.status_code != 200 and not answer.json()["detail"]
        ):
            found.append(f"GET {path}: {answer.status_code} {answer.text[:300]}")
    return found


def commands(folder: Path, wanted: Sequence[tuple[str, ...]] = COMMANDS) -> list[str]:
    """What fails of the command line: anything but an answer, or a refusal in words."""
    found = []
    with environment(folder):
        for words in wanted:
            done = CliRunner().invoke(command_line, list(words))
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                trace = "".join(traceback.format_exception(done.exception))
                found.append(f"{' '.join(words)}: {trace}")
            elif done.exit_code not in (0, 1, 2) or not (done.stdout + done.stderr).strip():
                found.append(f"{' '.join(words)}: exit code {done.exit_code}, {done.stderr!r}")
    return found
