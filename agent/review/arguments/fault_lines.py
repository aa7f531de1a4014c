"""Find the lines of a JSON text that the faults of its arguments are on, for an editor to mark them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from agent.review.arguments.argument_faults import MAX_FAULTS, ArgumentFault
from agent.review.arguments.json_paths import path

# An unclosed string ends with its line, so that it is scanned once, not again from each of its quotation marks.
_TOKEN = re.compile(r'(?P<text>"(?:[^"\\\n]|\\.)*+(?:"|\\?(?=\n|\Z)))(?P<colon>\s*+:)?|[{\[]|[}\]]')
_MISSPELT = re.compile(r"at line (\d+),")


def fault_lines(text: str, faults: Iterable[object]) -> list[int]:
    """Return the lines with faults, counted from 1, in order; a fault that is nowhere in the text has no line.

    A fault inside a nested value is on the line of the argument it belongs to.
    """
    arguments = _arguments(text)
    told = [fault for fault in faults if isinstance(fault, ArgumentFault)][: MAX_FAULTS + 1]
    found = (_line(fault, arguments) for fault in told)
    return sorted({line for line in found if line is not None})


def _line(fault: ArgumentFault, arguments: dict[str, int]) -> int | None:
    if misspelt := _MISSPELT.search(fault.got):
        return int(misspelt[1])
    for place, line in arguments.items():
        if fault.path == place or fault.path.startswith((f"{place}.", f"{place}[")):
            return line
    return None


def _arguments(text: str) -> dict[str, int]:
    """Return the line that each argument's name is on, by the argument's path. The text may be broken JSON."""
    found: dict[str, int] = {}
    depth, line, counted = 0, 1, 0
    for token in _TOKEN.finditer(text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        if depth == 1 and token["colon"]:
            line, counted = line + text.count("\n", counted, token.start()), token.start()
            found[path((_name(token["text"]),))] = line
    return found


def _name(token: str) -> str:
    try:
        return str(json.loads(token))
    except json.JSONDecodeError:
        return token
