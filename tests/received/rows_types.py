"""Rows about types: what is converted, bounded, chosen, nested or filled in."""

from __future__ import annotations

import enum
import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    UUID4,
    AfterValidator,
    BaseModel,
    Field,
    RootModel,
    SecretStr,
    StringConstraints,
    Tag,
    conint,
    conlist,
    field_validator,
)
from typing_extensions import TypedDict

from tests.received.rows import REFUSED, row


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Person(BaseModel):
    name: Annotated[str, StringConstraints(strip_whitespace=True)]
    age: int = 30


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    name: Annotated[str, StringConstraints(to_upper=True)]


class Names(RootModel[list[str]]):
    pass


@dataclass
class Place:
    street: str
    number: int = 1


class Parcel(TypedDict):
    weight: float
    fragile: bool


# Converted.


@row({"n": "5"}, {"n": 5}, {"n": "6"}, {"n": 6})
class text_to_int(BaseModel):
    n: int


@row({"n": "1_000"}, {"n": 1000}, {"n": " 7 "}, {"n": 7})
class underscores(BaseModel):
    n: int


@row({"n": 5.0}, {"n": 5})
class whole_float_to_int(BaseModel):
    n: int


@row({"n": 5.5}, REFUSED)
class broken_float_to_int(BaseModel):
    n: int


@row({"x": 10}, {"x": 10.0}, {"x": "2.5"}, {"x": 2.5})
class int_to_float(BaseModel):
    x: float


@row({"yes": "on"}, {"yes": True}, {"yes": 0}, {"yes": False})
class text_to_bool(BaseModel):
    yes: bool


@row({"to": "x"}, {"to": "x", "limit": 10}, {"to": "y", "limit": 3}, {"to": "y", "limit": 3.0})
class unvalidated_default(BaseModel):
    to: str
    limit: float = 10  # an int, since pydantic leaves defaults as they are


@row({"price": "1.50"}, {"price": Decimal("1.50")}, {"price": "0.10"}, {"price": Decimal("0.10")})
class decimal(BaseModel):
    price: Decimal


@row({"price": 2}, {"price": Decimal("2")}, {"price": "1e3"}, {"price": Decimal("1E+3")})
class decimal_of_a_number(BaseModel):
    price: Decimal


@row({"on": "2030-01-02"}, {"on": date(2030, 1, 2)}, {"on": "2031-05-06"}, {"on": date(2031, 5, 6)})
class day(BaseModel):
    on: date


@row(
    {"at": "2030-01-02T03:04:05Z"},
    {"at": datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)},
    {"at": 86_400},
    {"at": datetime(1970, 1, 2, tzinfo=UTC)},
)
class moment(BaseModel):
    at: datetime

    @field_validator("at")
    @classmethod
    def _utc(cls, value: datetime) -> datetime:
        return value.astimezone(UTC)


@row({"at": "03:04"}, {"at": time(3, 4)}, {"at": 60}, {"at": time(0, 1, tzinfo=UTC)})
class hour(BaseModel):
    at: time


@row({"wait": 90}, {"wait": timedelta(seconds=90)}, {"wait": "PT2H"}, {"wait": timedelta(hours=2)})
class span(BaseModel):
    wait: timedelta


_ID = "12345678-1234-4234-8234-1234567890ab"


@row({"id": _ID.upper()}, {"id": uuid.UUID(_ID)}, {"id": _ID}, {"id": uuid.UUID(_ID)})
class identifier(BaseModel):
    id: UUID4


@row({"colour": "red"}, {"colour": Colour.RED}, {"colour": "blue"}, {"colour": Colour.BLUE})
class choice(BaseModel):
    colour: Colour


@row({"level": "2"}, {"level": Level.HIGH}, {"level": 1}, {"level": Level.LOW})
class choice_of_numbers(BaseModel):
    level: Level


@row({"mode": "b"}, {"mode": "b"}, {"mode": "a"}, {"mode": "a"})
class literal(BaseModel):
    mode: Literal["a", "b"]


@row({"raw": "äb"}, {"raw": "äb".encode()}, {"raw": "c"}, {"raw": b"c"})
class octets(BaseModel):
    raw: bytes


