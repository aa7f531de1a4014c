"""Convert the ledger's rows to the types of `agent.review`, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from itertools import groupby
from types import NoneType
from typing import Any, TypeVar

from agent.review import deliveries
from agent.review.actions import Action, ActionState, AskedAction, Key, Review, ReviewState, Waiting
from agent.review.events import Event, EventKind, commitment
from agent.review.rules import Rule, RuleEnd
from agent.review.threads import Message, Run, RunState, Status, Thread, ToolCall

T = TypeVar("T")

JSON_COLUMNS: Mapping[str, tuple[type, ...]] = {
    "args": (dict, NoneType),
    "entered": (dict, NoneType),
    "proposed": (object,),
    "allowed": (list,),
    "notes": (dict,),
    "decision": (dict, NoneType),
}
"""An action's JSON columns, and the types each may hold."""
KEY_COLUMNS = ("thread_id", "message_id", "tool_call_id", "attempt")
ACTION_COLUMNS = (*KEY_COLUMNS, *(f.name for f in fields(Action) if f.name != "key"))
WAITING_COLUMNS = Waiting._fields[:-1]
ASKED_COLUMNS = AskedAction._fields[:-1]


def dumps(value: Any) -> str:
    """Return JSON for a column. Text is kept as it is; what JSON cannot hold was refused on input."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


_first_value = json.JSONDecoder().raw_decode
_first_exact_value = json.JSONDecoder(parse_constant=_no_number).raw_decode


def loads(text: str, first_value: Callable[[str], tuple[Any, int]] = _first_value) -> Any:
    """Return the value that `dumps` made this text from. Raises ValueError for any other text."""
    value, end = first_value(text)
    if end != len(text):
        raise ValueError(f"a column holds more than one JSON value: {text[end : end + 40]!r}")
    return value


def column(name: str, value: Any) -> Any:
    """Return the value of an action's field as its column holds it."""
    return dumps(value) if name in JSON_COLUMNS else value


def action_values(action: Action) -> list[Any]:
    key = [getattr(action.key, name) for name in KEY_COLUMNS]
    rest = [column(name, getattr(action, name)) for name in ACTION_COLUMNS[len(KEY_COLUMNS) :]]
    return key + rest


NEVER_WRITTEN: Mapping[str, Any] = {
    "args": None,
    "entered": None,
    "proposed": None,
    "allowed": [],
    "notes": {},
    "decision": None,
    "state": ActionState.BLOCKED,
    "call_digest": "",
    "shown_digest": "",
}
"""What an action reads as if the console cannot have written its row; without digests, it cannot be decided."""


def to_action(row: sqlite3.Row) -> Action:
    found = _fields(row)
    found["key"] = Key(*[found.pop(name) for name in KEY_COLUMNS])
    try:
        found["state"] = ActionState(found["state"])
        for name, kinds in JSON_COLUMNS.items():
            found[name] = _of_kind(found[name], kinds)
    except (ValueError, RecursionError):
        found |= NEVER_WRITTEN
    found["allowed"] = tuple(found["allowed"])
    return Action(**found)


def _of_kind(text: str, kinds: tuple[type, ...]) -> Any:
    """Return the exact value that the column holds. Raises ValueError if it is of none of these `kinds`."""
    value = loads(text, _first_exact_value)
    if not isinstance(value, kinds):
        raise ValueError(f"a column holds a {type(value).__name__}")
    return value


REVIEW_STATES = frozenset(ReviewState)


def to_review(row: sqlite3.Row, actions: tuple[Action, ...]) -> Review:
    state = ReviewState(row["state"]) if row["state"] in REVIEW_STATES else ReviewState.SUPERSEDED
    return Review(**{**_fields(row), "state": state, "actions": actions})


def to_waiting(found: Iterable[sqlite3.Row]) -> list[Waiting]:
    """Return the reviews in these rows. Each row has `WAITING_COLUMNS`, then `ASKED_COLUMNS` of one action, or nulls."""
    width = len(WAITING_COLUMNS)
    return [
        Waiting._make((*review, tuple(_asked(*row[width:]) for row in its if row["tool"] is not None)))
        for review, its in groupby(found, key=lambda row: row[:width])
    ]


def _asked(*row: Any) -> AskedAction:
    found = dict(zip(ASKED_COLUMNS, row, strict=True))
    found["args_text"] = found["args"]
    try:
        found["state"] = ActionState(found["state"])
        for name in ("args", "proposed", "allowed"):
            found[name] = _of_kind(found[name], JSON_COLUMNS[name])
    except (ValueError, RecursionError):
        found |= {name: value for name, value in NEVER_WRITTEN.items() if name in ASKED_COLUMNS}
    return AskedAction(**{**found, "allowed": tuple(found["allowed"])})


