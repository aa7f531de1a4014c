"""Words, colours and icons that stand for the same thing on every page, and times as people say them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from agent.review.actions import State
from agent.review.threads import Status

VERB = {"approve": "Approve", "edit": "Edit…", "reject": "Reject…", "respond": "Respond…"}
SEND = {
    "": "Send the decision",
    "approve": "Approve and run it",
    "edit": "Approve and run the edited call",
    "reject": "Reject it",
    "respond": "Send the answer",
}
CHOSEN = {
    "approve": "You approve this call as shown",
    "edit": "You edit this call",
    "reject": "You reject this call",
    "respond": "You answer in the tool's place",
}
Color = Literal["red", "orange", "yellow", "blue", "green", "violet", "gray"]

KEYS = {
    "J": "next review",
    "K": "previous review",
    "X": "later: leave it waiting, show the next",
    "A": "choose to approve",
    "E": "edit",
    "D": "reject",
    "M": "respond",
    "Esc": "undo the choice",
    "Ctrl + Enter": "send what is chosen (on a Mac, Cmd + Enter)",
    "?": "show these keys",
}
KEY = {"approve": "A", "edit": "E", "reject": "D", "respond": "M"}
COLOR: dict[str, Color] = {"approve": "green", "edit": "violet", "reject": "red", "respond": "blue"}
ICON = {
    "approve": ":material/check_circle:",
    "edit": ":material/edit:",
    "reject": ":material/block:",
    "respond": ":material/reply:",
}

STATUS_COLOR: dict[Status, Color] = {
    Status.IDLE: "gray",
    Status.RUNNING: "blue",
    Status.WAITING: "orange",
    Status.FAILED: "red",
    Status.STOPPED: "gray",
    Status.UNKNOWN_OUTCOME: "red",
    Status.STUCK: "red",
}
STATUS_WORDS = {
    Status.IDLE: "answered",
    Status.RUNNING: "running",
    Status.WAITING: "waits for a decision",
    Status.FAILED: "failed",
    Status.STOPPED: "stopped",
    Status.UNKNOWN_OUTCOME: "outcome unknown",
    Status.STUCK: "stuck",
}


def short(thread_id: str) -> str:
    """A thread's id, shortened in the middle where it is long."""
    return thread_id if len(thread_id) <= 16 else f"{thread_id[:8]}…{thread_id[-4:]}"


def clock(instant: str) -> str:
    """An instant in the reader's own time, to the second, with its date."""
    moment = datetime.fromisoformat(instant)
    try:
        local = moment.astimezone(ZoneInfo(st.context.timezone)) if st.context.timezone else moment
    except (ZoneInfoNotFoundError, ValueError):
        local = moment
    return local.strftime("%Y-%m-%d %H:%M:%S %Z")


def ago(instant: str) -> str:
    """How long ago, in one unit: `12 min`."""
    seconds = max(0, int((datetime.now(UTC) - datetime.fromisoformat(instant)).total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


ACTION_WORDS = {
    State.PROPOSED: "proposed",
    State.REFUSED: "refused by the policy",
    State.PENDING: "waits for a decision",
    State.APPROVED: "approved, not started",
    State.REJECTED: "rejected",
    State.RESPONDED: "answered",
    State.CANCELLED: "closed without deciding",
    State.EXPIRED: "expired",
    State.SUPERSEDED: "superseded",
    State.EXECUTING: "running",
    State.LAPSED: "came too late",
    State.WITHDRAWN: "withdrawn",
    State.BLOCKED: "blocked",
    State.DONE: "done",
    State.FAILED: "failed",
    State.SUSPENDED: "asks itself",
    State.UNKNOWN: "outcome unknown",
}
ACTION_COLOR: dict[State, Color] = {
    **dict.fromkeys(State, "gray"),
    State.PENDING: "orange",
    State.APPROVED: "green",
    State.DONE: "green",
    State.REJECTED: "red",
    State.REFUSED: "red",
    State.FAILED: "red",
    State.BLOCKED: "red",
    State.UNKNOWN: "red",
    State.RESPONDED: "blue",
    State.EXECUTING: "blue",
}


def option(label: str, color: Color = "gray") -> str:
    """The label of a choice among several. Uncoloured, the picked one would be in the theme's primary colour."""
    return f":{color}[{label}]"
