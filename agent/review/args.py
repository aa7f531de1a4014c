"""The arguments of a call: what may be one, what a tool's schema makes of them, what differs, how they read."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, NoReturn, TypeAlias, get_args

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError as SchemaFault
from jsonschema.validators import validator_for
from pydantic import AliasChoices, BaseModel, RootModel, ValidationError
from pydantic_core import ErrorDetails, to_jsonable_python
from referencing import Registry

from agent.review.digest import canonical
from agent.review.errors import ArgumentsRefused

JSON: TypeAlias = dict[str, Any] | list[Any] | str | int | float | bool | None
Steps: TypeAlias = tuple[str | int, ...]
Unknown: TypeAlias = Literal["drop", "refuse"]

MAX_BYTES = 1_000_000
MAX_DEPTH = 100
MIN_INTEGER, MAX_INTEGER = -(2**63), 2**64 - 1
MAX_FAULTS = 100  # a megabyte of mistakes must not become a message of many megabytes

_RANGE = f"an integer from {MIN_INTEGER} to {MAX_INTEGER}"


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with the arguments, and where."""

    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, got {self.got}"


@dataclass(frozen=True)
class Coercion:
    """A value that the schema turned into another."""

    path: str
    before: JSON
    after: JSON


@dataclass(frozen=True)
class Validated:
    """What a schema makes of a proposal. Validating `args` once more gives `args` again."""

    args: dict[str, Any]
    """What is handed to the tool."""
    defaults: tuple[str, ...] = ()
    """Paths the proposal left out and the schema filled in."""
    dropped: tuple[str, ...] = ()
    """Paths of the proposal that the schema does not know, which the tool will not get."""
    coerced: tuple[Coercion, ...] = ()


@dataclass(frozen=True)
class Change:
    """One difference between two versions of the arguments; `before` is None where added, `after` where removed."""

    path: str
    kind: Literal["added", "removed", "changed"]
    before: JSON
    after: JSON


def parse(text: str) -> JSON:
    """The value that a JSON text means, if no reader of the text could take it for another one.

    Raises ArgumentsRefused for text that is not JSON, for an object that names a key twice, and for
    everything that `check` refuses.
    """
    if len(text) > MAX_BYTES or _utf8_length(text) > MAX_BYTES:
        _refuse([_TOO_BIG])
    try:
        value = json.loads(
            text,
            object_pairs_hook=_read_object,
            parse_int=_read_integer,
            parse_float=_read_number,
            parse_constant=lambda word: _Unfit("a finite number", word),
        )
    except json.JSONDecodeError as mistake:
        raise ArgumentsRefused([_misspelt(mistake)]) from None
    except RecursionError:
        raise ArgumentsRefused([_TOO_DEEP]) from None
    return check(value)


def check(value: object) -> JSON:
    """The value itself, if it can be shown, compared and handed over exactly.

    Raises ArgumentsRefused, naming every place, for what JSON cannot hold, keys that are not text, floats that are not
    finite, integers outside -2**63 … 2**64-1, lone surrogates, more than 100 levels and more than 1,000,000 bytes.
    """
    faults: list[Fault] = []
    size = 0
    waiting: list[tuple[Steps, object]] = [((), value)]
    while waiting:
        steps, item = waiting.pop()
        if isinstance(item, (dict, list)) and len(steps) >= MAX_DEPTH:
            _refuse([*faults, _TOO_DEEP])
        found = _own_faults(steps, item)
        faults += found
        size += 0 if found else _own_size(item)
        if size > MAX_BYTES:  # asked on the way, so that a list that holds itself many times over ends too
            _refuse([*faults, _TOO_BIG])
        if isinstance(item, dict):
            waiting += [((*steps, _key_step(key)), inner) for key, inner in reversed(item.items())]
        elif isinstance(item, list):
            waiting += [((*steps, index), item[index]) for index in reversed(range(len(item)))]
    if faults:
        _refuse(faults)
    return value  # type: ignore[return-value]  # every part of it was looked at


