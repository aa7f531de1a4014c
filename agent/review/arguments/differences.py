"""What differs between two versions of the arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agent.review.arguments.args import JSON
from agent.review.arguments.json_paths import Steps, path

Difference: TypeAlias = tuple[Steps, Literal["added", "removed", "changed"], JSON, JSON]


@dataclass(frozen=True)
class ArgumentChange:
    """One difference between two versions of the arguments; `before` is None if added, `after` if removed."""

    path: str
    kind: Literal["added", "removed", "changed"]
    before: JSON
    after: JSON


def diff(before: JSON, after: JSON) -> list[ArgumentChange]:
    """Return every difference, by path and exact to the type: 1, 1.0, true and "1" all differ; key order does not count.

    Lists are compared element by element; surplus elements of the longer one are added or removed at the end.
    """
    return [
        ArgumentChange(path(steps), kind, old, new)
        for steps, kind, old, new in differences(before, after, ())
    ]


def differences(before: JSON, after: JSON, steps: Steps) -> Iterator[Difference]:
    """Yield every difference as `diff` finds it, with its place still in steps."""
    old, new = _entries(before), _entries(after)
    if type(before) is not type(after) or old is None or new is None:
        if not _is_same_scalar(before, after):
            yield steps, "changed", before, after
        return
    for step, inner in old.items():
        if step in new:
            yield from differences(inner, new[step], (*steps, step))
        else:
            yield (*steps, step), "removed", inner, None
    for step, inner in new.items():
        if step not in old:
            yield (*steps, step), "added", None, inner


def _is_same_scalar(one: JSON, other: JSON) -> bool:
    # 0.0 equals -0.0 in Python, and 1 equals True; neither pair reads or runs alike.
    return type(one) is type(other) and (repr(one) == repr(other) if type(one) is float else one == other)


def _entries(value: JSON) -> dict[Any, JSON] | None:
    if isinstance(value, dict):
        return value
    return dict(enumerate(value)) if isinstance(value, list) else None
