"""Secrets of common forms, masked where text is only read: in the record on screen, in exports and over HTTP.

What a reviewer decides on is never masked, and neither is what is stored. This finds forms and names, not meanings: a
password that looks like a word, and that nothing calls a password, stays visible.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent.review.text.secret_forms import Span, is_card_number, is_named, secrets_in

MASK = re.compile(r"…\[\d{1,20} characters? masked\]")
"""The mask of a secret, which follows the secret's first characters."""
SHOWN = 4
"""Characters of a long secret that stay visible, so that one can tell which it is."""


def masked(value: Any) -> Any:
    """Return the same JSON value with what looks like a secret replaced; an equal value if nothing does.

    Replaced are text of a secret's form anywhere, every text and number under a key that names a secret, and a payment
    card's number even if it is an integer. A mask is not masked again.
    """
    if isinstance(value, str):
        return _in_text(value)
    if isinstance(value, Mapping):
        return _in_object(value)
    if isinstance(value, list | tuple):
        return [masked(inner) for inner in value]
    return _stars(str(value)) if is_card_number(value) else value


def masks(value: Any) -> Counter[str]:
    """Count each mask in a value, without the characters of the secret that stayed visible."""
    found: Counter[str] = Counter()
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                found.update(MASK.findall(text))
            case Mapping() as entries:
                waiting += [*entries.keys(), *entries.values()]
            case list() | tuple() as items:
                waiting += items
    return found


def _in_object(entries: Mapping[Any, Any]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    alike: Counter[Any] = Counter()
    pair = next((entries[key] for key in ("name", "key", "header") if key in entries), None)
    for name, inner in entries.items():
        is_secret = is_named(name) or (name == "value" and is_named(pair))
        shown = masked(name)
        if shown in found:  # two keys with the same mask must stay two entries
            alike[shown] += 1
            shown = f"{shown} ({alike[shown] + 1})"
        found[shown] = _whole(inner) if is_secret else masked(inner)
    return found


def _whole(value: Any) -> Any:
    """Return a value that is secret as a whole, with every text and number in it masked."""
    if isinstance(value, str):
        at = MASK.search(value[: SHOWN + 40]) if value else None
        is_mask = at is not None and at.start() <= SHOWN and at.end() == len(value)
        return value if is_mask or value == "" else _stars(value)
    if isinstance(value, Mapping):
        return {name: _whole(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(inner) for inner in value]
    return value if value is None or isinstance(value, bool) else _stars(_digits_of(value))


def _digits_of(number: Any) -> str:
    # Python refuses to write an integer of thousands of digits in decimal.
    is_huge = isinstance(number, int) and number.bit_length() > 10_000
    return hex(number) if is_huge else str(number)


def _stars(secret: str) -> str:
    """Return a secret's first characters, fewer of a short one, and its length."""
    return (
        f"{secret[: min(SHOWN, len(secret) // 3)]}…[{len(secret)} character{'s' * (len(secret) != 1)} masked]"
    )


def _in_text(text: str) -> str:
    spans = _united(secrets_in(text))
    if not spans:
        return text
    parts, done = [], 0
    for start, end in _without(spans, _masks(text)):
        parts += [text[done:start], _stars(text[start:end])]
        done = end
    return "".join([*parts, text[done:]])


def _masks(text: str) -> list[Span]:
    """Return where masks are already, each with the characters before it that may be its secret's first."""
    found = [match.span() for match in MASK.finditer(text)] if "masked]" in text else []
    ends = [0, *(end for _, end in found)]
    return [(max(start - SHOWN, before), end) for before, (start, end) in zip(ends, found, strict=False)]


def _united(spans: Iterable[Span]) -> list[Span]:
    """Return spans of the same characters that do not overlap, in order."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _without(spans: list[Span], taken: list[Span]) -> Iterator[Span]:
    """Yield the spans without what is taken; both are in order and do not overlap."""
    place = 0
    for start, end in spans:
        while place < len(taken) and taken[place][1] <= start:
            place += 1
        while place < len(taken) and taken[place][0] < end:
            if start < taken[place][0]:
                yield start, taken[place][0]
            start = taken[place][1]
            if start >= end:
                break
            place += 1
        if start < end:
            yield start, end
