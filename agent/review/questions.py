"""Questions that an agent asks about no call: what they show, the answers they offer, and what an answer sends.

Nothing that a person writes becomes another type unseen. Text is sent as text. A value is sent as the JSON that was
chosen or written as such. Only a schema of the answer turns text into something else, and the preview shows it.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import date, datetime, time
from typing import Any

from pydantic import BaseModel

from agent.review.actions import Action, AskedAction
from agent.review.arguments.args import MAX_DEPTH, check, dumps, parse
from agent.review.arguments.argument_faults import cut
from agent.review.errors import ArgumentsRefused
from agent.review.json_schemas import Schema, TooMuchWork
from agent.review.patterns import PatternRefused

QUESTION = "(question)"
"""Takes the place of a tool's name, for a question that is about no call. No tool can have this name."""
OFFERING = ("options", "choices", "actions")
"""The fields of a question in which agents list what may be answered."""
LABELS = ("label", "title", "name", "text")
MAX_CHOICES = 20
MAX_FAULTS = 10


@dataclasses.dataclass(frozen=True)
class Offered:
    """One answer that a question offers: what it says, and what it sends."""

    label: str
    value: Any


@dataclasses.dataclass(frozen=True)
class SentAnswer:
    """What is sent to the agent."""

    value: Any

    @property
    def is_text(self) -> bool:
        return isinstance(self.value, str)

    @property
    def as_text(self) -> str:
        """The value for the record: text as it is, anything else as JSON."""
        return self.value if isinstance(self.value, str) else dumps(self.value)


def question_of(value: Any, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what a question shows, as the arguments of a call that never runs."""
    args = {"question": legible(value)}
    if schema:
        args["answer_schema"] = dict(schema)
    try:
        check(args)
    except ArgumentsRefused as refused:
        return {"question": f"It cannot be shown exactly: {cut(str(refused), 500)}"}
    return args


def legible(value: Any, depth: int = 0) -> Any:
    """Return the value in JSON, read as what it is: dates in ISO 8601, objects by their fields."""
    if value is None or isinstance(value, bool | int | float | str) or depth > MAX_DEPTH:
        return value.value if isinstance(value, enum.Enum) else value
    match value:
        case enum.Enum():
            return legible(value.value, depth + 1)
        case datetime() | date() | time():
            return value.isoformat()
        case Mapping():
            return {str(name): legible(one, depth + 1) for name, one in value.items()}
        case BaseModel():
            given = {name: getattr(value, name) for name in type(value).model_fields}
            return legible({name: one for name, one in given.items() if not _is_empty(one)}, depth + 1)
        case bytes():
            return value.decode("utf-8", "backslashreplace")
        case Sequence() | Set():
            return [legible(one, depth + 1) for one in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return legible({name: one for name, one in fields.items() if not _is_empty(one)}, depth + 1)
    return str(value)


def offered(action: Action | AskedAction) -> list[Offered]:
    """Return the answers that a question offers, each as exactly what would be sent; none for anything else."""
    if action.tool != QUESTION or action.args is None:
        return []
    found: list[Offered] = []
    for one in _listed(action.args.get("question"), action.args.get("answer_schema")):
        if one not in found:
            found.append(one)
    return found[:MAX_CHOICES]


def answer(action: Action, decision: Mapping[str, Any]) -> SentAnswer:
    """Return what a decision sends: its `value` as it is, or its `message` as text.

    With a schema of the answer that takes no such text, the text is read as JSON. Raises `ArgumentsRefused`.
    """
    if "value" in decision:
        check({"value": decision["value"]})
        return SentAnswer(decision["value"])
    text, schema = str(decision.get("message") or ""), _schema(action)
    if schema is None or not _faults(schema, text):
        return SentAnswer(text)
    try:
        return SentAnswer(parse(text))
    except ArgumentsRefused:
        return SentAnswer(text)


def answer_fault(action: Action, given: SentAnswer) -> str:
    """Return what is wrong with a person's answer to a question that has an answer schema, or ""."""
    schema = _schema(action)
    if schema is None:
        return ""
    faults = _faults(schema, given.value)
    if faults and faults[0].endswith("Close the review instead."):
        return faults[0]
    return "; ".join(faults[:MAX_FAULTS]) + ". Fix the answer." if faults else ""


def _schema(action: Action) -> Mapping[str, Any] | None:
    found = (action.args or {}).get("answer_schema") if action.tool == QUESTION else None
    return found if isinstance(found, Mapping) else None


def _faults(schema: Mapping[str, Any], value: Any) -> list[str]:
    try:
        return [cut(error.message, 200) for error in Schema(dict(schema)).errors(value)]
    except (PatternRefused, TooMuchWork) as refused:
        return [f"its schema cannot be used here: {refused} Close the review instead."]
    except Exception as odd:  # not a valid schema: nobody can say what fits it
        return [f"its schema cannot be read ({type(odd).__name__}). Close the review instead."]


def _listed(question: Any, schema: Any) -> Iterator[Offered]:
    if isinstance(schema, Mapping):
        yield from _by_schema(schema)
    if isinstance(question, Mapping):
        for field in OFFERING:
            listed = question.get(field)
            for one in listed if isinstance(listed, list) else ():
                yield _of_option(one)
        if not isinstance(schema, Mapping):
            of_its_own = [question.get("response_schema"), question.get("schema"), question]
            yield from (one for found in of_its_own if isinstance(found, Mapping) for one in _enum(found))


def _by_schema(schema: Mapping[str, Any]) -> Iterator[Offered]:
    yield from _enum(schema)
    if schema.get("type") == "boolean":
        yield from (Offered("Yes", True), Offered("No", False))
    for name in ("oneOf", "anyOf"):
        for one in schema[name] if isinstance(schema.get(name), list) else ():
            if isinstance(one, Mapping) and "const" in one:
                yield Offered(str(one.get("title") or _spelt(one["const"])), one["const"])


def _enum(schema: Mapping[str, Any]) -> Iterator[Offered]:
    listed = schema.get("enum")
    yield from (Offered(_spelt(one), one) for one in (listed if isinstance(listed, list) else ()))


def _of_option(one: Any) -> Offered:
    """Return one listed option. An object sends its `value` or its `id`, else all of itself."""
    if not isinstance(one, Mapping):
        return Offered(_spelt(one), one)
    value = next((one[name] for name in ("value", "id") if name in one), dict(one))
    label = next((one[name] for name in LABELS if isinstance(one.get(name), str)), _spelt(value))
    return Offered(label, value)


def _spelt(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


def _is_empty(value: Any) -> bool:
    """Whether a field says nothing, so that leaving it out makes the rest easier to read."""
    return value is None or (isinstance(value, dict | list | tuple | str) and not value)
