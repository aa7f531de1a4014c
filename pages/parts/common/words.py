"""Words, colours and icons with the same meaning on every page, and times in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from agent.review.actions import ActionState
from agent.review.arguments.args import show
from agent.review.events import moment
from agent.review.policy import Tier
from agent.review.text.secrets import masked
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
    Status.ARCHIVED: "gray",
}
STATUS_WORDS = {
    Status.IDLE: "answered",
    Status.RUNNING: "running",
    Status.WAITING: "waits for a decision",
    Status.FAILED: "failed",
    Status.STOPPED: "stopped",
    Status.UNKNOWN_OUTCOME: "outcome unknown",
    Status.STUCK: "stuck",
    Status.ARCHIVED: "archived",
}


def short(thread_id: str) -> str:
    """Return a thread's id, shortened in the middle if it is long."""
    return thread_id if len(thread_id) <= 16 else f"{thread_id[:8]}…{thread_id[-4:]}"


MAX_ROW_VALUE = 40  # characters of an argument, so that even one without spaces fits in a row


def telling(args: Mapping[str, object] | None) -> str:
    """Return the first argument, shortened and masked: enough to tell rows apart, never enough to decide on."""
    for value in masked(args or {}).values():
        text = " ".join(show(value).split())
        return text if len(text) <= MAX_ROW_VALUE else text[: MAX_ROW_VALUE - 1] + "…"
    return ""


def clock(instant: str) -> str:
    """Return an instant in the reader's own time zone, with its date, to the second."""
    try:
        return datetime.fromisoformat(instant).astimezone(zone()).strftime("%Y-%m-%d %H:%M:%S %Z")
    except (ValueError, OverflowError):  # changed past the console
        return instant


def zone() -> tzinfo:
    """Return the reader's own time zone, or UTC if their browser does not report one."""
    try:
        return ZoneInfo(st.context.timezone) if st.context.timezone else UTC
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def ago(instant: str) -> str:
    """Return how long ago an instant was, in one unit: `12 min`; `?` if it is not an instant."""
    then = moment(instant)
    if then is None:
        return "?"
    seconds = max(0, int((datetime.now(UTC) - then).total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def time_left(until: str) -> str:
    """Return the time until an instant as a countdown: `7 h 59 min`, `12 min`, `42 s`."""
    seconds = max(0, int((datetime.fromisoformat(until) - datetime.now(UTC)).total_seconds()))
    minutes = seconds // 60
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{seconds} s"


ACTION_WORDS = {
    ActionState.PROPOSED: "proposed",
    ActionState.REFUSED: "refused by the policy",
    ActionState.PENDING: "waits for a decision",
    ActionState.APPROVED: "approved, not started",
    ActionState.REJECTED: "rejected",
    ActionState.RESPONDED: "answered",
    ActionState.CANCELLED: "closed without deciding",
    ActionState.EXPIRED: "expired",
    ActionState.SUPERSEDED: "superseded",
    ActionState.EXECUTING: "running",
    ActionState.LAPSED: "came too late",
    ActionState.WITHDRAWN: "withdrawn",
    ActionState.BLOCKED: "blocked",
    ActionState.DONE: "done",
    ActionState.FAILED: "failed",
    ActionState.SUSPENDED: "the tool asks",
    ActionState.UNKNOWN: "outcome unknown",
}
ACTION_COLOR: dict[ActionState, Color] = {
    **dict.fromkeys(ActionState, "gray"),
    ActionState.PENDING: "orange",
    ActionState.APPROVED: "green",
    ActionState.DONE: "green",
    ActionState.REJECTED: "red",
    ActionState.REFUSED: "red",
    ActionState.FAILED: "red",
    ActionState.BLOCKED: "red",
    ActionState.UNKNOWN: "red",
    ActionState.RESPONDED: "blue",
    ActionState.EXECUTING: "blue",
}
TIER_COLOR: dict[Tier, Color] = {
    Tier.AUTO: "gray",
    Tier.LOG: "blue",
    Tier.ASK: "orange",
    Tier.DENY: "red",
}
TIER_ICON = {
    Tier.AUTO: ":material/play_arrow:",
    Tier.LOG: ":material/visibility:",
    Tier.ASK: ":material/front_hand:",
    Tier.DENY: ":material/block:",
}
TIER_WORDS = {
    Tier.AUTO: "runs without asking",
    Tier.LOG: "runs without asking, and is looked over afterwards",
    Tier.ASK: "waits for a person",
    Tier.DENY: "never runs",
}
TIER_ELSEWHERE = {
    Tier.AUTO: "always_allow or allow",
    Tier.LOG: "always_allow or allow, with a notice",
    Tier.ASK: "always_ask, ask or defer",
    Tier.DENY: "deny",
}
"""The names that other systems give the tiers."""


def option(label: str, color: Color = "gray") -> str:
    """Return the coloured label of an option. Without a colour, a picked one would take the theme's primary colour."""
    return f":{color}[{label}]"