def validate(
    schema: type[BaseModel] | Mapping[str, Any], args: Mapping[str, Any], *, unknown: Unknown
) -> Validated:
    """What the tool's schema makes of the arguments: what is handed over, and how it differs from the proposal.

    An argument the schema does not know is dropped or refused as `unknown` says; a schema that forbids such
    arguments refuses them always, one that allows them keeps them. Raises ArgumentsRefused with every fault, and
    nothing else whatever the arguments or the tool's own checks do. It also refuses values that the schema would
    change again, or could not write out, for then what is shown would not be what is executed.
    """
    by_model = isinstance(schema, type) and issubclass(schema, BaseModel)
    if not by_model and not isinstance(schema, Mapping):
        raise TypeError(f"a schema is a pydantic model or a JSON Schema, not {schema!r}")
    if not isinstance(args, Mapping):
        _refuse([Fault("args", "object", type_name(args))])
    given = dict(args)
    check(given)
    try:
        if isinstance(schema, Mapping):
            made = _by_json_schema(schema, given, unknown)
        else:
            made = _by_model(schema, given, unknown)
        check(made.args)
    except ArgumentsRefused:
        raise
    except Exception as odd:
        told = _cut(" ".join(f"{type(odd).__name__}: {odd}".split()))
        raise ArgumentsRefused([Fault("args", _CHECKABLE, told)]) from odd
    return made


def diff(before: JSON, after: JSON) -> list[Change]:
    """Every difference, by path and exact to the type: 1, 1.0, true and "1" all differ; key order does not count.

    Lists are compared element by element, what one has more than the other being added or removed at the end.
    """
    return [Change(_path(steps), kind, old, new) for steps, kind, old, new in _differences(before, after, ())]


def show(value: object) -> str:
    """The literal text of a JSON value, for people: text as it is, numbers to the digit, the rest as JSON."""
    match value:
        case str():
            return str(value)
        case None | bool() | list() | tuple() | dict():
            return json.dumps(value, ensure_ascii=False, indent=2, default=repr)
        case _:
            return repr(value)


def dumps(value: JSON) -> str:
    """JSON text for editing, of which `parse` makes the identical value, for every value that `check` takes."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    if _utf8_length(text) <= MAX_BYTES:
        return text
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def type_name(value: object) -> str:
    """The type of a JSON value in a reviewer's words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true/false"
        case str():
            return "text"
        case int():
            return "integer"
        case float():
            return "number"
        case list() | tuple():
            return "list"
        case dict():
            return "object"
        case _:
            return type(value).__name__


# Paths and short texts.


def _path(steps: Steps) -> str:
    return "args" + "".join(_step(step) for step in steps)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if step.isidentifier() else f"[{_literal(step)}]"


def _key_step(key: object) -> str:
    return key if type(key) is str else f"({type(key).__name__})"


def _literal(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    # A lone surrogate cannot be sent or stored as UTF-8, not even in a message about it.
    return text if _is_unicode(text) else json.dumps(value)


def _brief(value: object) -> str:
    if type(value) is int and not MIN_INTEGER <= value <= MAX_INTEGER:
        return _digits(value)
    return _cut(_literal(value))


def _digits(number: int) -> str:
    # Python refuses to spell integers of more than 4,300 digits.
    if abs(number) < 10**80:
        return str(number)
    return f"an integer of about {int(number.bit_length() * math.log10(2)) + 1} digits"


def _cut(text: str, length: int = 80) -> str:
    return text if len(text) <= length else text[:length] + "…"


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _utf8_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _either(words: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(words))


def _no_such(known: Sequence[str]) -> str:
    return f"no such argument (known: {', '.join(known) or 'none'})"


def _refuse(faults: Iterable[Fault]) -> NoReturn:
    each = list(dict.fromkeys(faults))
    if len(each) > MAX_FAULTS:
        each[MAX_FAULTS:] = [Fault("args", "no further faults", f"{len(each) - MAX_FAULTS:,} more")]
    raise ArgumentsRefused(each)


_TOO_BIG = Fault("args", f"at most {MAX_BYTES:,} bytes", "more")
_CHECKABLE = "arguments that the tool's own checks can read"
_TOO_DEEP = Fault("args", f"lists and objects at most {MAX_DEPTH} levels deep", "more levels")


# Reading JSON strictly. What cannot be taken is marked where it stands, so that its path can be told.


@dataclass(frozen=True)
class _Unfit:
    expected: str
    got: str


class _Repeating(dict[str, Any]):
    """An object whose text names a key more than once."""

    twice: str


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) == len(pairs):
        return entries
    repeating = _Repeating(entries)
    repeating.twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
    return repeating


