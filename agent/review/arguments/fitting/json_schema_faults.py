"""A JSON Schema's error in words: which place of the arguments, what was expected there, what was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema.exceptions import ValidationError as SchemaFault

from agent.review.arguments.argument_faults import ArgumentFault, brief, cut, either, no_such
from agent.review.arguments.json_paths import at, path
from agent.review.json_schemas import extra_keys

_TYPES = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
    "null": "null",
}
_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} elements",
    "maxItems": "at most {} elements",
    "minProperties": "at least {} keys",
    "maxProperties": "at most {} keys",
    "pattern": "text matching {}",
    "const": "{}",
}


def schema_faults(error: SchemaFault) -> list[ArgumentFault]:
    """Return the faults that one error of the validator reports; several if it is about several keys or forms."""
    steps = tuple(error.absolute_path)
    wanted: Any = error.validator_value
    came: Any = error.instance
    match error.validator:
        case "required":
            absent = [name for name in wanted if name not in came]
            return [ArgumentFault(path((*steps, name)), _missing(error, name), "nothing") for name in absent]
        case "additionalProperties" if wanted is False:
            return _extra_properties(error)
        case "anyOf" | "oneOf" if error.context:
            return _union_faults(error)
        case _:
            return [ArgumentFault(path(steps), _wanted(error), brief(came))]


def _wanted(error: SchemaFault) -> str:
    wanted: Any = error.validator_value
    match error.validator:
        case "type":
            return _type_words(wanted)
        case "enum":
            return f"one of {', '.join(brief(each) for each in wanted)}"
        case str(word) if word in _LIMITS:
            return _LIMITS[word].format(brief(wanted))
        case None:
            return "no value here"
        case "oneOf":
            return "exactly one of its forms, not several"
        case _:
            return f"a value its schema takes ({cut(error.message, 200)})"


def _type_words(wanted: Any) -> str:
    return either(_TYPES.get(each, str(each)) for each in ([wanted] if isinstance(wanted, str) else wanted))


def _missing(error: SchemaFault, name: str) -> str:
    part = at(error.schema, ("properties", name))
    wanted = part.get("type") if isinstance(part, Mapping) else None
    return _type_words(wanted) if wanted else "a value"


def _extra_properties(error: SchemaFault) -> list[ArgumentFault]:
    schema: Any = error.schema
    came: Any = error.instance
    known = schema.get("properties", {})
    steps = tuple(error.absolute_path)
    return [
        ArgumentFault(path((*steps, key)), no_such(list(known)), brief(item))
        for key, item in ((key, came[key]) for key in extra_keys(schema, came))
    ]


def _union_faults(error: SchemaFault) -> list[ArgumentFault]:
    """Return a value's faults by the forms of a union that it is near to; if near none, the types it may have."""
    forms: dict[Any, list[SchemaFault]] = {}
    for each in error.context or ():
        forms.setdefault(each.schema_path[0], []).append(each)
    alien = [
        each for faults in forms.values() for each in faults if each.validator == "type" and not each.path
    ]
    near = {form: faults for form, faults in forms.items() if not any(each in alien for each in faults)}
    if not near:
        expected = either(_wanted(each) for each in alien)
        return [ArgumentFault(path(tuple(error.absolute_path)), expected, brief(error.instance))]
    # A mark such as {"kind": "circle"} says which form was meant.
    meant = {
        form: faults for form, faults in near.items() if not any(_is_mark(each) for each in faults)
    } or near
    told: dict[tuple[str, str], list[str]] = {}
    for form, faults in meant.items():
        label = f" (for {_form_name(error, form)})" if len(meant) > 1 else ""
        for fault in (fault for each in faults for fault in schema_faults(each)):
            told.setdefault((fault.path, fault.got), []).append(fault.expected + label)
    return [ArgumentFault(path, either(expected), got) for (path, got), expected in told.items()]


def _is_mark(error: SchemaFault) -> bool:
    return error.validator in ("const", "enum") and len(error.path) == 1


def _form_name(error: SchemaFault, form: Any) -> str:
    forms: Any = error.validator_value
    part = forms[form]
    reference = str(part.get("$ref", "")).rpartition("/")[2] if isinstance(part, Mapping) else ""
    title = part.get("title") if isinstance(part, Mapping) else None
    return str(title or reference or f"form {form + 1}")
