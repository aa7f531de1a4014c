"""Fit a proposal to a tool with a pydantic model, and note what happened at each of its places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, is_dataclass
from typing import Any

from pydantic import BaseModel, RootModel, ValidationError

from agent.review.arguments.args import JSON
from agent.review.arguments.argument_faults import ArgumentFault, brief, no_such, refusal
from agent.review.arguments.differences import differences
from agent.review.arguments.fitting.intake import Intake
from agent.review.arguments.fitting.json_form import json_form
from agent.review.arguments.fitting.model_faults import forbidden_extras, model_faults
from agent.review.arguments.fitting.outcome import Coercion, Received, Unknown
from agent.review.arguments.fitting.parts import parts_of
from agent.review.arguments.json_paths import Steps, at, path

_UNREACHABLE = "no argument that LangChain gives in the model's place (rename it in the tool)"
_STEADY = "a value that the tool's own checks make the same each time"


@dataclass(frozen=True)
class _Notes:
    """What happened to a proposal, by place."""

    defaults: list[Steps] = field(default_factory=list)
    dropped: list[tuple[Steps, ArgumentFault]] = field(default_factory=list)
    coerced: list[tuple[Steps, JSON]] = field(default_factory=list)


def by_model(intake: Intake, given: dict[str, Any], unknown: Unknown) -> Received:
    """Return what the tool makes of the proposal by its complete model. Raises `ArgumentsRefused` with every fault."""
    model = intake.model
    assert model is not None  # noqa: S101  the caller checked
    if taken := intake.unreachable & given.keys():
        raise refusal(
            ArgumentFault(path((name,)), _UNREACHABLE, brief(given[name])) for name in sorted(taken)
        )
    try:
        handed = intake.parse(given)
        args = _object(json_form(handed))
        value = model.model_validate({k: v for k, v in deepcopy(given).items() if k not in intake.filled})
    except ValidationError as error:
        extras = forbidden_extras(model, given) if unknown == "refuse" else []
        raise refusal([*model_faults(model, given, error), *extras]) from error
    notes = _Notes()
    _compare_objects(value, given, args, (), notes)
    if unknown == "refuse" and notes.dropped:
        raise refusal([fault for _, fault in notes.dropped])
    moved = _moved(value, args)
    if moved and intake.rebuild(args, handed) is None:
        raise refusal(ArgumentFault(path(place), _STEADY, brief(at(args, place))) for place in moved)
    if moved and unknown == "refuse":  # an edit is parsed at its preview and once more when it is sent
        raise refusal(_to_be_given(args, moved, notes))
    return Received(
        args,
        {name: inner for name, inner in deepcopy(given).items() if name not in intake.filled},
        tuple(path(steps) for steps in notes.defaults),
        tuple(path(steps) for steps, _ in notes.dropped),
        tuple(Coercion(path(steps), before, at(args, steps)) for steps, before in notes.coerced),
        tuple(path(steps) for steps in moved),
    )


def _object(made: JSON) -> dict[str, Any]:
    if not isinstance(made, dict):
        raise TypeError("the tool takes no arguments by name")
    return made


def _moved(value: BaseModel, args: dict[str, Any]) -> list[Steps]:
    """Return the places at which the same proposal, parsed once more, gives another value."""
    again = _object(json_form({name: getattr(value, name, None) for name in args}))
    return [steps for steps, *_ in differences(args, again, ())]


def _compare(value: Any, given: JSON, final: JSON, steps: Steps, notes: _Notes) -> None:
    """Note, place by place, what happened to `given`, of which the tool made `final` by way of `value`."""
    if isinstance(value, RootModel):
        value = value.root
    if isinstance(given, dict) and isinstance(final, dict) and _is_kin(value, given, final):
        _compare_objects(value, given, final, steps, notes)
    elif isinstance(given, list) and isinstance(final, list) and _is_kin(value, given, final):
        for index, (inner, old, new) in enumerate(zip(value, given, final, strict=True)):
            _compare(inner, old, new, (*steps, index), notes)
    elif next(differences(given, final, ()), None) is not None:
        notes.coerced.append((steps, given))


def _to_be_given(args: dict[str, Any], moved: list[Steps], notes: _Notes) -> Iterator[ArgumentFault]:
    for place in moved:
        is_default = any(place[: len(top)] == top for top in notes.defaults)
        expected = f"a value, such as {brief(at(args, place))}: the tool makes another one each time"
        yield ArgumentFault(
            path(place), expected if is_default else _STEADY, "none" if is_default else brief(at(args, place))
        )


def _takes_anything(value: Any) -> bool:
    """Return whether a check of the model sees the whole proposal before its fields do."""
    if not isinstance(value, BaseModel):
        return False
    checks = type(value).__pydantic_decorators__.model_validators.values()
    return any(check.info.mode in ("before", "wrap") for check in checks)


def _is_kin(value: Any, given: Any, final: Any) -> bool:
    """Return whether two containers can be compared part by part, rather than one having been made from the other."""
    if isinstance(given, list):
        return isinstance(value, Sequence) and len(value) == len(given) == len(final)
    same_keys = isinstance(value, Mapping) and set(final) <= set(given)
    return isinstance(value, BaseModel) or is_dataclass(value) or same_keys


def _compare_objects(
    value: Any, given: dict[str, Any], final: dict[str, Any], steps: Steps, notes: _Notes
) -> None:
    parts = parts_of(value)
    taken = set[str]()
    for key, part in parts.items():
        source = next((name for name in part.keys if name in given), None)
        if source is None:
            if key in final and part.is_set:  # a check of the schema made it from something else
                notes.coerced.append(((*steps, key), None))
            elif key in final:
                notes.defaults.append((*steps, key))
            continue
        if key in final:
            taken.add(source)
            _compare(part.value, given[source], final[key], (*steps, key), notes)
    if _takes_anything(value):
        return  # what its check made of them cannot be told apart
    known = [key if key in part.keys else part.keys[0] for key, part in parts.items() if key in final]
    for key in given:
        if key not in taken:
            place = (*steps, key)
            notes.dropped.append((place, ArgumentFault(path(place), no_such(known), brief(given[key]))))