def _read_integer(digits: str) -> int | _Unfit:
    # Longer than both limits; Python would refuse thousands of digits in its own way.
    return _Unfit(_RANGE, _cut(digits)) if len(digits) > len(str(MIN_INTEGER)) else int(digits)


def _read_number(digits: str) -> float | _Unfit:
    number = float(digits)
    return number if math.isfinite(number) else _Unfit("a finite number", _cut(digits))


_REMEDIES = {
    "Expecting property name": "write each key in double quotes, with no comma after the last entry",
    "Expecting ',' delimiter": "put a comma between two entries, and close every bracket",
    "Expecting ':' delimiter": "put a colon between a key and its value",
    "Expecting value": "put a value there: text in double quotes, a number, true, false, null, a list or an object",
    "Extra data": "remove what follows the first value",
    "Unterminated string": "close the text with a double quote",
    "Invalid control character": "inside text write a line break as \\n and a tab as \\t",
    "Invalid \\": "inside text write a backslash as \\\\",
}


def _misspelt(mistake: json.JSONDecodeError) -> Fault:
    remedy = next((told for start, told in _REMEDIES.items() if mistake.msg.startswith(start)), mistake.msg)
    return Fault("args", "JSON", f"a mistake at line {mistake.lineno}, column {mistake.colno}: {remedy}")


def _own_faults(steps: Steps, item: object) -> list[Fault]:
    """What is wrong with a value itself, whatever it holds."""
    if (unfit := _unfit(item)) is not None:
        return [Fault(_path(steps), unfit.expected, unfit.got)]
    if type(item) is not dict:
        return []
    odd = [
        Fault(_path(steps), "keys that are text", type(key).__name__) for key in item if type(key) is not str
    ]
    torn = [key for key in item if type(key) is str and not _is_unicode(key)]
    return odd + [Fault(_path((*steps, key)), "a key without lone surrogates", _brief(key)) for key in torn]


def _unfit(item: object) -> _Unfit | None:
    # Exact types only: a value of a subclass could show as one thing and be another.
    if type(item) is str:
        return None if _is_unicode(item) else _Unfit("text without lone surrogates", _brief(item))
    if type(item) is int:
        return None if MIN_INTEGER <= item <= MAX_INTEGER else _Unfit(_RANGE, _brief(item))
    if type(item) is float:
        return None if math.isfinite(item) else _Unfit("a finite number", _brief(item))
    if isinstance(item, _Unfit):
        return item
    if isinstance(item, _Repeating):
        return _Unfit("each key once", f"{_brief(item.twice)} more than once")
    is_plain = item is None or type(item) in (bool, dict, list)
    return None if is_plain else _Unfit("a JSON value", type(item).__name__)


_encode = json.JSONEncoder(ensure_ascii=False).encode


def _own_size(item: object) -> int:
    """The bytes a value adds to the shortest JSON text, without those of the values it holds."""
    if isinstance(item, list):
        return 2 + max(0, len(item) - 1)
    if isinstance(item, dict):
        return 2 + max(0, len(item) - 1) + sum(_own_size(key) + 1 for key in item)
    return _utf8_length(_encode(item))


# Differences.

Difference: TypeAlias = tuple[Steps, Literal["added", "removed", "changed"], JSON, JSON]


def _differences(before: JSON, after: JSON, steps: Steps) -> Iterator[Difference]:
    old, new = _entries(before), _entries(after)
    if type(before) is not type(after) or old is None or new is None:
        if not _is_same_scalar(before, after):
            yield steps, "changed", before, after
        return
    for step, inner in old.items():
        if step in new:
            yield from _differences(inner, new[step], (*steps, step))
        else:
            yield (*steps, step), "removed", inner, None
    for step, inner in new.items():
        if step not in old:
            yield (*steps, step), "added", None, inner


def _is_same_scalar(one: JSON, other: JSON) -> bool:
    # 0.0 equals -0.0 in Python, and 1 equals True; neither pair reads or runs alike.
    return type(one) is type(other) and (repr(one) == repr(other) if type(one) is float else one == other)


