"""Fitting a proposal to its tool's schema, a pydantic model or a JSON Schema: what the tool would get, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from agent.review.args import check, type_name
from agent.review.errors import ArgumentsRefused
from agent.review.faults import Fault, cut, refusal
from agent.review.fitting.json_schema import by_json_schema
from agent.review.fitting.model import by_model
from agent.review.fitting.outcome import Coercion, Unknown, Validated

__all__ = ["Coercion", "Unknown", "Validated", "validate"]

_CHECKABLE = "arguments that the tool's own checks can read"


def validate(
    schema: type[BaseModel] | Mapping[str, Any], args: Mapping[str, Any], *, unknown: Unknown
) -> Validated:
    """What the tool's schema makes of the arguments: what is handed over, and how it differs from the proposal.

    An argument the schema does not know is dropped or refused as `unknown` says; a schema that forbids such
    arguments refuses them always, one that allows them keeps them. Raises ArgumentsRefused with every fault, and
    nothing else whatever the arguments or the tool's own checks do. It also refuses values that the schema would
    change again, or could not write out, for then what is shown would not be what is executed.
    """
    if not isinstance(schema, Mapping) and not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        raise TypeError(f"a schema is a pydantic model or a JSON Schema, not {schema!r}")
    if not isinstance(args, Mapping):
        raise refusal([Fault("args", "object", type_name(args))])
    given = dict(args)
    check(given)
    try:
        if isinstance(schema, Mapping):
            made = by_json_schema(schema, given, unknown)
        else:
            made = by_model(schema, given, unknown)
        check(made.args)
    except ArgumentsRefused:
        raise
    except Exception as odd:
        told = cut(" ".join(f"{type(odd).__name__}: {odd}".split()), 300)
        raise ArgumentsRefused([Fault("args", _CHECKABLE, told)]) from odd
    return made
