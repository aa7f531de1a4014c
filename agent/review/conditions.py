"""Conditions on a call's arguments: a JSON Schema, or a plain Python predicate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent.review import json_schemas

Args = Mapping[str, Any]
Condition = Callable[[Args], bool] | Mapping[str, Any]
"""A predicate of the arguments, or a JSON Schema for them."""


def holds(condition: Condition, args: Args) -> bool:
    """Return whether the condition is true of the arguments. Raises whatever keeps it from being evaluated."""
    if isinstance(condition, Mapping):
        return json_schemas.Schema(condition).fits(dict(args))
    return bool(condition(args))


def fault_of(condition: object) -> str:
    """Return why this is not a valid condition, or ""."""
    if callable(condition):
        return ""
    if not isinstance(condition, Mapping):
        return f"{condition!r} is neither a JSON Schema nor a predicate"
    return json_schemas.fault_of(condition)


def described(condition: Condition) -> Any:
    """Return the condition as the policy's version covers it: a schema in full, a predicate only by its name."""
    if isinstance(condition, Mapping):
        return dict(condition)
    return getattr(condition, "__qualname__", type(condition).__qualname__)