@row({"key": "s3cret"}, {"key": SecretStr("s3cret")}, {"key": "other"}, {"key": SecretStr("other")})
class secret(BaseModel):
    key: SecretStr


@row({"file": "a/./b"}, {"file": Path("a/b")}, {"file": "c"}, {"file": Path("c")})
class path(BaseModel):
    file: Path


@row({"anything": {"a": [1, "2", None, 2.5]}}, {"anything": {"a": [1, "2", None, 2.5]}})
class anything(BaseModel):
    anything: Any


# Bounded.


@row({"word": "  Hi "}, {"word": "hi"}, {"word": "YO"}, {"word": "yo"})
class constrained_text(BaseModel):
    word: Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True, max_length=9)]


@row({"n": "7"}, {"n": 7}, {"n": 9}, {"n": 9})
class constrained_int(BaseModel):
    n: conint(ge=1, le=10)  # type: ignore[valid-type]


@row({"n": 11}, REFUSED)
class out_of_bounds(BaseModel):
    n: int = Field(le=10)


@row({"items": ["1", 2]}, {"items": [1, 2]}, {"items": ["3"]}, {"items": [3]})
class constrained_list(BaseModel):
    items: conlist(int, min_length=1)  # type: ignore[valid-type]


# Collections and unions.


@row({"tags": ["b", "a", "b"]}, {"tags": {"a", "b"}}, {"tags": ["c", "c"]}, {"tags": {"c"}})
class a_set(BaseModel):
    tags: set[str]


@row({"tags": [2, 1, 2]}, {"tags": frozenset({1, 2})}, {"tags": ["3"]}, {"tags": frozenset({3})})
class a_frozenset(BaseModel):
    tags: frozenset[int]


@row({"pair": ["1", "x"]}, {"pair": (1, "x")}, {"pair": [2, "y"]}, {"pair": (2, "y")})
class a_tuple(BaseModel):
    pair: tuple[int, str]


@row({"by_day": {"2030-01-02": "5"}}, {"by_day": {date(2030, 1, 2): 5}})
class keys_that_are_days(BaseModel):
    by_day: dict[date, int]


@row({"x": "5"}, {"x": "5"}, {"x": 5}, {"x": 5})
class union(BaseModel):
    x: int | str


@row({"x": "5"}, {"x": 5}, {"x": "six"}, {"x": "six"})
class union_left_to_right(BaseModel):
    x: int | str = Field(union_mode="left_to_right")


@row(
    {"pet": {"kind": "cat"}},
    {"pet": Cat(kind="cat")},
    {"pet": {"kind": "dog", "name": "rex"}},
    {"pet": Dog(kind="dog", name="rex")},
)
class discriminated(BaseModel):
    pet: Cat | Dog = Field(discriminator="kind")


@row({"x": None}, {"x": None, "y": None}, {"x": "3"}, {"x": 3, "y": None})
class optional(BaseModel):
    x: int | None
    y: str | None = None


@row(
    {"who": {"name": " Ann ", "extra": 1}},
    {"who": Person(name="Ann")},
    {"who": {"name": "Bob", "age": "4"}},
    {"who": Person(name="Bob", age=4)},
)
class nested(BaseModel):
    who: Person


@row(
    {"all": [{"name": " A"}, {"name": "B", "age": "2"}]}, {"all": [Person(name="A"), Person(name="B", age=2)]}
)
class list_of_models(BaseModel):
    all: list[Person]


@row({"all": {"x": {"name": " A"}}}, {"all": {"x": Person(name="A")}})
class dict_of_models(BaseModel):
    all: dict[str, Person]


@row({"names": ["a", "b"]}, {"names": Names(["a", "b"])}, {"names": []}, {"names": Names([])})
class root_inside(BaseModel):
    names: Names


@row({"place": {"street": "High", "number": "3"}}, {"place": Place("High", 3)})
class a_dataclass(BaseModel):
    place: Place


@row({"parcel": {"weight": "2", "fragile": "no"}}, {"parcel": {"weight": 2.0, "fragile": False}})
class typed_dict(BaseModel):
    parcel: Parcel


@row({"n": "4"}, {"n": 5})
class tagged(BaseModel):
    n: Annotated[int, Tag("n"), AfterValidator(lambda value: value + 1)]
