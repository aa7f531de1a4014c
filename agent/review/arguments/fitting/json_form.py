"""The JSON form of what a tool's function receives: made from the values themselves, never by a model's serialization.

A model may serialize its fields differently from what they are (a serializer, an alias, an excluded field), and a
reviewer would then be shown what the function does not get.
"""

from __future__ import annotations

import ipaddress
import re
import sys
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from pydantic import AnyUrl, BaseModel, ByteSize, RootModel, SecretBytes, SecretStr
from pydantic_core import MultiHostUrl, Url, to_jsonable_python

from agent.review.arguments.args import JSON, MAX_DEPTH
from agent.review.arguments.argument_faults import ArgumentFault, refusal
from agent.review.arguments.json_paths import Steps, path
from agent.review.digest import canonical

_PLAIN = (bool, int, float, str)
_WRITTEN = (
    datetime,
    date,
    time,
    timedelta,
    Decimal,
    UUID,
    PurePath,
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
    ipaddress.IPv4Interface,
    ipaddress.IPv6Interface,
    AnyUrl,
    Url,
    MultiHostUrl,
    re.Pattern,
)
"""Types for which pydantic writes a text that names exactly one value."""
_EXACT = "a value that JSON can show exactly"


def json_form(value: Any, steps: Steps = ()) -> JSON:
    """Return the JSON value that shows this one exactly. Raises `ArgumentsRefused`, naming the place, if none does."""
    if value is None or type(value) in _PLAIN:
        return value  # type: ignore[no-any-return]
    if len(steps) > MAX_DEPTH:
        raise refusal([ArgumentFault(path(steps[:MAX_DEPTH]), f"at most {MAX_DEPTH} levels", "more levels")])
    if isinstance(value, list | tuple | deque):
        return [json_form(item, (*steps, index)) for index, item in enumerate(value)]
    if isinstance(value, set | frozenset):
        # A set has another order in every process; the digest must not.
        return sorted((json_form(item, steps) for item in value), key=canonical)
    if isinstance(value, bytes | bytearray):
        return _text(bytes(value), steps)
    if (inner := _unwrapped(value)) is not value:
        return json_form(inner, steps)
    if (entries := _entries(value)) is not None:
        return _object(entries, steps)
    if isinstance(value, str):
        return str.__str__(value)  # a subclass of `str`, such as that of a message's text
    if isinstance(value, _WRITTEN):
        return to_jsonable_python(value)  # type: ignore[no-any-return]
    raise refusal([ArgumentFault(path(steps), _EXACT, type(value).__name__)])


def _unwrapped(value: Any) -> Any:
    """Return the value inside a wrapper; the value itself if it is not a wrapper."""
    match value:
        case Enum():
            return value.value
        case SecretStr() | SecretBytes():
            return value.get_secret_value()
        case RootModel():
            return value.root
        case ByteSize():
            return int(value)
    return value


def _entries(value: Any) -> Iterable[tuple[Any, Any]] | None:
    """Return the names and values of an object of any kind; None if it is not an object."""
    if isinstance(value, BaseModel):
        own = [(name, getattr(value, name)) for name in type(value).model_fields]
        return [*own, *(value.model_extra or {}).items()]
    if (older := sys.modules.get("pydantic.v1")) and isinstance(value, older.BaseModel):
        return list(
            value
        )  # importing it would slow the first page, and no value is of it before it is imported
    if is_dataclass(value) and not isinstance(value, type):
        return [(part.name, getattr(value, part.name)) for part in fields(value)]
    return value.items() if isinstance(value, Mapping) else None


def _object(entries: Iterable[tuple[Any, Any]], steps: Steps) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, inner in entries:
        key = _key(name, steps)
        if key in found:
            raise refusal(
                [ArgumentFault(path((*steps, key)), "each key once", "two keys that are written alike")]
            )
        found[key] = json_form(inner, (*steps, key))
    return found


def _key(name: Any, steps: Steps) -> str:
    written = json_form(name, steps)
    if isinstance(written, str):
        return written
    if type(written) is int:
        return str(written)
    raise refusal([ArgumentFault(path(steps), "keys that are text", type(name).__name__)])


def _text(value: bytes, steps: Steps) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise refusal([ArgumentFault(path(steps), "bytes that are UTF-8 text", "other bytes")]) from None
