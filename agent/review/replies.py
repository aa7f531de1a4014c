"""The replies of a recorded model."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class RecordedCall(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str | None = None
    tool: str
    args: Any = Field(default={}, description="An object, or the raw text if it was not one.")


class RecordedReply(BaseModel):
    """One reply of a recorded model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = ""
    calls: list[RecordedCall] = []
