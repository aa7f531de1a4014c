"""Rows about validators, aliases and a model's config: what changes, renames, keeps or drops a value."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    ValidationInfo,
    WrapValidator,
    computed_field,
    field_validator,
    model_validator,
)

from tests.received.rows import REFUSED, row

_count = itertools.count(1)

# What is shown as one thing and received as another.


@row(
    {"to": "alice", "amount": 5},
    {"to": "mallory", "amount": 500},
    {"to": "bob", "amount": 6},
    {"to": "mallory", "amount": 600},
)
class other_person_and_sum(BaseModel):
    to: str
    amount: int

    @field_validator("to")
    @classmethod
    def _to(cls, value: str) -> str:
        return "mallory"

    @field_validator("amount")
    @classmethod
    def _amount(cls, value: int) -> int:
        return value * 100


@row({"path": " /etc/passwd"}, {"path": "/etc/passwd"}, {"path": " /tmp/a "}, {"path": "/tmp/a"})
class stripped(BaseModel):
    path: str

    @field_validator("path", mode="before")
    @classmethod
    def _strip(cls, value: str) -> str:
        return value.strip()


@row({"amount": "5"}, {"amount": 500}, {"amount": 7}, {"amount": 700})
class field_before(BaseModel):
    amount: int

    @field_validator("amount", mode="before")
    @classmethod
    def _cents(cls, value: Any) -> int:
        return int(value) * 100


@row({"word": "ab"}, {"word": "AB!"}, {"word": "c"}, {"word": "C!"})
class field_wrap(BaseModel):
    word: str

    @field_validator("word", mode="wrap")
    @classmethod
    def _loud(cls, value: Any, inner: Callable[[Any], str]) -> str:
        return inner(value).upper() + "!"


@row({"word": 12}, {"word": "12"}, {"word": [1]}, {"word": "[1]"})
class field_plain(BaseModel):
    word: str

    @field_validator("word", mode="plain")
    @classmethod
    def _text(cls, value: Any) -> str:
        return str(value)


@row({"first": 1, "second": 2}, {"first": 1, "second": 3})
class validator_that_reads_another(BaseModel):
    first: int
    second: int

    @field_validator("second")
    @classmethod
    def _sum(cls, value: int, info: ValidationInfo) -> int:
        return value + int(info.data["first"])


@row({"a": 5, "b": "x"}, {"a": 10, "b": "z"}, {"a": 1, "b": "x"}, {"a": 2, "b": "z"})
class annotated_functions(BaseModel):
    a: Annotated[int, AfterValidator(lambda value: value * 2)]
    b: Annotated[str, PlainValidator(lambda value: "z")]


@row({"a": " x ", "b": 3}, {"a": "x", "b": 4})
class annotated_before_and_wrap(BaseModel):
    a: Annotated[str, BeforeValidator(lambda value: value.strip())]
    b: Annotated[int, WrapValidator(lambda value, inner: inner(value) + 1)]


@row({"who": "alice"}, {"to": "alice", "copies": 2}, {"to": "bob"}, {"to": "nobody", "copies": 2})
class model_before(BaseModel):
    to: str = ""
    copies: int = 1

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {"to": given.get("who", "nobody"), "copies": 2}


@row(
    {"to": "alice", "sum": 5}, {"to": "alice", "sum": 5_000}, {"to": "b", "sum": 6}, {"to": "b", "sum": 6_000}
)
class model_after(BaseModel):
    to: str
    sum: int

    @model_validator(mode="after")
    def _thousands(self) -> model_after:
        self.sum = self.sum * 1_000
        return self


@row({"to": "alice"}, {"to": "[alice]"}, {"to": "b"}, {"to": "[b]"})
class model_wrap(BaseModel):
    to: str

    @model_validator(mode="wrap")
    @classmethod
    def _around(cls, given: Any, inner: Callable[[Any], model_wrap]) -> model_wrap:
        made = inner(given)
        made.to = f"[{made.to}]"
        return made


@row({"names": ["b", "a"]}, {"names": ["a", "b"]}, {"names": ["d", "c"]}, {"names": ["c", "d"]})
class validator_that_mutates(BaseModel):
    names: list[str]

    @field_validator("names", mode="before")
    @classmethod
    def _sort(cls, value: list[str]) -> list[str]:
        value.sort()
        return value


@row({"to": "x"}, {"to": "x-1"}, steady=False, may_refuse=True)
class validator_that_counts(BaseModel):
    to: str

    @field_validator("to")
    @classmethod
    def _number(cls, value: str) -> str:
        return f"{value}-{next(_count)}"


@row({"to": "eve"}, REFUSED)
class validator_that_refuses(BaseModel):
    to: str

    @field_validator("to")
    @classmethod
    def _not(cls, value: str) -> str:
        raise ValueError("not to her")


# Names.


@row({"to": "alice", "recipient": "bob"}, {"to": "bob"}, {"recipient": "carol"}, {"to": "carol"})
class alias(BaseModel):
    to: str = Field(alias="recipient")


@row({"recipient": "bob"}, {"to": "bob"}, {"recipient": "carol"}, {"to": "carol"})
class validation_alias(BaseModel):
    to: str = Field(validation_alias="recipient")


@row({"amount": 5, "sum": 999}, {"amount": 999}, {"sum": 3}, {"amount": 3})
class alias_with_default(BaseModel):
    amount: int = Field(1, alias="sum")


@row({"b": "x"}, {"to": "x"}, {"a": "y"}, {"to": "y"})
class alias_choices(BaseModel):
    to: str = Field(validation_alias=AliasChoices("a", "b"))


@row({"a": "x", "b": "y"}, {"to": "x"}, {"b": "z"}, {"to": "z"})
class alias_choices_both(BaseModel):
    to: str = Field(validation_alias=AliasChoices("a", "b"))


@row({"people": [{"name": "x"}]}, {"to": "x"}, {"people": [{"name": "y"}]}, {"to": "y"})
class alias_path(BaseModel):
    to: str = Field(validation_alias=AliasPath("people", 0, "name"))


@row({"to": "x"}, {"to": "x"}, {"recipient": "y"}, {"to": "y"})
class populate_by_name(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    to: str = Field(alias="recipient")


@row({"to": "x", "recipient": "z"}, {"to": "z"}, {"to": "y"}, {"to": "y"})
class validate_by_name(BaseModel):
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)
    to: str = Field(alias="recipient")


@row({"sendTo": "x"}, {"send_to": "x"}, {"sendTo": "y"}, {"send_to": "y"})
class alias_generator(BaseModel):
    model_config = ConfigDict(alias_generator=lambda name: name.split("_")[0] + "To" if "_" in name else name)
    send_to: str


@row({"to": "x", "bcc": "eve"}, {"to": "x", "bcc": "eve"}, {"to": "y", "bcc": "z"}, {"to": "y", "bcc": "z"})
class extra_allow(BaseModel):
    model_config = ConfigDict(extra="allow")
    to: str


@row({"to": "x", "bcc": "eve"}, {"to": "x"}, {"to": "y"}, {"to": "y"})
class extra_ignore(BaseModel):
    to: str


@row({"to": "x", "bcc": "eve"}, REFUSED)
class extra_forbid(BaseModel):
    model_config = ConfigDict(extra="forbid")
    to: str


@row({"to": "x", "n": "5"}, {"to": "x", "n": 5}, {"to": "y", "n": "6"}, {"to": "y", "n": 6})
class typed_extras(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]
    to: str


# Config.


@row({"n": "5"}, REFUSED)
class strict_config(BaseModel):
    model_config = ConfigDict(strict=True)
    n: int


@row({"n": 5, "m": "7"}, {"n": 5, "m": 7}, {"n": 6, "m": 8}, {"n": 6, "m": 8})
class strict_field(BaseModel):
    n: int = Field(strict=True)
    m: int


@row({"word": "  Ab "}, {"word": "ab"}, {"word": " C"}, {"word": "c"})
class config_of_texts(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True, str_to_lower=True)
    word: str


@row({"word": 5}, {"word": "5"}, {"word": 6.5}, {"word": "6.5"})
class numbers_to_texts(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)
    word: str


@row({"to": "x"}, {"to": "x", "copies": 20}, {"to": "x", "copies": 3}, {"to": "x", "copies": 30})
class validated_default(BaseModel):
    model_config = ConfigDict(validate_default=True)
    to: str
    copies: int = 2

    @field_validator("copies")
    @classmethod
    def _tenfold(cls, value: int) -> int:
        return value * 10


@row({"to": " x"}, {"to": "x"}, {"to": "y "}, {"to": "y"})
class frozen(BaseModel):
    model_config = ConfigDict(frozen=True, str_strip_whitespace=True)
    to: str


@row({"price": 4, "twice": 1}, {"price": 4, "twice": 8}, {"price": 5}, {"price": 5}, may_refuse=True)
class computed(BaseModel):
    price: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def twice(self) -> int:
        return self.price * 2


class _Sealed(BaseModel):
    word: str
    _seal: str = PrivateAttr("")

    def model_post_init(self, _: Any) -> None:
        self._seal = self.word[::-1]


@row(
    {"inner": {"word": "ab"}},
    {"inner": _Sealed(word="ab")},
    {"inner": {"word": "cd"}},
    {"inner": _Sealed(word="cd")},
)
class private_attribute(BaseModel):
    inner: _Sealed


@row({"amount": 5, "unit": "thousand"}, {"amount": 5_000, "unit": "thousand"})
class unit_that_multiplies(BaseModel):
    amount: int
    unit: Literal["one", "thousand"] = "one"

    @model_validator(mode="after")
    def _multiply(self) -> unit_that_multiplies:
        self.amount *= 1_000 if self.unit == "thousand" else 1
        return self
