"""Values with their types, in writing, and what may stand for one of them in JSON. Nothing of the console is used."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import BaseModel, RootModel, SecretBytes, SecretStr, TypeAdapter

PLAIN = (str, int, float, bool, type(None))


def spelt(value: Any) -> Any:
    """The value with the type of each of its parts, as JSON: two values are spelt alike only if they are the same."""
    kind = type(value).__name__
    match value:
        case BaseModel():
            private = getattr(value, "__pydantic_private__", None) or {}
            return [kind, spelt({**dict(value), **private})]
        case Enum():
            return [kind, value.name]
        case Mapping():
            return [kind, sorted(([spelt(key), spelt(one)] for key, one in value.items()), key=json.dumps)]
        case set() | frozenset():
            return [kind, sorted((spelt(one) for one in value), key=json.dumps)]
        case list() | tuple():
            return [kind, [spelt(one) for one in value]]
        case datetime() | time():
            return [kind, value.isoformat(), value.fold]
        case SecretStr() | SecretBytes():
            return [kind, repr(value.get_secret_value())]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [kind, spelt(vars(value))]
    return [kind, ascii(value)]


def shape(value: Any) -> Any:
    """The types of the value and of its parts, whatever their values."""
    return _kinds(spelt(value))


def _kinds(spelling: Any) -> Any:
    if not isinstance(spelling, list):
        return spelling
    if len(spelling) > 1 and all(isinstance(one, str | int) for one in spelling):
        return spelling[0]
    return [_kinds(one) for one in spelling]


def reads_as(value: Any, found: Any) -> bool:
    """Whether the JSON value `found` says exactly this value, in one of the forms that JSON has for its type."""
    match value:
        case Enum():
            return reads_as(value.value, found)
        case RootModel():
            return reads_as(value.root, found)
        case BaseModel():
            return isinstance(found, dict) and _fields_read_as(value, found)
        case Mapping():
            return isinstance(found, dict) and _entries_read_as(value, found)
        case set() | frozenset():
            return isinstance(found, list) and _members_read_as(list(value), found)
        case list() | tuple():
            same = isinstance(found, list) and len(found) == len(value)
            return same and all(map(reads_as, value, found))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return isinstance(found, dict) and _entries_read_as(vars(value), found)
    return _atom_reads_as(value, found)


def _fields_read_as(value: BaseModel, found: dict[str, Any]) -> bool:
    """A model's own fields, each under its name or its alias; what is computed may be there as well."""
    left = dict(found)
    for name, inner in value:
        info = type(value).model_fields.get(name)
        keys = [name, *(one for one in (info and info.alias, info and info.serialization_alias) if one)]
        key = next((one for one in keys if one in left), None)
        if key is None or not reads_as(inner, left.pop(key)):
            return False
    return set(left) <= set(type(value).model_computed_fields)


def _entries_read_as(value: Mapping[Any, Any], found: dict[str, Any]) -> bool:
    keys = {_as_key(key): inner for key, inner in value.items()}
    return keys.keys() == found.keys() and all(reads_as(inner, found[key]) for key, inner in keys.items())


def _as_key(key: Any) -> str:
    match key:
        case Enum():
            return str(key.value)
        case date() | time():
            return key.isoformat()
    return str(key)


def _members_read_as(value: list[Any], found: list[Any]) -> bool:
    left = list(found)
    for one in value:
        match = next((other for other in left if reads_as(one, other)), None)
        if match is None and None not in left:
            return False
        left.remove(match)
    return not left


def _read_as(kind: Any, found: Any) -> Any:
    return TypeAdapter(kind).validate_python(found)


def _bytes(value: bytes) -> set[str]:
    spellings = {base64.b64encode(value).decode(), base64.urlsafe_b64encode(value).decode()}
    try:
        return spellings | {value.decode()}
    except UnicodeDecodeError:
        return spellings


def _atom_reads_as(value: Any, found: Any) -> bool:
    match value:
        case SecretStr() | SecretBytes():
            return _atom_reads_as(value.get_secret_value(), found)
        case bytes():
            return found in _bytes(value)
        case Decimal():
            return isinstance(found, str | int | float) and ascii(Decimal(str(found))) == ascii(value)
        case UUID() | Path():
            return bool(found == str(value))
        case timedelta():
            return isinstance(found, str | int | float) and _read_as(timedelta, found) == value
        case datetime() | date() | time():
            return isinstance(found, str) and _read_as(type(value), found) == value
        case float():
            return type(found) is float and (
                found == value and math.copysign(1, found) == math.copysign(1, value)
            )
    return type(found) is type(value) and found == value and isinstance(value, PLAIN)