def _fields(row: sqlite3.Row) -> dict[str, Any]:
    return dict(zip(row.keys(), row, strict=True))


CHANGED = "The record of it was changed past the console, so it cannot be shown."
STATUSES = frozenset(Status)


def to_thread(row: sqlite3.Row) -> Thread:
    found = (
        {"status": row["status"]}
        if row["status"] in STATUSES
        else {"status": Status.FAILED, "error": CHANGED}
    )
    return Thread(**{**dict(row), **found, "status": Status(found["status"])})


RUN_STATES = frozenset(RunState)


def to_run(row: sqlite3.Row) -> Run:
    state = RunState(row["state"]) if row["state"] in RUN_STATES else RunState.FAILED
    return Run(**{**dict(row), "delivery": deliveries.from_json(row["delivery"]), "state": state})


MESSAGE_TYPES = frozenset(["human", "ai", "tool", "system"])


def to_message(row: sqlite3.Row) -> Message:
    kind, content, tail = row["type"], row["content"], (row["tool_call_id"], row["status"], row["at"])
    try:
        calls = tuple(_call(one) for one in _of_kind(row["tool_calls"], (list,)))
    except (ValueError, RecursionError):
        calls, kind = (), ""
    if kind not in MESSAGE_TYPES:
        calls, kind, content = (), "system", CHANGED
    return Message(row["message_id"], kind, content, calls, *tail)


def _call(found: Any) -> ToolCall:
    match found:
        case {"id": str(), "name": str(), "args": _} if len(found) == 3:
            return ToolCall(**found)
    raise ValueError("this is not a tool call")


def calls_column(message: Message) -> str:
    return dumps([{"id": call.id, "name": call.name, "args": call.args} for call in message.tool_calls])


def to_event(row: sqlite3.Row) -> Event:
    """Return the event; one of kind `UNREADABLE`, without data, if its data does not match its commitment."""
    try:
        found = to_exact_event(row)
        if found.data is None or commitment(found.salt, found.data) == found.commitment:
            return found
    except (ValueError, TypeError, RecursionError):
        pass
    return Event(**{**_fields(row), "kind": EventKind.UNREADABLE, "data": None})


def to_exported_event(row: sqlite3.Row) -> Event:
    """Return the event as stored, so that an export shows what was changed; `UNREADABLE` if it cannot be parsed."""
    try:
        return to_exact_event(row)
    except (ValueError, RecursionError):
        return to_event(row)


def to_exact_event(row: sqlite3.Row) -> Event:
    """Return the event as stored, whatever its commitment. Raises ValueError or RecursionError if it is not one."""
    data = None if row["data"] is None else loads(row["data"])
    return Event(**{**_fields(row), "kind": EventKind(row["kind"]), "data": data})


RULE_COLUMNS = tuple(f.name for f in fields(Rule))
RULE_JSON_COLUMNS = frozenset({"bound", "free", "made_from"})


def rule_values(rule: Rule) -> list[Any]:
    found = asdict(rule)
    return [dumps(found[name]) if name in RULE_JSON_COLUMNS else found[name] for name in RULE_COLUMNS]


def to_rule(row: sqlite3.Row) -> Rule:
    """Return the rule; one that the console cannot have written reads as ended, and allows nothing."""
    found = {name: row[name] for name in RULE_COLUMNS}
    try:
        return Rule(**{**found, **_allowed_by(row), "ended": RuleEnd(row["ended"]) if row["ended"] else None})
    except (ValueError, TypeError, RecursionError):
        blank = {"bound": {}, "free": (), "made_from": Key(row["thread_id"] or "", "", "")}
        ended = {"ended": RuleEnd.EXPIRED, "ended_by": CHANGED, "ended_at": row["made_at"], "expires_at": ""}
        return Rule(**{**found, **blank, **ended})


def _allowed_by(row: sqlite3.Row) -> dict[str, Any]:
    """Return what a rule allows, and the action it was made from. Raises ValueError or TypeError if unreadable."""
    free, made_from = _of_kind(row["free"], (list,)), Key(**_of_kind(row["made_from"], (dict,)))
    if not all(isinstance(one, str) for one in (*free, made_from.tool_call_id, made_from.message_id)):
        raise ValueError("names must be text")
    return {"bound": _of_kind(row["bound"], (dict,)), "free": tuple(free), "made_from": made_from}
