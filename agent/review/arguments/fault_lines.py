"""On which lines of a JSON text the faults of its arguments stand, for an editor to mark them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from agent.review.arguments.argument_faults import MAX_FAULTS, ArgumentFault
from agent.review.arguments.json_paths import path

# A string that nobody closes ends with its line: it is looked at once, not again from each of its quotation marks.
_TOKEN = re.compile(r'(?P<text>"(?:[^"\\\n]|\\.)*+(?:"|\\?(?=\n|\Z)))(?P<colon>\s*+:)?|[{\[]|[}\]]')
_MISSPELT = re.compile(r"at line (\d+),")


def fault_lines(text: str, faults: Iterable[object]) -> list[int]:
    """The line of each fault, counted from 1, in order; one that stands nowhere in the text has none.

    A fault inside a nested value stands on the line of the argument it belongs to.
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
    """The path of each argument, and the line its name stands on. The text may be broken."""
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
