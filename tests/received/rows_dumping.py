"""Rows where what a model writes of itself is not what it hands over: serializers, hidden parts, odd values."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Annotated, Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    SecretStr,
    SerializeAsAny,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from tests.received.rows import row
from tests.received.writing import write


class Account(BaseModel):
    owner: str
    limit: int = 5

    @field_serializer("owner")
    def _friendly(self, value: str) -> str:
        return "alice"


class Envelope(BaseModel):
    to: str

    @model_serializer
    def _as_another(self) -> dict[str, Any]:
        return {"to": "alice"}


class Hiding(BaseModel):
    to: str
    bcc: str = Field("nobody", exclude=True)


class Known(BaseModel):
    name: str


class WithMore(Known):
    secretly: str = "pay 500"


class Mode(enum.Enum):
    FAST = "fast"


@row({"to": "mallory"}, {"to": "mallory"}, {"to": "bob"}, {"to": "bob"})
class lying_serializer(BaseModel):
    to: str

    @field_serializer("to")
    def _friendly(self, value: str) -> str:
        return "alice"


@row({"to": "mallory"}, {"to": "mallory"}, {"to": "bob"}, {"to": "bob"})
class lying_annotation(BaseModel):
    to: Annotated[str, PlainSerializer(lambda value: "alice")]


@row({"account": {"owner": "eve"}}, {"account": Account(owner="eve")}, may_refuse=True)
class lying_serializer_inside(BaseModel):
    account: Account


@row({"envelope": {"to": "mallory"}}, {"envelope": Envelope(to="mallory")}, may_refuse=True)
class lying_model_serializer_inside(BaseModel):
    envelope: Envelope


@row({"to": "x", "bcc": "eve"}, {"to": "x"}, {"to": "y"}, {"to": "y"}, may_refuse=True)
class excluded(BaseModel):
    to: str
    bcc: str = Field("nobody", exclude=True)


@row({"mail": {"to": "x", "bcc": "eve"}}, {"mail": Hiding(to="x", bcc="eve")}, may_refuse=True)
class excluded_inside(BaseModel):
    mail: Hiding


@row({"who": {"name": "x"}}, {"who": WithMore(name="x")}, may_refuse=True)
class subclass_put_in(BaseModel):
    who: Known

    @field_validator("who")
    @classmethod
    def _more(cls, value: Known) -> Known:
        return WithMore(name=value.name)


@row({"who": {"name": "x"}}, {"who": WithMore(name="x")}, may_refuse=True)
class subclass_as_any(BaseModel):
    who: SerializeAsAny[Known]

    @field_validator("who")
    @classmethod
    def _more(cls, value: Known) -> Known:
        return WithMore(name=value.name)


@row({"mode": "fast"}, {"mode": "fast"})
class enum_values(BaseModel):
    model_config = ConfigDict(use_enum_values=True)
    mode: Mode


@row({"x": 1}, {"x": float("nan")}, may_refuse=True)
class not_a_number(BaseModel):
    x: float

    @field_validator("x")
    @classmethod
    def _none(cls, value: float) -> float:
        return float("nan")


@row({"n": 1}, {"n": 2**70}, may_refuse=True)
class too_large(BaseModel):
    n: int

    @field_validator("n")
    @classmethod
    def _grow(cls, value: int) -> int:
        return 2**70


@row({"by": {"a": "x"}}, {"by": {1: "x", "1": "y"}}, may_refuse=True)
class keys_that_collide(BaseModel):
    by: dict[Any, str]

    @field_validator("by", mode="before")
    @classmethod
    def _double(cls, value: Any) -> dict[Any, str]:
        return {1: "x", "1": "y"}


@row({"raw": "x"}, {"raw": b"\xff\x00"}, may_refuse=True)
class octets_that_are_no_text(BaseModel):
    raw: bytes

    @field_validator("raw")
    @classmethod
    def _other(cls, value: bytes) -> bytes:
        return b"\xff\x00"


@row({"keys": {"a": "b"}}, {"keys": {"a": SecretStr("b")}})
class secrets_inside(BaseModel):
    keys: dict[str, SecretStr]


_EXACT = [
    9_007_199_254_740_993,
    -0.0,
    0.1,
    1e300,
    18_446_744_073_709_551_615,
    "\u202e",
    " ",
    {},
    [],
    None,
    True,
]


@row({"all": _EXACT}, {"all": _EXACT})
class exact_values(BaseModel):
    all: Any


class Steps(BaseModel):
    steps: Iterable[int]


@row({"steps": ["1", 2]}, {"steps": [1, 2]}, {"steps": [3]}, {"steps": [3]}, may_refuse=True)
def read_once() -> BaseTool:
    def run(steps: Iterable[int]) -> str:
        return write("read_once", {"steps": list(steps)})

    return StructuredTool(name="read_once", description="Take steps once.", args_schema=Steps, func=run)


class People(BaseModel):
    to: list[str]
    cc: list[str] = []

    @model_validator(mode="after")
    def _sorted(self) -> People:
        self.to.sort()
        return self


@row({"to": ["b", "a"]}, {"to": ["a", "b"], "cc": []}, {"to": ["c"], "cc": ["d"]}, {"to": ["c"], "cc": ["d"]})
def function_that_mutates() -> BaseTool:
    def run(to: list[str], cc: list[str]) -> str:
        done = write("function_that_mutates", {"to": [*to], "cc": [*cc]})
        to.clear()
        cc.append("eve")
        return done

    name = "function_that_mutates"
    return StructuredTool(name=name, description="Take two.", args_schema=People, func=run)
