"""Streamlit apps as processes of their own: this console, and beside it one that is empty and one that only draws."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.conftest import free_port, until
from tests.forked import ROOT

EMPTY = """
import streamlit as st

def again():
    st.session_state["drawn"] = st.session_state.get("drawn", 0) + 1

st.button("Again", key="again", on_click=again)
st.text(f"Drawn {st.session_state.get('drawn', 0)}")
"""
"""The floor: what Streamlit itself needs to draw a button and a line."""

FULL = """
import streamlit as st

def again():
    st.session_state["drawn"] = st.session_state.get("drawn", 0) + 1

drawn = st.session_state.get("drawn", 0)
st.button("Again", key="again", on_click=again)
for place in range(14):
    with st.container(horizontal=True):
        st.button("Open", key=f"{drawn}-{place}")
        st.code(f"{drawn} {place}", language=None)
st.text(f"Drawn {drawn}")
"""
"""As many elements as the inbox with a card, drawn anew with each click as a card is, and nothing behind them."""


class App:
    """One server. Both kinds start the same way, under the console's own configuration of Streamlit."""

    def __init__(self, script: Path, data: Path) -> None:
        self._script, self._data = script, data
        self.port = free_port()
        self.started_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> App:
        self._data.mkdir(parents=True, exist_ok=True)
        environment = {
            **os.environ,
            "REVIEW_DATA": str(self._data),
            "REVIEW_ANCHOR": str(self._data / "anchors.jsonl"),
            "REVIEW_DEMO_DELAY": "0",
            "REVIEW_REVIEWER": "ana",
        }
        command = [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            str(self._script),
            "--server.port",
            str(self.port),
        ]
        self.started_at = time.time()
        with (self._data / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=log
            )
        until(self._answers, 120)
        return self

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def memory(self) -> int:
        """Bytes of the server that are in memory now."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        return int(status.partition("VmRSS:")[2].split()[0]) * 1024

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._data / "server.log").read_text()[-3_000:]
        try:
            return httpx.get(f"{self.url}/_stcore/health").status_code == 200
        except httpx.TransportError:
            return False


def console(data: Path) -> App:
    return App(ROOT / "app.py", data)


def empty(folder: Path) -> App:
    return _written(EMPTY, folder)


def full(folder: Path) -> App:
    return _written(FULL, folder)


def _written(text: str, folder: Path) -> App:
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    return App(script, folder)


@contextmanager
def running(*apps: App) -> Iterator[None]:
    """The apps, started, until the block is left."""
    try:
        for app in apps:
            app.start()
        yield
    finally:
        for app in apps:
            app.stop()
