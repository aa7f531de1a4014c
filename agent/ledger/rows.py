"""Rows of the ledger as the rules' own records, and back."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, fields
from typing import Any

from agent.review.actions import Action, Key, Review, ReviewState, State
from agent.review.events import Event, Kind
from agent.review.rules import Rule, RuleEnd
from agent.review.threads import Message, Run, RunState, Status, Thread, ToolCall

JSON_COLUMNS = frozenset({"args", "proposed", "allowed", "notes", "decision"})
KEY_COLUMNS = ("thread_id", "message_id", "tool_call_id", "attempt")
ACTION_COLUMNS = (*KEY_COLUMNS, *(f.name for f in fields(Action) if f.name != "key"))


def dumps(value: Any) -> str:
    """JSON for a column. Text is kept as it is; what it cannot hold was refused when it came in."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def column(name: str, value: Any) -> Any:
    """The value of an action's field as its column holds it."""
    return dumps(value) if name in JSON_COLUMNS else value


def action_values(action: Action) -> list[Any]:
    key = [getattr(action.key, name) for name in KEY_COLUMNS]
    rest = [column(name, getattr(action, name)) for name in ACTION_COLUMNS[len(KEY_COLUMNS) :]]
    return key + rest


def to_action(row: sqlite3.Row) -> Action:
    found = dict(row)
    key = Key(*(found.pop(name) for name in KEY_COLUMNS))
    for name in JSON_COLUMNS:
        found[name] = json.loads(found[name])
    found["allowed"] = tuple(found["allowed"])
    found["state"] = State(found["state"])
    return Action(key=key, **found)


def to_review(row: sqlite3.Row, actions: tuple[Action, ...]) -> Review:
    found = {**dict(row), "state": ReviewState(row["state"])}
    return Review(**found, actions=actions)


def to_thread(row: sqlite3.Row) -> Thread:
    return Thread(**{**dict(row), "status": Status(row["status"])})


def to_run(row: sqlite3.Row) -> Run:
    return Run(**{**dict(row), "delivery": json.loads(row["delivery"]), "state": RunState(row["state"])})


def to_message(row: sqlite3.Row) -> Message:
    calls = tuple(ToolCall(**call) for call in json.loads(row["tool_calls"]))
    return Message(
        row["message_id"],
        row["type"],
        row["content"],
        calls,
        row["tool_call_id"],
        row["status"],
        row["at"],
    )


def calls_column(message: Message) -> str:
    return dumps([{"id": call.id, "name": call.name, "args": call.args} for call in message.tool_calls])


def to_event(row: sqlite3.Row) -> Event:
    data = None if row["data"] is None else json.loads(row["data"])
    return Event(**{**dict(row), "kind": Kind(row["kind"]), "data": data})


RULE_COLUMNS = tuple(f.name for f in fields(Rule))
RULE_JSON_COLUMNS = frozenset({"bound", "free", "made_from"})


def rule_values(rule: Rule) -> list[Any]:
    found = asdict(rule)
    return [dumps(found[name]) if name in RULE_JSON_COLUMNS else found[name] for name in RULE_COLUMNS]


def to_rule(row: sqlite3.Row) -> Rule:
    found = {name: row[name] for name in RULE_COLUMNS}
    found |= {name: json.loads(row[name]) for name in RULE_JSON_COLUMNS}
    found |= {"free": tuple(found["free"]), "made_from": Key(**found["made_from"])}
    return Rule(**{**found, "ended": RuleEnd(row["ended"]) if row["ended"] else None})
