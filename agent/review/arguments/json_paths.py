"""Places in the arguments, and how they are written: `args.to[0]["odd key"]`."""

from __future__ import annotations

import json
from collections.abc import Set
from typing import Any, TypeAlias

Steps: TypeAlias = tuple[str | int, ...]
LONGEST_STEP = 100
"""Characters of a key that a path repeats, since there may be a path for each of many faults."""


def path(steps: Steps) -> str:
    """Return the place as a person or a model reads it."""
    return "args" + "".join(_step(step) for step in steps)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    step = step if len(step) <= LONGEST_STEP else f"{step[:LONGEST_STEP]}…"
    return f".{step}" if step.isidentifier() else f"[{literal(step)}]"


def at(value: Any, steps: Steps) -> Any:
    """Return what is at the place; None if there is no such place."""
    for step in steps:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


def without(value: Any, gone: Set[Steps], steps: Steps = ()) -> Any:
    """Return a copy of the value without the entries at the given places."""
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if (*steps, key) not in gone}
        return {key: without(inner, gone, (*steps, key)) for key, inner in kept.items()}
    if isinstance(value, list):
        return [without(inner, gone, (*steps, index)) for index, inner in enumerate(value)]
    return value


def literal(value: object) -> str:
    """Return the value as JSON that can be sent and stored as UTF-8."""
    text = json.dumps(value, ensure_ascii=False)
    # A lone surrogate cannot be sent or stored as UTF-8, not even in a message about it.
    return text if is_unicode(text) else json.dumps(value)


def is_unicode(text: str) -> bool:
    """Return whether the text is free of lone surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
