"""The console's settings: read once from the environment and `.env`, frozen, with all problems reported together."""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from agent.review.errors import InvalidMessage, SettingsError
from agent.review.origins import normal
from agent.review.people import check_name

SPAN = re.compile(r"(\d{1,6})\s*([smhd])")
DEMO = "demo"
"""The model that needs no key."""
SECRET = ("OPENAI_API_KEY",)
"""Variables whose value is never repeated."""
UNIT = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def span(text: Any) -> timedelta | None:
    """Parse `90s`, `15m`, `24h` or `30d` as a time, and `never` as None. Raises `ValueError`."""
    if isinstance(text, timedelta) or text is None:
        return text
    if text == "never":
        return None
    found = SPAN.fullmatch(str(text).strip())
    if not found:
        raise ValueError("use a number with s, m, h or d, such as 24h, or never")
    return timedelta(**{UNIT[found[2]]: int(found[1])})


Span = Annotated[timedelta | None, NoDecode, BeforeValidator(span)]


def _names(text: Any) -> Any:
    """Split comma-separated names into a tuple without repeats."""
    if not isinstance(text, str):
        return text
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _key(key: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[!-~]+", key.get_secret_value()):
        raise ValueError("a key has no spaces and no characters outside ASCII; copy it again")
    return key


def _url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("use an address such as https://api.openai.com/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("leave name, password and query out of the address; the key is OPENAI_API_KEY")
    return url.rstrip("/")


def _path(path: Path) -> Path:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass  # whether it suits its purpose is checked where it is used
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        raise ValueError(f"it cannot be a path ({said}); name another") from None
    return path


def _agents(path: Path) -> Path:
    try:
        graphs = json.loads(path.read_text(encoding="utf-8"))["graphs"]
    except OSError as error:
        raise ValueError(f"{error.strerror}; name a file in the format of langgraph.json") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("it is not in the format of langgraph.json: a JSON object with graphs") from None
    if not graphs or not isinstance(graphs, dict):
        raise ValueError("it names no graph")
    if odd := [name for name in graphs if not name.strip() or not name.isprintable()]:
        raise ValueError(f"a graph's name is text that can be printed; rename {odd[0]!r}")
    return path


def _data(path: Path) -> Path:
    found = next(one for one in (path.absolute(), *path.absolute().parents) if one.exists())
    if not found.is_dir():
        raise ValueError(f"{found} is a file; name a folder")
    if not os.access(found, os.W_OK | os.X_OK):
        raise ValueError(f"{found} cannot be written to; name another folder, or allow it")
    return path


def _origins(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(normal(text.removesuffix("/")) for text in texts))


def _reviewer(name: str) -> str:
    try:
        return check_name(name)
    except InvalidMessage as error:
        raise ValueError(str(error)) from None


def _whoami() -> str:
    try:
        return check_name(getpass.getuser())
    except (KeyError, OSError, InvalidMessage):  # a container's user may have no name, or be "nobody"
        return "reviewer"


class Settings(BaseSettings):
    """One field per variable; the variable is the field's name in capitals."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", frozen=True, env_ignore_empty=True)

    review_data: Annotated[Path, AfterValidator(_path), AfterValidator(_data)] = Path(".data")
    """Folder of the ledger, the checkpoints and the demo world."""
    review_agents: Annotated[Path, AfterValidator(_path), AfterValidator(_agents)] = Path("langgraph.json")
    """The agents served, in LangGraph's own configuration format."""
    review_config: Annotated[Path, AfterValidator(_path)] | None = None
    """What each external agent is given when it runs; by default `review.toml` next to the file of agents."""
    openai_api_key: Annotated[SecretStr, AfterValidator(_key)] | None = None
    """The provider's key; once it is set, real models are offered as well as the demo model."""
    openai_base_url: Annotated[str, AfterValidator(_url)] | None = None
    """The address of a server with OpenAI's interface; by default OpenAI itself."""
    openai_models: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_names), Field(min_length=1)] = (
        "gpt-5.4-mini",
    )
    """The real models offered, separated by commas."""
    review_model: str = Field(default=DEMO, validate_default=True)
    """The model a new thread starts with."""
    review_reviewer: Annotated[str, AfterValidator(_reviewer)] = Field(default_factory=_whoami)
    """The name that the command line acts under, and that a browser is offered to confirm."""
    review_origins: Annotated[
        tuple[str, ...], NoDecode, BeforeValidator(_names), AfterValidator(_origins)
    ] = ()
    """Further origins of the console's own pages, such as a proxy's, separated by commas."""
    review_embedders: Annotated[
        tuple[str, ...], NoDecode, BeforeValidator(_names), AfterValidator(_origins)
    ] = ()
    """Origins whose pages may show the console in a frame, separated by commas."""
    review_approve_by: Span = timedelta(hours=24)
    """How long a review may wait."""
    review_execute_by: Span = timedelta(hours=1)
    """How long an approval stays valid."""
    review_anchor: Annotated[Path, AfterValidator(_path)] | None = None
    """Where the trail's anchors go; by default a file in the user's state folder, one per data folder."""
    review_key: Annotated[Path, AfterValidator(_path)] | None = None
    """The file with the key of digests and chain; by default next to the anchors."""
    review_demo_delay: float = Field(default=0.02, ge=0, le=5)
    """Seconds between the demo model's words, so that one can watch it stream."""

    @field_validator("openai_models")
    @classmethod
    def _not_the_demo(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if DEMO in names:
            raise ValueError(f"{DEMO} is the demo model's own name; leave it out")
        return names

    @field_validator("review_model")
    @classmethod
    def _is_offered(cls, name: str, info: ValidationInfo) -> str:
        if name != DEMO and info.data.get("openai_api_key") is None:
            raise ValueError(f"without OPENAI_API_KEY there is only {DEMO}")
        offered = (DEMO, *info.data.get("openai_models", (name,)))
        if name not in offered:
            raise ValueError(f"use one of {', '.join(offered)}, or add it to OPENAI_MODELS")
        return name


def anchor_path(settings: Settings) -> Path:
    """Return the path of the anchor file: outside the data folder, so that copies of that folder do not include it."""
    if settings.review_anchor is not None:
        return settings.review_anchor
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    name = hashlib.sha256(str(settings.review_data.resolve()).encode()).hexdigest()[:16]
    return state / "review-console" / f"anchors-{name}.jsonl"


def key_path(settings: Settings) -> Path:
    """Return the path of the key file: next to the anchors, so that copies of the data folder do not include it."""
    if settings.review_key is not None:
        return settings.review_key
    anchors = anchor_path(settings)
    return anchors.with_name(f"{anchors.name}.key")


def read() -> Settings:
    """Return the settings in the present environment. Raises `SettingsError`, which names every wrong one."""
    try:
        return Settings()
    except ValidationError as error:
        raise SettingsError([_problem(one) for one in error.errors()]) from None
    except UnicodeDecodeError as error:
        raise SettingsError([f".env: it is not UTF-8 text ({error.reason}); save it as UTF-8"]) from None
    except OSError as error:
        raise SettingsError([f".env: {error.strerror}; allow the console to read it"]) from None


def _problem(one: Any) -> str:
    variable = "_".join(str(part) for part in one["loc"]).upper()
    words = str(one["msg"]).removeprefix("Value error, ")
    shown = "" if variable in SECRET else f"={one['input']!r}"
    return f"{variable}{shown}: {words}"
