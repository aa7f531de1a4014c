"""What was on screen and what runs, each reduced to a string that only the same thing gives again."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any

_VERSION = 1
# Made once: `json.dumps` would make one for every event of a trail.
_SPELLING = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical(value: object) -> bytes:
    """The one spelling of a JSON value: keys sorted by code point, no spaces, ASCII escapes, digits in full.

    Two values have the same spelling only if they are equal to the type: 1, 1.0, True and "1" all differ,
    and so do 0.0 and -0.0. Tuples are spelt as lists, and members of a `StrEnum` as text. Raises ValueError
    for a float that is not finite and TypeError for what JSON cannot hold, a key that is not text included.
    """
    _refuse_odd_keys(value)
    return spelt(value)


def spelt(value: object) -> bytes:
    """The same, of a value whose every key is known to be text."""
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
    """What identifies one call of one tool with exactly these arguments, as hex; the guard checks it.

    `args` is None where a proposal's arguments could not be taken: such a call never runs.
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
    """What identifies the card a reviewer saw, as hex; every decision carries it."""
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
