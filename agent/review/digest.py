"""Digests of what was on screen and of what runs, which are equal only if the two are."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any

_VERSION = 1
# Made once: `json.dumps` would make an encoder for every event of a trail.
_SPELLING = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical(value: object) -> bytes:
    """Return the one spelling of a JSON value: keys sorted by code point, no spaces, ASCII escapes, digits in full.

    Two values have the same spelling only if they are equal, types included: 1, 1.0, True and "1" all differ,
    and so do 0.0 and -0.0. Tuples are spelt as lists, and members of a `StrEnum` as text. Raises `ValueError`
    for a float that is not finite, and `TypeError` for what JSON cannot hold, including a key that is not text.
    """
    _refuse_odd_keys(value)
    return spelt(value)


def spelt(value: object) -> bytes:
    """Return the same for a value whose keys are all known to be text."""
    return _SPELLING.encode(value).encode("ascii")


def call_digest(
    key: bytes,
    *,
    agent: str,
    thread_id: str,
    message_id: str,
    tool_call_id: str,
    attempt: int,
    tool: str,
    args: Mapping[str, Any] | None,
) -> str:
    """Return the digest that identifies one call of one tool with exactly these arguments, as hex; the guard checks it.

    `args` is None if a proposal's arguments could not be accepted: such a call never runs.
    """
    call = {
        "v": _VERSION,
        "agent": agent,
        "thread_id": thread_id,
        "message_id": message_id,
        "tool_call_id": tool_call_id,
        "attempt": attempt,
        "tool": tool,
        "args": None if args is None else dict(args),
    }
    return _keyed(key, call)


def shown_digest(
    key: bytes,
    *,
    call_digest: str,
    summary: str | None,
    allowed_decisions: Sequence[str],
    policy_version: str | None,
) -> str:
    """Return the digest that identifies the card a reviewer saw, as hex; every decision carries it."""
    card = {
        "v": _VERSION,
        "call_digest": call_digest,
        "summary": summary,
        "allowed_decisions": list(allowed_decisions),
        "policy_version": policy_version,
    }
    return _keyed(key, card)


def _keyed(key: bytes, value: object) -> str:
    # Without a key, a short secret among the arguments could be found by trying digests.
    return hmac.new(key, canonical(value), hashlib.sha256).hexdigest()


def _refuse_odd_keys(value: object) -> None:
    # json.dumps would spell the keys 1 and "1" alike.
    waiting = [value]
    while waiting:
        match waiting.pop():
            case dict() as entries:
                for name in entries:
                    if not isinstance(name, str):
                        raise TypeError(f"a key must be text, not {name!r}")
                waiting.extend(entries.values())
            case list() | tuple() as items:
                waiting.extend(items)
            case _:
                pass
