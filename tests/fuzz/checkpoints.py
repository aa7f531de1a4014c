"""Checkpoints as anybody can write them who has the file: bytes at random, and bytes that would run code."""

from __future__ import annotations

import json
import pickle
import sqlite3
import traceback
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import ormsgpack
from hypothesis import strategies as st

from agent import bootstrap
from agent.bootstrap import Opened
from agent.review.errors import ReviewError
from agent.review.threads import Run, Status
from tests.conftest import start_deciding
from tests.fuzz.looking import environment
from tests.fuzz.pages import as_in_a_browser, page_faults

MARK = "it-ran"
"""The file that hostile bytes write, in the folder of the process, if they run."""
VICTIMS = ("approved", "edited", "unknown", "failed", "waits-0", "t-1")
OTHER = "waits-2"
"""A thread whose checkpoints are as they were."""
PLACES = (("checkpoints", "checkpoint"), ("checkpoints", "metadata"), ("writes", "value"))
TYPES = ("msgpack", "json", "pickle", "bytes", "bytearray", "null", "", "x", None)


Change = tuple[str, str, int, bytes, str | None]
"""Table, column, row, bytes and type of what is written over."""


class Runs:
    """What unpickling makes write the mark."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (exec, (f"open({MARK!r}, 'w').close()",))


def _call(module: str, name: str, argument: Any, code: int) -> bytes:
    """A value of LangGraph's own encoding that names something to be called."""
    inner = ormsgpack.packb((module, name, argument, "__call__"))
    return ormsgpack.packb({"messages": ormsgpack.Ext(code, inner)}, option=ormsgpack.OPT_NON_STR_KEYS)


def _hostile() -> Iterator[bytes]:
    run = f"open({MARK!r}, 'w').close()"
    for code in range(8):
        yield _call("builtins", "exec", run, code)
        yield _call("builtins", "exec", (run,), code)
        yield _call("os", "system", f"touch {MARK}", code)
        yield _call("subprocess", "Popen", {"args": ["touch", MARK]}, code)
        yield _call("tests.fuzz.writes_on_import", "Anything", {}, code)
        yield _call("pathlib", "Path.touch", MARK, code)
    yield HOSTILE_PICKLE
    for made in (
        {"lc": 2, "type": "constructor", "id": ["subprocess", "Popen"], "args": [["touch", MARK]]},
        {"lc": 2, "type": "constructor", "id": ["tests", "fuzz", "writes_on_import", "Anything"]},
        {"lc": 1, "type": "constructor", "id": ["builtins", "exec"], "kwargs": {"source": run}},
        {"lc": 1, "type": "secret", "id": ["OPENAI_API_KEY"]},
    ):
        yield json.dumps({"channel_values": {"messages": made}}).encode()
        yield json.dumps(made).encode()


def _message(kind: str, **fields: Any) -> bytes:
    """A message that its own class would not take."""
    name = {"ai": "AIMessage", "human": "HumanMessage", "tool": "ToolMessage"}[kind]
    inner = ormsgpack.packb((f"langchain_core.messages.{kind}", name, fields, None))
    return ormsgpack.packb(ormsgpack.Ext(5, inner))


_ODD_JSON: tuple[object, ...] = ({"step": "x"}, {"writes": 1}, {"source": []}, [1], "x", 5)
ODD: Sequence[bytes] = (
    *(b"", b"\0", b"\xc0", b"\xc1", b"{}", b"[]", b"null", b"{", b"\x80", b"\x90", b"\xdd\xff\xff\xff\xff"),
    *(b"\xc6\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\x91" * 100_000, b"[" * 100_000, b"\xff" * 1_000),
    *(ormsgpack.packb(one) for one in (1, "x", [1], {"v": 1}, {"channel_values": {"messages": 5}})),
    *(_message("human", content=5), _message("human", id=[]), _message("ai", tool_calls=[{"name": 1}])),
    *(json.dumps(one).encode() for one in _ODD_JSON),
)
HOSTILE_PICKLE = pickle.dumps(Runs())
HOSTILE = tuple(_hostile())


@st.composite
def changes(draw: st.DrawFn) -> list[Change]:
    """A few places that are written over."""
    values = st.sampled_from(HOSTILE) | st.sampled_from(ODD) | st.binary(max_size=60)
    one = st.tuples(st.sampled_from(PLACES), st.integers(0, 9), values, st.sampled_from(TYPES))
    return [
        (*place, row, value, kind) for place, row, value, kind in draw(st.lists(one, min_size=1, max_size=3))
    ]


def apply(path: Path, thread_id: str, done: Sequence[Change]) -> None:
    """Write over the thread's rows, the one saved last first."""
    with closing(sqlite3.connect(path)) as conn, conn:
        for table, column, row, value, kind in done:
            rows = conn.execute(
                f"SELECT rowid FROM {table} WHERE thread_id = ? ORDER BY rowid DESC", (thread_id,)
            ).fetchall()
            if not rows:
                continue
            at = rows[row % len(rows)][0]
            conn.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, at))
            if column != "metadata":
                conn.execute(f"UPDATE {table} SET type = ? WHERE rowid = ?", (kind, at))


@contextmanager
def _tried(what: str, found: list[str]) -> Iterator[None]:
    try:
        yield
    except ReviewError as error:
        if not str(error):
            found.append(f"{what}: a refusal without words")
    except Exception:
        found.append(f"{what}: {traceback.format_exc()}")


def faults(folder: Path, thread_id: str) -> list[str]:
    """What is wrong over a folder where this thread's checkpoints were written over."""
    found: list[str] = []
    with environment(folder), as_in_a_browser(), _tried("opening", found):
        opened = bootstrap.opened()
        found += page_faults(("chat", (("thread", thread_id),)))
        found += page_faults(("chat", (("thread", thread_id),)), {"view": "Under the hood"})
        with _tried("inside", found):
            opened.console.queries.inside(thread_id)
        with _tried("moving", found):
            _move(opened, thread_id)
        found += page_faults(("chat", (("thread", thread_id),)))
        found += _others_go_on(opened)
    return found


def _move(opened: Opened, thread_id: str) -> None:
    """Do what a person can do next on the thread, whatever comes of it."""
    console = opened.console
    view = console.queries.view(thread_id)
    if view.reviews:
        run: Run | None = console.close(thread_id, by="ana", review_id=view.reviews[0].review_id)
    elif view.unknown:
        run = console.settle(thread_id, view.unknown[0].tool_call_id, "happened", by="ana", result="sent")
    elif view.thread.status is Status.FAILED:
        run = console.retry(thread_id, by="ana")
    else:
        run = console.send("/say Still here?", by="ana", thread_id=thread_id)
    assert run is None or console.wait(run, 30), "the run never ended"


def _others_go_on(opened: Opened) -> list[str]:
    console = opened.console
    run = start_deciding(console, OTHER, [{"type": "reject"}], by="ana")
    if not console.wait(run, 30) or console.queries.view(OTHER).thread.status is not Status.IDLE:
        return [f"{OTHER} did not go on: {console.queries.view(OTHER).thread}"]
    return []
