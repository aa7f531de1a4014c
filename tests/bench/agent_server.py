"""A LangGraph Agent Server (`langgraph dev`) as a process of its own, whose threads wait at an interrupt."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import httpx

from tests.conftest import free_port, until

COMMAND = "langgraph"
INSTALL = 'pipx install "langgraph-cli[inmem]"'
GRAPH = Path(__file__).with_name("interrupting.py")
CLIENTS = 8
"""How many make threads at once."""
PRIVATE = ("LANGGRAPH_", "LANGSMITH_", "LANGCHAIN_")
"""Variables that would have the server report to somewhere, or serve otherwise than it comes."""
QUIET = {
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "true",
    "LANGSMITH_TRACING": "false",
}
"""It needs no network, and is told to use none."""


class NotServed(Exception):
    """There is no Agent Server here: its text says why, and what to do."""


@contextmanager
def serving(folder: Path) -> Iterator[httpx.Client]:
    """A client of a server in this folder, until the block is left. Raises NotServed where none starts."""
    command = shutil.which(COMMAND)
    if command is None:
        # Its packages cannot be installed beside the tests' own: the two need different releases of jsonschema-rs.
        raise NotServed(f"there is no `{COMMAND}` command; `{INSTALL}` brings it, apart from these packages")
    port, log = free_port(), folder / "server.log"
    process = _start(command, port, folder, log)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            until(lambda: _answers(client, process, log), 120)
            yield client
    finally:
        _end(process)


def version(client: httpx.Client) -> str:
    return str(client.get("/info").raise_for_status().json()["version"])


def wait_at_interrupts(client: httpx.Client, count: int) -> None:
    """Run so many threads up to their interrupt."""

    def run(_: int) -> None:
        body = {
            "assistant_id": "mail",
            "input": {"messages": [{"role": "user", "content": "Please write to them."}]},
            "if_not_exists": "create",
        }
        answer = client.post(f"/threads/{uuid4()}/runs/wait", json=body).raise_for_status()
        assert "__interrupt__" in answer.json(), answer.text

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(run, range(count)))
    found = client.post("/threads/count", json={"status": "interrupted"}).raise_for_status()
    assert found.json() == count, found.text


def _start(command: str, port: int, folder: Path, log: Path) -> subprocess.Popen[bytes]:
    """The server in a session of its own, so that it can be ended with all that it starts."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(GRAPH, folder)
    served = {"dependencies": ["."], "graphs": {"mail": f"./{GRAPH.name}:graph"}}
    (folder / "langgraph.json").write_text(json.dumps(served), encoding="utf-8")
    address = ["--host", "127.0.0.1", "--port", str(port)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PRIVATE)}
    with log.open("wb") as out:
        return subprocess.Popen(
            [command, "dev", "--no-browser", "--no-reload", *address],
            cwd=folder,
            env={**kept, **QUIET},
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _answers(client: httpx.Client, process: subprocess.Popen[bytes], log: Path) -> bool:
    if process.poll() is not None:
        said = log.read_text(encoding="utf-8", errors="replace").split("\n")
        last = next((line.strip() for line in reversed(said) if line.strip()), "it said nothing")
        raise NotServed(f"`{COMMAND} dev` ended at its start ({last}); `{INSTALL}` brings one that serves")
    try:
        return client.get("/ok").status_code == 200
    except httpx.TransportError:
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the server and whatever it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
