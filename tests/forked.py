"""Processes of the product, each forked from one that has imported it and done nothing."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PARENT_DEATH_SIGNAL = 1
"""Linux's number of `prctl`'s option."""
# Not the pages' own modules: they register their components with the server they are imported in.
IMPORTED = [
    *("app", "agent.api.server", "agent.engine.local", "agent.engine.guard", "agent.demos.model"),
    *("agent.demos.mail_tools", "agent.demos.operations_tools", "agent.demos.library_tools"),
    *("tests.faults.server", "tests.faults.moments", "tests.faults.crowd"),
    *("streamlit.web.bootstrap", "streamlit.web.server.starlette.starlette_agent_routes"),
    *("streamlit.emojis", "streamlit.material_icon_names"),
    *("uvicorn.lifespan.on", "uvicorn.protocols.http.auto", "uvicorn.protocols.websockets.auto"),
]


def processes() -> Any:
    """Where processes come from. Without what is imported beforehand each would import for seconds."""
    os.environ["PYTHONPATH"] = str(ROOT)  # where it is looked for
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    return context


def die_with_the_harness() -> None:
    """However the harness ends, this process, which it started, does not outlive it, frozen or not."""
    ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)


def begin(environment: Mapping[str, str], log: Path) -> None:
    """In a process that was just forked: take this environment, and write into this log."""
    die_with_the_harness()
    os.environ.update(environment)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)


def serve(port: int, environment: Mapping[str, str], log: Path) -> None:
    """Be the server, as `python app.py` is, until the process is ended."""
    begin(environment, log)
    import app

    app.app.run(config={"server.port": port})
