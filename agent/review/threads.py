"""Threads, their messages, and the runs that move them on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agent.review.deliveries import AnyDelivery, UnreadableDelivery
from agent.review.errors import InvalidMessage

THREAD_ID = re.compile(r"[.]*[A-Za-z0-9_:@-][A-Za-z0-9._:@-]*", re.ASCII)
"""Dots alone are refused: in a URL's path they mean another place."""
MAX_THREAD_ID = 128
MAX_MESSAGE = 100_000


class Status(StrEnum):
    """The status of a thread, in the words of the HTTP API."""

    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    FAILED = "failed"
    STOPPED = "stopped"
    UNKNOWN_OUTCOME = "unknown_outcome"
    STUCK = "stuck"
    ARCHIVED = "archived"  # its checkpoints are gone; the conversation and the record stay


@dataclass(frozen=True)
class Thread:
    thread_id: str
    agent: str
    model: str
    status: Status
    created_at: str
    updated_at: str
    created_by: str
    opening: str = ""
    """The first message, shortened: what a list shows next to the id."""
    error: str | None = None
    """Why the last run failed, if it did."""


@dataclass(frozen=True)
class ToolCall:
    id: str
    name: str
    args: Any


@dataclass(frozen=True)
class Message:
    """One message as the model sees it. `type` is human, ai, tool or system; `at` is set by the ledger."""

    id: str
    type: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    status: str | None = None
    at: str = ""


class RunState(StrEnum):
    OPEN = "open"
    PAUSED = "paused"
    ANSWERED = "answered"
    FAILED = "failed"
    STOPPED = "stopped"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Run:
    """One execution of the agent, from start or resume to pause, answer or failure."""

    run_id: str
    thread_id: str
    agent: str
    model: str
    delivery: AnyDelivery | UnreadableDelivery

    owner: str
    """The process that executes it."""
    fence: int
    """Grows with every run and every takeover of the thread; the checkpointer refuses a lower one."""
    started_at: str
    started_by: str
    state: RunState = RunState.OPEN
    stop_by: str | None = None
    """Who asked it to stop at the next step."""
    ended_at: str | None = None
    error: str | None = None


def result_id(message_id: str, tool_call_id: str) -> str:
    """Return the id of the message that carries a call's result: the same whenever and wherever it is made."""
    return f"{message_id}/{tool_call_id}"


def check_thread_id(thread_id: str) -> str:
    """Return the id itself. Raises `InvalidMessage` if it is not a valid thread id."""
    fits = isinstance(thread_id, str) and len(thread_id) <= MAX_THREAD_ID and THREAD_ID.fullmatch(thread_id)
    if not fits:
        raise InvalidMessage(
            f"A thread id has 1 to {MAX_THREAD_ID} of the characters A-Z a-z 0-9 . _ : @ -, not all of them dots. "
            "Choose another id."
        )
    return thread_id


def text_fault(text: object) -> str:
    """Return what is wrong with a person's text, as the end of a sentence with its remedy, or ""."""
    if not isinstance(text, str):
        return "is not text. Send it as a string."
    if len(text) > MAX_MESSAGE:
        return f"has {len(text):,} characters; at most {MAX_MESSAGE:,} are taken. Shorten it."
    if re.search(r"[\ud800-\udfff]", text):
        return "holds half a surrogate pair, which is not text. Remove it."
    return ""


def check_words(text: str, name: str) -> str:
    """Return a person's free text, which may be empty. Raises `InvalidMessage` if it cannot be accepted."""
    if fault := text_fault(text):
        raise InvalidMessage(f"The {name} {fault}")
    return text


def pid_of(owner: str) -> int:
    """Return the process id that the name of a run's owner begins with."""
    return int(owner.partition("-")[0])


def check_message(text: str) -> str:
    """Return the text itself. Raises `InvalidMessage` if it is empty, too long or not encodable."""
    if fault := text_fault(text):
        raise InvalidMessage(f"The message {fault}")
    if not text.strip():
        raise InvalidMessage("The message is empty. Write what the agent should do.")
    return text


@dataclass(frozen=True)
class Halt:
    """Everything is stopped: nothing new starts, in no process, until somebody releases it."""

    by: str
    at: str


@dataclass(frozen=True)
class Progress:
    """What a page may follow while a run goes on."""

    text: str = ""
    """The agent's words of this model call so far."""
    running: str = ""
    """The tool that is executing now, if any."""
    finished: tuple[str, ...] = field(default_factory=tuple)
    """Tools that ended in this run, in order."""
    told: tuple[str, ...] = field(default_factory=tuple)
    """What the agent's own code told of its progress, as JSON, in order."""