def _entries(value: JSON) -> dict[Any, JSON] | None:
    if isinstance(value, dict):
        return value
    return dict(enumerate(value)) if isinstance(value, list) else None


def _without(value: Any, gone: Set[Steps], steps: Steps = ()) -> Any:
    """A copy of the value in which the entries at the given places are left out."""
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if (*steps, key) not in gone}
        return {key: _without(inner, gone, (*steps, key)) for key, inner in kept.items()}
    if isinstance(value, list):
        return [_without(inner, gone, (*steps, index)) for index, inner in enumerate(value)]
    return value


# Validating with a pydantic model.


@dataclass(frozen=True)
class _Notes:
    """What came of a proposal, by place."""

    defaults: list[Steps] = field(default_factory=list)
    dropped: list[tuple[Steps, Fault]] = field(default_factory=list)
    coerced: list[tuple[Steps, JSON]] = field(default_factory=list)
    lost: list[Fault] = field(default_factory=list)


def _by_model(schema: type[BaseModel], given: dict[str, Any], unknown: Unknown) -> Validated:
    try:
        value = schema.model_validate(deepcopy(given))
    except ValidationError as error:
        extras = _forbidden_extras(schema, given) if unknown == "refuse" else []
        _refuse([*_model_faults(schema, given, error), *extras])
    first = _handed(value)
    notes = _Notes()
    _compare(value, given, first, (), notes)
    refused = [fault for _, fault in notes.dropped] if unknown == "refuse" else []
    if refused or notes.lost:
        _refuse([*refused, *notes.lost])
    args = _steady(schema, first, notes)
    return Validated(
        args,
        tuple(_path(steps) for steps in notes.defaults),
        tuple(_path(steps) for steps, _ in notes.dropped),
        tuple(Coercion(_path(steps), before, _at(args, steps)) for steps, before in notes.coerced),
    )


def _steady(schema: type[BaseModel], first: dict[str, Any], notes: _Notes) -> dict[str, Any]:
    """The arguments that the schema, asked again, leaves as they are.

    Pydantic does not validate defaults: `limit: float = 10` becomes 10.0 when handed over, and `name: str = None`
    would be refused, so such a default is left for the tool to fill in. Whatever else moves is refused.
    """
    args, left_out = first, set[Steps]()
    for _ in range(4):
        try:
            again = _without(_handed(schema.model_validate(deepcopy(args))), left_out)
        except ValidationError as error:
            places = [_place(detail, args) for detail in error.errors()]
            unfit = {top for top in notes.defaults for place in places if place[: len(top)] == top}
            if not unfit:
                _refuse(_unreadable(args, places))
            left_out |= unfit
            notes.defaults[:] = [steps for steps in notes.defaults if steps not in unfit]
            args = _without(args, left_out)
            continue
        moved = [steps for steps, *_ in _differences(args, again, ())]
        if not moved:
            return args
        restless = [place for place in moved if not any(place[: len(top)] == top for top in notes.defaults)]
        if restless:
            _refuse(_unreadable(args, restless))
        args = again
    _refuse(_unreadable(args, notes.defaults))


def _unreadable(args: JSON, places: Iterable[Steps]) -> list[Fault]:
    expected = "a value that its schema, given it again, leaves as it is"
    return [Fault(_path(place), expected, _brief(_at(args, place))) for place in places]


def _at(value: Any, steps: Steps) -> Any:
    for step in steps:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


def _handed(value: BaseModel) -> dict[str, Any]:
    """The keys and JSON values with which LangChain calls the tool, written so that its schema reads them again."""
    handed = _plain(value, value.model_dump(mode="json", by_alias=False, warnings=False))
    if not isinstance(handed, dict):
        raise TypeError("the schema does not write an object")
    for name in ("args", "kwargs"):  # LangChain's stand-ins for *args and **kwargs: handed over only if given
        if name in type(value).model_fields and name not in value.model_fields_set:
            handed.pop(name, None)
    return handed


