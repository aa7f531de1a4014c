"""Fit a proposal to its tool: what the tool's function receives, and how that differs from what was proposed."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from agent.review.arguments.args import check, type_name
from agent.review.arguments.argument_faults import ArgumentFault, cut, refusal
from agent.review.arguments.fitting.intake import intake_of
from agent.review.arguments.fitting.json_form import json_form
from agent.review.arguments.fitting.json_schema import by_json_schema
from agent.review.arguments.fitting.model import by_model
from agent.review.arguments.fitting.outcome import Coercion, Received, Unknown
from agent.review.errors import ArgumentsRefused

__all__ = ["Coercion", "Received", "Unknown", "received"]

_CHECKABLE = "arguments that the tool's own checks can read"


def received(tool: Any, args: Mapping[str, Any], *, unknown: Unknown, checked: bool = True) -> Received:
    """Return what the tool's function receives of the arguments: made once, by the tool's own parsing.

    An argument the tool does not know is dropped or refused as `unknown` says; a schema that forbids such arguments
    always refuses them, one that allows them keeps them. A JSON Schema is checked against the arguments only if
    `checked`, since LangChain itself passes them on unchecked.

    Raises `ArgumentsRefused` with every fault, and nothing else, whatever the arguments or the tool's own checks do.
    It also refuses values that JSON cannot show exactly, and values that the tool makes differently each time and that
    cannot be made again from what was shown: what is executed would then not be what is shown.
    """
    if not isinstance(args, Mapping):
        raise refusal([ArgumentFault("args", "object", type_name(args))])
    given = dict(args)
    check(given)
    try:
        made = _made(tool, given, unknown, checked)
        check(made.args)
    except ArgumentsRefused:
        raise
    except Exception as odd:
        told = cut(" ".join(f"{type(odd).__name__}: {odd}".split()), 300)
        raise ArgumentsRefused([ArgumentFault("args", _CHECKABLE, told)]) from odd
    return made


def _made(tool: Any, given: dict[str, Any], unknown: Unknown, checked: bool) -> Received:
    intake = intake_of(tool)
    if intake.model is not None:
        return by_model(intake, given, unknown)
    if checked and isinstance(intake.schema, Mapping):
        own = {name: value for name, value in given.items() if name not in intake.filled}
        return by_json_schema(intake.schema, own, unknown)
    args = json_form(intake.parse(given))
    if not isinstance(args, dict):
        raise TypeError("the tool takes no arguments by name")
    return Received(args, deepcopy(given), unchecked=True)
