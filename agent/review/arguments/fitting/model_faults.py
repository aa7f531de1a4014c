"""A pydantic error in words: which place of the arguments, what was expected there, what was given."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any, get_args

from pydantic import BaseModel, RootModel, ValidationError
from pydantic_core import ErrorDetails

from agent.review.arguments.args import JSON
from agent.review.arguments.argument_faults import ArgumentFault, brief, cut, either, no_such
from agent.review.arguments.fitting.parts import key_of, keys_of
from agent.review.arguments.json_paths import Steps, path

_EXPECTED = {
    "missing": "a value",
    "none_required": "null",
    "finite_number": "a finite number",
    "decimal_parsing": "number",
    "bytes_type": "text",
    "iterable_type": "list",
    "mapping_type": "object",
    "model_attributes_type": "object",
}
_KINDS = {
    "string": "text",
    "int": "integer",
    "float": "number",
    "decimal": "number",
    "bool": "true or false",
    "list": "list",
    "tuple": "list",
    "set": "list",
    "frozen_set": "list",
    "dict": "object",
    "model": "object",
    "dataclass": "object",
}
_KIND_ERROR = re.compile(r"(\w+?)_(?:exact_)?(?:type|parsing(?:_size)?|from_float|sub_type|unicode)")
_PREAMBLE = re.compile(r"^(?:Input|Value|String|List|Set|Tuple|Dictionary|Data|Bytes) should (?:be |have )?")


def model_faults(
    schema: type[BaseModel], given: dict[str, Any], error: ValidationError, only: str | None = None
) -> list[ArgumentFault]:
    """Return one fault for each place; the alternatives of a union that fail in the same place make one fault."""
    told: dict[tuple[str, str], list[str]] = {}
    for detail in error.errors(include_url=False, include_input=False):
        if only not in (None, detail["type"]):
            continue
        missing = detail["type"] == "missing"
        steps, found, form = _locate(detail["loc"], given, missing=missing)
        expected = _in_words(schema, detail)
        if detail["loc"] and detail["loc"][-1] == "[key]":
            expected, found = f"{expected} as the key", steps[-1]
        place = (path(steps), "nothing" if missing else brief(found))
        told.setdefault(place, []).append(expected + form)
    return [ArgumentFault(path, either(expected), got) for (path, got), expected in told.items()]


def forbidden_extras(schema: type[BaseModel], given: dict[str, Any]) -> list[ArgumentFault]:
    """Return a fault for each argument the models ignore; needed if other faults leave no instance to compare with."""
    try:
        schema.model_validate(deepcopy(given), extra="forbid")
    except ValidationError as error:
        allowed = {
            path(place_of(detail, given))
            for detail in error.errors()
            if any(model.model_config.get("extra") == "allow" for model in _models_at(schema, detail["loc"]))
        }
        faults = model_faults(schema, given, error, only="extra_forbidden")
        return [fault for fault in faults if fault.path not in allowed]
    return []


def _locate(loc: Steps, given: JSON, *, missing: bool = False) -> tuple[Steps, JSON, str]:
    """Return where in the arguments pydantic's location is, what is there, and which form of a union it is about."""
    steps: Steps = ()
    found: Any = given
    form = tag = ""
    for index, element in enumerate(loc):
        in_object = isinstance(found, dict) and element in found
        if in_object or (isinstance(found, list) and isinstance(element, int) and element < len(found)):
            steps, found, form = (*steps, element), found[element], tag or form
        elif missing and index == len(loc) - 1:
            steps, found, form = (*steps, element), None, tag or form
        elif isinstance(element, str) and element.isidentifier():
            tag = f" (for {element})"
    return steps, found, form


def place_of(detail: ErrorDetails, given: JSON) -> Steps:
    """Return where in the arguments the detail of an error points."""
    return _locate(detail["loc"], given, missing=detail["type"] == "missing")[0]


def _in_words(schema: type[BaseModel], detail: ErrorDetails) -> str:
    kind, about, message = detail["type"], detail.get("ctx", {}), str(detail["msg"])
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind == "extra_forbidden":
        models = _models_at(schema, detail["loc"])
        known = [key_of(model, name) for model in models for name in model.model_fields]
        return no_such(known) if models else "no such argument"
    if kind in ("literal_error", "enum"):
        return f"one of {about['expected']}"
    if kind == "union_tag_invalid":
        return f"{about['discriminator']} to be one of {about['expected_tags']}"
    if kind in ("value_error", "assertion_error"):
        return f"a value that passes its check ({cut(str(about['error']), 200)})"
    if (family := _KIND_ERROR.fullmatch(kind)) and family[1] in _KINDS:
        return _KINDS[family[1]]
    return cut(_PREAMBLE.sub("", message, count=1), 200)


def _models_at(schema: type[BaseModel], loc: Steps) -> list[type[BaseModel]]:
    """Return the models of which one holds the last element of a location; several if a union leaves it open."""
    models = _models_in(schema)
    for element in loc[:-1]:
        named = [model for model in models if model.__name__ == element]
        inside = [
            model.model_fields[name].annotation
            for model in models
            for name in model.model_fields
            if element in keys_of(model, name)
        ]
        if named or inside:  # else it is an index, a key of a mapping or the tag of a union
            models = named or [inner for annotation in inside for inner in _models_in(annotation)]
    return models


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, RootModel):
        return _models_in(annotation.model_fields["root"].annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models_in(inner)]
