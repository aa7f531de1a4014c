"""The arguments of a call: which values they may be, how they are read exactly from JSON, and how they are shown."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, TypeAlias

from agent.review.arguments.argument_faults import MAX_FAULTS, ArgumentFault, brief, cut, refusal
from agent.review.arguments.json_paths import Steps, is_unicode, path
from agent.review.errors import ArgumentsRefused

JSON: TypeAlias = dict[str, Any] | list[Any] | str | int | float | bool | None

MAX_BYTES = 1_000_000
MAX_DEPTH = 100
MIN_INTEGER, MAX_INTEGER = -(2**63), 2**64 - 1

_RANGE = f"an integer from {MIN_INTEGER} to {MAX_INTEGER}"
_TOO_BIG = ArgumentFault("args", f"at most {MAX_BYTES:,} bytes", "more")
_TOO_DEEP = ArgumentFault("args", f"lists and objects at most {MAX_DEPTH} levels deep", "more levels")


def parse(text: str) -> JSON:
    """Return the value of a JSON text, if no reader of the text could take it for another value.

    Raises `ArgumentsRefused` for text that is not JSON, for an object that names a key twice, and for
    everything that `check` refuses.
    """
    if len(text) > MAX_BYTES or utf8_length(text) > MAX_BYTES:
        raise refusal([_TOO_BIG])
    try:
        value = json.loads(
            text,
            object_pairs_hook=_read_object,
            parse_int=_read_integer,
            parse_float=_read_number,
            parse_constant=lambda word: _Unfit("a finite number", word),
        )
    except json.JSONDecodeError as mistake:
        raise ArgumentsRefused([_misspelt(mistake)]) from None
    except RecursionError:
        raise ArgumentsRefused([_TOO_DEEP]) from None
    return check(value)


def check(value: object) -> JSON:
    """Return the value itself, if it can be shown, compared and passed on exactly.

    Raises `ArgumentsRefused`, naming every place, for what JSON cannot hold, keys that are not text, floats that are
    not finite, integers outside -2**63 … 2**64-1, lone surrogates, more than 100 levels and more than 1,000,000 bytes.
    """
    faults: list[ArgumentFault] = []
    size = 0
    waiting: list[tuple[Steps, object]] = [((), value)]
    while waiting:
        steps, item = waiting.pop()
        if isinstance(item, (dict, list)) and len(steps) >= MAX_DEPTH:
            raise refusal([*faults, _TOO_DEEP])
        # Faults after the last one that is listed are only counted, each under a short path of its own.
        found = _own_faults(steps if len(faults) < MAX_FAULTS else (len(faults),), item)
        faults += found
        size += 0 if found else _own_size(item)
        if (
            size > MAX_BYTES
        ):  # checked on the way, so that this ends for a list that contains itself many times
            raise refusal([*faults, _TOO_BIG])
        if isinstance(item, dict):
            waiting += [((*steps, _key_step(key)), inner) for key, inner in reversed(item.items())]
        elif isinstance(item, list):
            waiting += [((*steps, index), item[index]) for index in reversed(range(len(item)))]
    if faults:
        raise refusal(faults)
    return value  # type: ignore[return-value]  # every part of it was checked


def show(value: object) -> str:
    """Return the literal text of a JSON value, for people: text as it is, numbers to the digit, the rest as JSON."""
    match value:
        case str():
            return str(value)
        case None | bool() | list() | tuple() | dict():
            return json.dumps(value, ensure_ascii=False, indent=2, default=repr)
        case _:
            return repr(value)


def dumps(value: JSON) -> str:
    """Return JSON text for editing, which `parse` reads as the identical value, for every value that `check` accepts."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    if utf8_length(text) <= MAX_BYTES:
        return text
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def type_name(value: object) -> str:
    """Return the type of a JSON value in a reviewer's words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true/false"
        case str():
            return "text"
        case int():
            return "integer"
        case float():
            return "number"
        case list() | tuple():
            return "list"
        case dict():
            return "object"
        case _:
            return type(value).__name__


# Reading JSON strictly. What cannot be accepted is marked in its place, so that its path can be reported.


@dataclass(frozen=True)
class _Unfit:
    expected: str
    got: str


class _Repeating(dict[str, Any]):
    """An object whose text names a key more than once."""

    twice: str


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) == len(pairs):
        return entries
    repeating = _Repeating(entries)
    repeating.twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
    return repeating


def _read_integer(digits: str) -> int | _Unfit:
    # Longer than both limits; Python would refuse thousands of digits in its own way.
    return _Unfit(_RANGE, cut(digits)) if len(digits) > len(str(MIN_INTEGER)) else int(digits)


def _read_number(digits: str) -> float | _Unfit:
    number = float(digits)
    return number if math.isfinite(number) else _Unfit("a finite number", cut(digits))


_REMEDIES = {
    "Expecting property name": "write each key in double quotes, with no comma after the last entry",
    "Expecting ',' delimiter": "put a comma between two entries, and close every bracket",
    "Expecting ':' delimiter": "put a colon between a key and its value",
    "Expecting value": "put a value there: text in double quotes, a number, true, false, null, a list or an object",
    "Extra data": "remove what follows the first value",
    "Unterminated string": "close the text with a double quote",
    "Invalid control character": "inside text write a line break as \\n and a tab as \\t",
    "Invalid \\": "inside text write a backslash as \\\\",
}


def _misspelt(mistake: json.JSONDecodeError) -> ArgumentFault:
    remedy = next((told for start, told in _REMEDIES.items() if mistake.msg.startswith(start)), mistake.msg)
    return ArgumentFault(
        "args", "JSON", f"a mistake at line {mistake.lineno}, column {mistake.colno}: {remedy}"
    )


def _own_faults(steps: Steps, item: object) -> list[ArgumentFault]:
    """Return what is wrong with a value itself, apart from what it holds."""
    if (unfit := _unfit(item)) is not None:
        return [ArgumentFault(path(steps), unfit.expected, unfit.got)]
    if type(item) is not dict:
        return []
    odd = [
        ArgumentFault(path(steps), "keys that are text", type(key).__name__)
        for key in item
        if type(key) is not str
    ]
    torn = [key for key in item if type(key) is str and not is_unicode(key)]
    return odd + [
        ArgumentFault(path((*steps, key)), "a key without lone surrogates", brief(key)) for key in torn
    ]


def _unfit(item: object) -> _Unfit | None:
    # Exact types only: a value of a subclass could show as one thing and be another.
    if type(item) is str:
        return None if is_unicode(item) else _Unfit("text without lone surrogates", brief(item))
    if type(item) is int:
        return None if MIN_INTEGER <= item <= MAX_INTEGER else _Unfit(_RANGE, brief(item))
    if type(item) is float:
        return None if math.isfinite(item) else _Unfit("a finite number", brief(item))
    if isinstance(item, _Unfit):
        return item
    if isinstance(item, _Repeating):
        return _Unfit("each key once", f"{brief(item.twice)} more than once")
    is_plain = item is None or type(item) in (bool, dict, list)
    return None if is_plain else _Unfit("a JSON value", type(item).__name__)


def _key_step(key: object) -> str:
    return key if type(key) is str else f"({type(key).__name__})"


_encode = json.JSONEncoder(ensure_ascii=False).encode


def _own_size(item: object) -> int:
    """Return the bytes a value adds to the shortest JSON text, without those of the values it holds."""
    if isinstance(item, list):
        return 2 + max(0, len(item) - 1)
    if isinstance(item, dict):
        return 2 + max(0, len(item) - 1) + sum(_own_size(key) + 1 for key in item)
    return utf8_length(_encode(item))


def utf8_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
