"""What is wrong with arguments, place by place, in short texts for a person or a model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.review.arguments.json_paths import literal
from agent.review.errors import ArgumentsRefused

MAX_FAULTS = 100  # a megabyte of mistakes must not become a message of many megabytes


@dataclass(frozen=True)
class ArgumentFault:
    """One thing that is wrong with the arguments, and where."""

    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, got {self.got}"


def refusal(faults: Iterable[ArgumentFault]) -> ArgumentsRefused:
    """Return the error that names these faults, each once, at most `MAX_FAULTS` and the number of the others."""
    each = list(dict.fromkeys(faults))
    if len(each) > MAX_FAULTS:
        each[MAX_FAULTS:] = [ArgumentFault("args", "no further faults", f"{len(each) - MAX_FAULTS:,} more")]
    return ArgumentsRefused(each)


def no_such(known: Sequence[str]) -> str:
    """Return what is expected in place of an argument that does not exist."""
    return f"no such argument (known: {', '.join(known) or 'none'})"


def either(words: Iterable[str]) -> str:
    """Join the alternatives in one phrase, each once."""
    return " or ".join(dict.fromkeys(words))


def brief(value: object) -> str:
    """Return the value as JSON, cut if it is long."""
    return _digits(value) if type(value) is int else cut(literal(value))


def _digits(number: int) -> str:
    # Python refuses to spell integers of more than 4,300 digits.
    if abs(number) < 10**80:
        return str(number)
    return f"an integer of about {int(number.bit_length() * math.log10(2)) + 1} digits"


def cut(text: str, length: int = 80) -> str:
    """Return the text, visibly shortened if it is longer."""
    return text if len(text) <= length else text[:length] + "…"
