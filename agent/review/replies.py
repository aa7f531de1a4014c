"""What a recorded model replies."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class RecordedCall(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str | None = None
    tool: str
    args: Any = Field(default={}, description="An object, or the raw text where it was none.")


class RecordedReply(BaseModel):
    """One reply of a recorded model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = ""
    calls: list[RecordedCall] = []
