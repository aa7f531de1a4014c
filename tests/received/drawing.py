"""Drawing a tool's schema and its arguments at random: each part is a name, so that what was drawn can be read."""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SecretStr,
    WrapValidator,
    create_model,
    model_validator,
)

from tests.received.rows_types import Cat, Colour, Dog, Level, Names, Parcel, Person, Place

Pets = Annotated[Cat | Dog, Field(discriminator="kind")]
_TEXTS = ["x", " x ", "Ab", "", "1_000", "on", "/etc/passwd", "\u202e", "2"]
_PERSON = {"name": " Ann ", "age": "3"}

TYPES: dict[str, tuple[Any, list[Any]]] = {
    "int": (int, [0, 5, "7", "1_000", 2.0, -3, True, 10**18]),
    "float": (float, [0, 1.5, "2.5", -0.0, 1e300]),
    "str": (str, [*_TEXTS, 5]),
    "bool": (bool, [True, False, "on", 0, "no"]),
    "decimal": (Decimal, ["1.50", 2, 0.1, "1e3"]),
    "date": (date, ["2030-01-02", "2030-01-02T00:00:00", 86_400]),
    "datetime": (datetime, ["2030-01-02T03:04:05Z", "2030-01-02T03:04:05+02:00", 0]),
    "timedelta": (timedelta, [90, "PT2H", "1 00:00:01.5"]),
    "uuid": (uuid.UUID, ["12345678-1234-4234-8234-1234567890ab", "1234567812344234823412345678 90AB"]),
    "enum": (Colour, ["red", "blue", "green"]),
    "intenum": (Level, [1, "2", 2.0]),
    "literal": (Literal["a", 1], ["a", 1, "1"]),
    "bytes": (bytes, ["abc", "ä"]),
    "secret": (SecretStr, ["s3cret", ""]),
    "path": (Path, ["a/./b", "/etc/../etc/passwd"]),
    "ints": (list[int], [[], ["1", 2], [3.0]]),
    "set": (set[str], [["b", "a", "b"], []]),
    "frozenset": (frozenset[int], [[2, "1", 1]]),
    "tuple": (tuple[int, str], [["1", "x"], [2, "y"]]),
    "dict": (dict[str, int], [{"a": "1"}, {}]),
    "days": (dict[date, int], [{"2030-01-02": 1}]),
    "model": (Person, [_PERSON, {"name": "B", "extra": 1}]),
    "models": (list[Person], [[_PERSON], []]),
    "model_map": (dict[str, Person], [{"a": _PERSON}]),
    "pet": (Pets, [{"kind": "cat"}, {"kind": "dog", "name": "rex"}]),
    "union": (int | str, [5, "5", "x"]),
    "optional": (int | None, [None, "3"]),
    "root": (Names, [["a", "b"], []]),
    "dataclass": (Place, [{"street": "High", "number": "3"}]),
    "typeddict": (Parcel, [{"weight": "2", "fragile": "no"}]),
    "any": (Any, [{"a": [1, "2", None]}, 2.5, "x", None]),
}
JUNK: list[Any] = [None, "junk", -1, {"a": 1}, [1], 2**63, ""]
_count = itertools.count(1)


def _moved(value: Any) -> Any:
    """The value, changed in a way that its type allows; any other type as it is."""
    if type(value) is str:
        return value.strip().upper() + "!"
    return value * 100 if type(value) in (int, float) else value


def _unsteady(value: Any) -> Any:
    if type(value) is str:
        return f"{value}{next(_count)}"
    return value + next(_count) if type(value) is int else value


def _refusing(value: Any) -> Any:
    if value in ("x", 5):
        raise ValueError("not this one")
    return value


VALIDATORS: dict[str, Any] = {
    "strip": BeforeValidator(lambda value: value.strip() if isinstance(value, str) else value),
    "move": AfterValidator(_moved),
    "wrap": WrapValidator(lambda value, inner: _moved(inner(value))),
    "refuse": AfterValidator(_refusing),
    "unsteady": AfterValidator(_unsteady),
    "lie": PlainSerializer(lambda value: "alice", when_used="always"),
}
ALIASES: dict[str, Callable[[str], dict[str, Any]]] = {
    "alias": lambda name: {"alias": f"{name}Alias"},
    "validation": lambda name: {"validation_alias": f"{name}Alias"},
    "choices": lambda name: {"validation_alias": AliasChoices(f"{name}Alias", f"{name}Other")},
    "path": lambda name: {"validation_alias": AliasPath("box", name)},
    "mixed": lambda name: {"validation_alias": AliasChoices(f"{name}Alias", AliasPath("box", name))},
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "none": {"default": None},
    "int": {"default": 10},
    "text": {"default": " d "},
    "list": {"default_factory": list},
    "fresh": {"default_factory": lambda: uuid.uuid4().hex},
    "fresh_uuid": {"default_factory": uuid.uuid4},
    "now": {"default_factory": lambda: datetime.now(UTC)},
    "object": {"default_factory": object},
}
FRESH = ("fresh", "fresh_uuid", "now", "object")
CONFIGS: dict[str, ConfigDict] = {
    "allow": ConfigDict(extra="allow"),
    "ignore": ConfigDict(extra="ignore"),
    "forbid": ConfigDict(extra="forbid"),
    "by_name": ConfigDict(populate_by_name=True),
    "strict": ConfigDict(strict=True),
    "strip": ConfigDict(str_strip_whitespace=True),
    "lower": ConfigDict(str_to_lower=True),
    "numbers": ConfigDict(coerce_numbers_to_str=True),
    "defaults": ConfigDict(validate_default=True),
    "enums": ConfigDict(use_enum_values=True),
    "generator": ConfigDict(alias_generator=lambda name: f"{name}Alias"),
}
NAMES = ("to", "amount", "note", "callbacks", "run_manager", "config", "kwargs", "args", "runtime", "state")


