"""The console's settings: read once from the environment and `.env`, frozen, all problems named at once."""

from __future__ import annotations

import getpass
import hashlib
import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from agent.review.errors import SettingsError

SPAN = re.compile(r"(\d{1,6})\s*([smhd])")
UNIT = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def span(text: Any) -> timedelta | None:
    """`90s`, `15m`, `24h`, `30d` as a time, `never` as None. Raises `ValueError`."""
    if isinstance(text, timedelta) or text is None:
        return text
    if text == "never":
        return None
    found = SPAN.fullmatch(str(text).strip())
    if not found:
        raise ValueError("use a number with s, m, h or d, such as 24h, or never")
    return timedelta(**{UNIT[found[2]]: int(found[1])})


Span = Annotated[timedelta | None, NoDecode, BeforeValidator(span)]


def _whoami() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "reviewer"


class Settings(BaseSettings):
    """One field per variable; the variable is the field's name in capitals."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", frozen=True, env_ignore_empty=True)

    review_data: Path = Path(".data")
    """Folder of the ledger, the checkpoints and the demo world."""
    review_agents: Path = Path("langgraph.json")
    """The agents served, in LangGraph's own configuration format."""
    review_model: str = "demo"
    """The model a new thread starts with."""
    review_reviewer: str = Field(default_factory=_whoami, min_length=1, max_length=80)
    """The name a browser starts with, while there is no sign-in."""
    review_approve_by: Span = timedelta(hours=24)
    """How long a review may wait."""
    review_execute_by: Span = timedelta(hours=1)
    """How long an approval stays good."""
    review_anchor: Path | None = None
    """Where the trail's anchors go; by default a file in the user's state folder, one per data folder."""
    review_demo_delay: float = Field(default=0.02, ge=0, le=5)
    """Seconds between the demo model's words, so that one can watch it stream."""


def anchor_path(settings: Settings) -> Path:
    """The anchor file of these settings: outside the data folder, so that no copy of that folder holds it."""
    if settings.review_anchor is not None:
        return settings.review_anchor
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    name = hashlib.sha256(str(settings.review_data.resolve()).encode()).hexdigest()[:16]
    return state / "review-console" / f"anchors-{name}.jsonl"


def read() -> Settings:
    """The settings as the environment has them now. Raises `SettingsError` naming every wrong one."""
    try:
        return Settings()
    except ValidationError as error:
        raise SettingsError([_problem(one) for one in error.errors()]) from None


def _problem(one: Any) -> str:
    variable = "_".join(str(part) for part in one["loc"]).upper()
    words = str(one["msg"]).removeprefix("Value error, ")
    return f"{variable}={one['input']!r}: {words}"
