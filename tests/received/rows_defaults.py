"""Rows about what is filled in where the model gave nothing, steadily or afresh each time."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field

from tests.received.rows import row

ID = "12345678-1234-4234-8234-1234567890ab"


@row({"to": "x"}, {"to": "x", "copies": 1}, {"to": "x", "copies": "2"}, {"to": "x", "copies": 2})
class plain_default(BaseModel):
    to: str
    copies: int = 1


@row({"to": "x"}, {"to": "x", "cc": []}, {"to": "x", "cc": ["y"]}, {"to": "x", "cc": ["y"]})
class default_list(BaseModel):
    to: str
    cc: list[str] = Field(default_factory=list)


@row(
    {"to": "x"},
    {"to": "x", "nonce": ""},
    {"to": "y", "nonce": "mine"},
    {"to": "y", "nonce": "mine"},
    steady=False,
)
class fresh_text(BaseModel):
    to: str
    nonce: str = Field(default_factory=lambda: uuid.uuid4().hex)


@row(
    {"to": "x"},
    {"to": "x", "id": uuid.UUID(ID)},
    {"to": "y", "id": ID},
    {"to": "y", "id": uuid.UUID(ID)},
    steady=False,
)
class fresh_uuid(BaseModel):
    to: str
    id: uuid.UUID = Field(default_factory=uuid.uuid4)


@row(
    {"to": "x"},
    {"to": "x", "at": datetime(2030, 1, 1, tzinfo=UTC)},
    {"to": "y", "at": "2030-01-01T00:00:00Z"},
    {"to": "y", "at": datetime(2030, 1, 1, tzinfo=UTC)},
    steady=False,
)
class fresh_moment(BaseModel):
    to: str
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))


@row(
    {"to": "x"},
    {"to": "x", "thing": object()},
    {"to": "y", "thing": [1]},
    {"to": "y", "thing": [1]},
    steady=False,
    may_refuse=True,
)
class fresh_object(BaseModel):
    to: str
    thing: Any = Field(default_factory=object)


@row({"to": "x"}, {"to": "x", "copy_of": "x!"}, {"to": "y"}, {"to": "y", "copy_of": "y!"})
class default_from_the_others(BaseModel):
    to: str
    copy_of: str = Field(default_factory=lambda data: data["to"] + "!")