def _swap(cls: Any, given: Any) -> Any:
    """Give the first value under the second's name, and the other way round."""
    names = list(given) if isinstance(given, Mapping) else []
    return {**given, names[0]: given[names[1]], names[1]: given[names[0]]} if len(names) > 1 else given


def _fill(cls: Any, given: Any) -> Any:
    return {"amount": 500, "bcc": "eve", **given} if isinstance(given, Mapping) else given


def _raise_all(self: Any) -> Any:
    for name, value in list(self):
        self.__dict__[name] = _moved(value)
    return self


WHOLE: dict[str, Any] = {
    "swap": model_validator(mode="before")(_swap),
    "fill": model_validator(mode="before")(_fill),
    "raise": model_validator(mode="after")(_raise_all),
}


@dataclass(frozen=True)
class FieldDrawn:
    name: str
    type: str
    validator: str | None
    alias: str | None
    default: str | None

    def key(self, by_alias: bool) -> str:
        return f"{self.name}Alias" if by_alias else self.name


@dataclass(frozen=True)
class Drawn:
    """A tool's schema, a proposal and an edit, all by name."""

    fields: tuple[FieldDrawn, ...]
    configs: tuple[str, ...]
    whole: str | None
    proposed: str
    edit: str

    @property
    def steady(self) -> bool:
        fresh = any(one.default in FRESH for one in self.fields)
        return not fresh and all(one.validator != "unsteady" for one in self.fields)

    def schema(self, name: str) -> type[BaseModel]:
        config: dict[str, Any] = {}
        for one in self.configs:
            config |= CONFIGS[one]
        base: Any = type("Base", (BaseModel,), {"model_config": config, "__module__": __name__})
        validators = {f"check_{self.whole}": WHOLE[self.whole]} if self.whole else {}
        fields: dict[str, Any] = {one.name: _declared(one) for one in self.fields}
        return create_model(name, __base__=base, __validators__=validators, **fields)

    def args(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return json.loads(self.proposed), json.loads(self.edit)


def _declared(one: FieldDrawn) -> tuple[Any, Any]:
    annotation = TYPES[one.type][0]
    if one.validator:
        annotation = Annotated[annotation, VALIDATORS[one.validator]]
    told = {
        **(ALIASES[one.alias](one.name) if one.alias else {}),
        **(DEFAULTS[one.default] if one.default else {}),
    }
    return annotation, Field(**told)


def _maybe(names: Any, often: int = 2) -> st.SearchStrategy[str | None]:
    """One of the names, or as often as `often` says none."""
    return st.one_of(*[st.none()] * often, st.sampled_from(sorted(names)))


_fields = st.lists(
    st.builds(
        FieldDrawn,
        name=st.one_of(*[st.sampled_from(NAMES[:3])] * 4, st.sampled_from(NAMES)),
        type=st.sampled_from(sorted(TYPES)),
        validator=_maybe(VALIDATORS),
        alias=_maybe(ALIASES, 3),
        default=_maybe(DEFAULTS),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one.name,
)


@st.composite
def _written(draw: st.DrawFn, fields: list[FieldDrawn]) -> str:
    """Arguments as a model may write them, by name or by alias, most of them of a kind that fits."""
    args: dict[str, Any] = {}
    for one in fields:
        value = draw(
            st.sampled_from(TYPES[one.type][1]) if draw(st.integers(0, 9)) else st.sampled_from(JUNK)
        )
        how = draw(st.sampled_from(["right", "right", "right", "name", "alias", "both", "absent"]))
        if how in ("name", "both") or (how == "right" and one.alias is None):
            args[one.name] = value
        if how in ("alias", "both") or (how == "right" and one.alias not in (None, "path")):
            args[one.key(by_alias=True)] = value
        if how == "right" and one.alias == "path":
            args.setdefault("box", {})[one.name] = value
    if draw(st.integers(0, 3)) == 0:
        args["bcc"] = draw(st.sampled_from(["eve", 5]))
    return json.dumps(args)


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    """One tool's schema, one proposal and one edit."""
    fields = draw(_fields)
    configs = draw(st.lists(st.sampled_from(sorted(CONFIGS)), max_size=2, unique=True))
    written = _written(fields)
    return Drawn(tuple(fields), tuple(configs), draw(_maybe(WHOLE, 4)), draw(written), draw(written))