def _plain(value: Any, dumped: Any) -> Any:
    """The dump of a validated value, made readable by its own schema: aliases, sets and secrets put right."""
    if isinstance(value, RootModel):
        return _plain(value.root, dumped)
    if hasattr(value, "get_secret_value"):
        return to_jsonable_python(value.get_secret_value())  # the dump is all stars, and would be executed so
    if isinstance(dumped, dict):
        parts = _parts(value)
        if isinstance(value, BaseModel):
            names = {name: _key(type(value), name) for name in dumped if name in type(value).model_fields}
            names |= {name: name for name in value.model_extra or {}}
            return {key: _plain(parts[key].value, dumped[name]) for name, key in names.items()}
        return {
            key: _plain(parts[key].value if key in parts else None, inner) for key, inner in dumped.items()
        }
    if isinstance(dumped, list) and isinstance(value, Set | Sequence) and len(value) == len(dumped):
        items = [_plain(inner, item) for inner, item in zip(value, dumped, strict=True)]
        # A set has another order in every process; the digest must not.
        return sorted(items, key=canonical) if isinstance(value, Set) else items
    return dumped


@dataclass(frozen=True)
class _Part:
    """One entry of a validated object."""

    value: Any
    keys: list[str]
    """The keys of a proposal it may come under."""
    is_set: bool = False
    """It is known not to be a default."""


def _parts(value: Any) -> dict[str, _Part]:
    """The entries of a validated object, by the key under which they are handed over."""
    if isinstance(value, BaseModel):
        model, given = type(value), value.model_fields_set
        parts = {
            _key(model, name): _Part(getattr(value, name), _keys(model, name), name in given)
            for name in model.model_fields
        }
        return parts | {name: _Part(inner, [name]) for name, inner in (value.model_extra or {}).items()}
    if is_dataclass(value):
        return {part.name: _Part(getattr(value, part.name, None), [part.name]) for part in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _Part(inner, [str(key)]) for key, inner in value.items()}
    return {}


def _key(model: type[BaseModel], name: str) -> str:
    """The key to hand a field over with: its name, unless the model takes it by alias only."""
    keys = _keys(model, name)
    return name if name in keys else keys[0]


def _keys(model: type[BaseModel], name: str) -> list[str]:
    """The keys under which a model takes a field, in the order in which pydantic looks for them."""
    alias, config = model.model_fields[name].validation_alias, model.model_config
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
    aliases = [choice for choice in choices if isinstance(choice, str)]
    if not aliases or config.get("validate_by_alias") is False:
        return [name]
    by_name = config.get("populate_by_name") or config.get("validate_by_name")
    return [*aliases, name] if by_name else aliases


def _compare(value: Any, given: JSON, final: JSON, steps: Steps, notes: _Notes) -> None:
    """Note what became of `given`, place by place, now that the schema has made `final` of it by way of `value`."""
    if isinstance(value, RootModel):
        value = value.root
    if isinstance(given, dict) and isinstance(final, dict) and _is_kin(value, given, final):
        _compare_objects(value, given, final, steps, notes)
    elif isinstance(given, list) and isinstance(final, list) and _is_kin(value, given, final):
        for index, (inner, old, new) in enumerate(zip(value, given, final, strict=True)):
            _compare(inner, old, new, (*steps, index), notes)
    elif next(_differences(given, final, ()), None) is not None:
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
    parts = _parts(value)
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
            notes.lost.append(Fault(_path((*steps, source)), expected, _brief(given[source])))
    for key in given:
        if key not in taken:
            place = (*steps, key)
            notes.dropped.append((place, Fault(_path(place), _no_such(list(parts)), _brief(given[key]))))


# A pydantic error in words.

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


def _model_faults(
    schema: type[BaseModel], given: dict[str, Any], error: ValidationError, only: str | None = None
) -> list[Fault]:
    """One fault for each place; the alternatives of a union that fail in the same place are told as one."""
    told: dict[tuple[str, str], list[str]] = {}
    for detail in error.errors(include_url=False, include_input=False):
        if only not in (None, detail["type"]):
            continue
        missing = detail["type"] == "missing"
        steps, found, form = _locate(detail["loc"], given, missing=missing)
        expected = _in_words(schema, detail)
        if detail["loc"] and detail["loc"][-1] == "[key]":
            expected, found = f"{expected} as the key", steps[-1]
        place = (_path(steps), "nothing" if missing else _brief(found))
        told.setdefault(place, []).append(expected + form)
    return [Fault(path, _either(expected), got) for (path, got), expected in told.items()]


