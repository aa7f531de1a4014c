"""Fitting a proposal to a pydantic model, and noting what became of each of its places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, is_dataclass
from typing import Any

from pydantic import BaseModel, RootModel, ValidationError

from agent.review.args import JSON
from agent.review.differences import differences
from agent.review.faults import Fault, brief, no_such, refusal
from agent.review.fitting.handing import handed, parts_of
from agent.review.fitting.model_faults import forbidden_extras, model_faults, place_of
from agent.review.fitting.outcome import Coercion, Unknown, Validated
from agent.review.places import Steps, at, path, without


@dataclass(frozen=True)
class _Notes:
    """What came of a proposal, by place."""

    defaults: list[Steps] = field(default_factory=list)
    dropped: list[tuple[Steps, Fault]] = field(default_factory=list)
    coerced: list[tuple[Steps, JSON]] = field(default_factory=list)
    lost: list[Fault] = field(default_factory=list)


def by_model(schema: type[BaseModel], given: dict[str, Any], unknown: Unknown) -> Validated:
    """What the model makes of the proposal. Raises ArgumentsRefused with every fault."""
    try:
        value = schema.model_validate(deepcopy(given))
    except ValidationError as error:
        extras = forbidden_extras(schema, given) if unknown == "refuse" else []
        raise refusal([*model_faults(schema, given, error), *extras]) from error
    first = handed(value)
    notes = _Notes()
    _compare(value, given, first, (), notes)
    refused = [fault for _, fault in notes.dropped] if unknown == "refuse" else []
    if refused or notes.lost:
        raise refusal([*refused, *notes.lost])
    args = _steady(schema, first, notes)
    return Validated(
        args,
        tuple(path(steps) for steps in notes.defaults),
        tuple(path(steps) for steps, _ in notes.dropped),
        tuple(Coercion(path(steps), before, at(args, steps)) for steps, before in notes.coerced),
    )


def _steady(schema: type[BaseModel], first: dict[str, Any], notes: _Notes) -> dict[str, Any]:
    """The arguments that the schema, asked again, leaves as they are.

    Pydantic does not validate defaults: `limit: float = 10` becomes 10.0 when handed over, and `name: str = None`
    would be refused, so such a default is left for the tool to fill in. Whatever else moves is refused.
    """
    args, left_out = first, set[Steps]()
    for _ in range(4):
        try:
            again = without(handed(schema.model_validate(deepcopy(args))), left_out)
        except ValidationError as error:
            places = [place_of(detail, args) for detail in error.errors()]
            unfit = {top for top in notes.defaults for place in places if place[: len(top)] == top}
            if not unfit:
                raise refusal(_unreadable(args, places)) from error
            left_out |= unfit
            notes.defaults[:] = [steps for steps in notes.defaults if steps not in unfit]
            args = without(args, left_out)
            continue
        moved = [steps for steps, *_ in differences(args, again, ())]
        if not moved:
            return args
        restless = [place for place in moved if not any(place[: len(top)] == top for top in notes.defaults)]
        if restless:
            raise refusal(_unreadable(args, restless))
        args = again
    raise refusal(_unreadable(args, notes.defaults))


def _unreadable(args: JSON, places: Iterable[Steps]) -> list[Fault]:
    expected = "a value that its schema, given it again, leaves as it is"
    return [Fault(path(place), expected, brief(at(args, place))) for place in places]


def _compare(value: Any, given: JSON, final: JSON, steps: Steps, notes: _Notes) -> None:
    """Note what became of `given`, place by place, now that the schema has made `final` of it by way of `value`."""
    if isinstance(value, RootModel):
        value = value.root
    if isinstance(given, dict) and isinstance(final, dict) and _is_kin(value, given, final):
        _compare_objects(value, given, final, steps, notes)
    elif isinstance(given, list) and isinstance(final, list) and _is_kin(value, given, final):
        for index, (inner, old, new) in enumerate(zip(value, given, final, strict=True)):
            _compare(inner, old, new, (*steps, index), notes)
    elif next(differences(given, final, ()), None) is not None:
        notes.coerced.append((steps, given))


def _is_kin(value: Any, given: Any, final: Any) -> bool:
    """Whether two containers can be compared part by part, rather than one having been made anew."""
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
        taken.add(source)
        if key in final:
            _compare(part.value, given[source], final[key], (*steps, key), notes)
        else:
            expected = "an argument that its schema writes out again"
            notes.lost.append(Fault(path((*steps, source)), expected, brief(given[source])))
    for key in given:
        if key not in taken:
            place = (*steps, key)
            notes.dropped.append((place, Fault(path(place), no_such(list(parts)), brief(given[key]))))