def _forbidden_extras(schema: type[BaseModel], given: dict[str, Any]) -> list[Fault]:
    """A fault for each argument the models ignore; needed where other faults leave no instance to compare with."""
    try:
        schema.model_validate(deepcopy(given), extra="forbid")
    except ValidationError as error:
        allowed = {
            _path(_place(detail, given))
            for detail in error.errors()
            if any(model.model_config.get("extra") == "allow" for model in _models_at(schema, detail["loc"]))
        }
        faults = _model_faults(schema, given, error, only="extra_forbidden")
        return [fault for fault in faults if fault.path not in allowed]
    return []


def _locate(loc: Steps, given: JSON, *, missing: bool = False) -> tuple[Steps, JSON, str]:
    """Where in the arguments pydantic's location is, what stands there, and of which form of a union it speaks."""
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


def _place(detail: ErrorDetails, given: JSON) -> Steps:
    return _locate(detail["loc"], given, missing=detail["type"] == "missing")[0]


def _in_words(schema: type[BaseModel], detail: ErrorDetails) -> str:
    kind, about, message = detail["type"], detail.get("ctx", {}), str(detail["msg"])
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind == "extra_forbidden":
        models = _models_at(schema, detail["loc"])
        known = [_key(model, name) for model in models for name in model.model_fields]
        return _no_such(known) if models else "no such argument"
    if kind in ("literal_error", "enum"):
        return f"one of {about['expected']}"
    if kind == "union_tag_invalid":
        return f"{about['discriminator']} to be one of {about['expected_tags']}"
    if kind in ("value_error", "assertion_error"):
        return f"a value that passes its check ({_cut(str(about['error']), 200)})"
    if (family := _KIND_ERROR.fullmatch(kind)) and family[1] in _KINDS:
        return _KINDS[family[1]]
    return _cut(_PREAMBLE.sub("", message, count=1), 200)


def _models_at(schema: type[BaseModel], loc: Steps) -> list[type[BaseModel]]:
    """The models of which one holds the last element of a location; several where a union leaves it open."""
    models = _models_in(schema)
    for element in loc[:-1]:
        named = [model for model in models if model.__name__ == element]
        inside = [
            model.model_fields[name].annotation
            for model in models
            for name in model.model_fields
            if element in _keys(model, name)
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


# Validating with a JSON Schema.

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
# Where these stand, which keys an object knows cannot be told from its `properties` alone.
_COMPOSING = (
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "not",
    "dependentSchemas",
    "unevaluatedProperties",
    "$dynamicRef",
)


def _by_json_schema(schema: Mapping[str, Any], given: dict[str, Any], unknown: Unknown) -> Validated:
    kind = validator_for(schema, default=Draft202012Validator)
    kind.check_schema(dict(schema))
    validator = kind(schema, registry=Registry())  # an own registry fetches nothing from anywhere
    strangers = dict(_strangers(schema, given, (), schema))
    kept = _without(given, strangers.keys())
    faults = [fault for error in validator.iter_errors(kept) for fault in _schema_faults(error)]
    if unknown == "refuse":
        faults += strangers.values()
    if faults:
        _refuse(faults)
    args = dict(kept)
    for name, part in _resolved(schema, schema).get("properties", {}).items():
        if isinstance(part, Mapping) and "default" in part and name not in args:
            filled = {**args, name: deepcopy(part["default"])}
            # A default its own schema refuses is left for the tool to fill in.
            args = filled if validator.is_valid(filled) else args
    defaults = [_path((name,)) for name in args if name not in kept]
    return Validated(args, tuple(defaults), tuple(_path(steps) for steps in strangers))


def _strangers(
    schema: Any, value: JSON, steps: Steps, root: Mapping[str, Any]
) -> Iterator[tuple[Steps, Fault]]:
    """The entries of objects that list their properties without saying what becomes of others."""
    schema = _resolved(schema, root)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strangers(schema.get("items"), item, (*steps, index), root)
    if not isinstance(value, dict):
        return
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    is_open = (
        any(word in schema for word in ("additionalProperties", *_COMPOSING)) or "properties" not in schema
    )
    for key, item in value.items():
        place = (*steps, key)
        if key in known:
            yield from _strangers(known[key], item, place, root)
        elif not is_open and not any(re.search(pattern, key) for pattern in patterns):
            yield place, Fault(_path(place), _no_such(list(known)), _brief(item))


def _resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema itself, behind references into the same document; an empty one, knowing nothing, for others."""
    for _ in range(MAX_DEPTH):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if reference is None:
            return schema
        if not str(reference).startswith("#/"):
            return {}
        names = [name.replace("~1", "/").replace("~0", "~") for name in str(reference)[2:].split("/")]
        schema = _at(root, tuple(names))
    return {}


def _schema_faults(error: SchemaFault) -> list[Fault]:
    steps = tuple(error.absolute_path)
    wanted: Any = error.validator_value
    came: Any = error.instance
    match error.validator:
        case "required":
            absent = [name for name in wanted if name not in came]
            return [Fault(_path((*steps, name)), _missing(error, name), "nothing") for name in absent]
        case "additionalProperties" if wanted is False:
            return _extra_properties(error)
        case "anyOf" | "oneOf" if error.context:
            return _union_faults(error)
        case _:
            return [Fault(_path(steps), _wanted(error), _brief(came))]


def _wanted(error: SchemaFault) -> str:
    wanted: Any = error.validator_value
    match error.validator:
        case "type":
            return _type_words(wanted)
        case "enum":
            return f"one of {', '.join(_brief(each) for each in wanted)}"
        case str(word) if word in _LIMITS:
            return _LIMITS[word].format(_brief(wanted))
        case None:
            return "no value here"
        case "oneOf":
            return "exactly one of its forms, not several"
        case _:
            return f"a value its schema takes ({_cut(error.message, 200)})"


def _type_words(wanted: Any) -> str:
    return _either(_TYPES.get(each, str(each)) for each in ([wanted] if isinstance(wanted, str) else wanted))


def _missing(error: SchemaFault, name: str) -> str:
    part = _at(error.schema, ("properties", name))
    wanted = part.get("type") if isinstance(part, Mapping) else None
    return _type_words(wanted) if wanted else "a value"


def _extra_properties(error: SchemaFault) -> list[Fault]:
    schema: Any = error.schema
    came: Any = error.instance
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    steps = tuple(error.absolute_path)
    return [
        Fault(_path((*steps, key)), _no_such(list(known)), _brief(item))
        for key, item in came.items()
        if key not in known and not any(re.search(pattern, key) for pattern in patterns)
    ]


def _union_faults(error: SchemaFault) -> list[Fault]:
    """What is wrong with a value for the forms it comes near to; the types it may have where it is near to none."""
    forms: dict[Any, list[SchemaFault]] = {}
    for each in error.context or ():
        forms.setdefault(each.schema_path[0], []).append(each)
    alien = [
        each for faults in forms.values() for each in faults if each.validator == "type" and not each.path
    ]
    near = {form: faults for form, faults in forms.items() if not any(each in alien for each in faults)}
    if not near:
        expected = _either(_wanted(each) for each in alien)
        return [Fault(_path(tuple(error.absolute_path)), expected, _brief(error.instance))]
    # A mark such as {"kind": "circle"} says which form was meant.
    meant = {
        form: faults for form, faults in near.items() if not any(_is_mark(each) for each in faults)
    } or near
    told: dict[tuple[str, str], list[str]] = {}
    for form, faults in meant.items():
        label = f" (for {_form_name(error, form)})" if len(meant) > 1 else ""
        for fault in (fault for each in faults for fault in _schema_faults(each)):
            told.setdefault((fault.path, fault.got), []).append(fault.expected + label)
    return [Fault(path, _either(expected), got) for (path, got), expected in told.items()]


def _is_mark(error: SchemaFault) -> bool:
    return error.validator in ("const", "enum") and len(error.path) == 1


def _form_name(error: SchemaFault, form: Any) -> str:
    forms: Any = error.validator_value
    part = forms[form]
    reference = str(part.get("$ref", "")).rpartition("/")[2] if isinstance(part, Mapping) else ""
    title = part.get("title") if isinstance(part, Mapping) else None
    return str(title or reference or f"form {form + 1}")
