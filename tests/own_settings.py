"""Settings that a test makes."""

from __future__ import annotations

from pydantic_settings import SettingsConfigDict

from agent.settings import Settings


class OwnSettings(Settings):
    """Settings that no `.env` file changes."""

    model_config = SettingsConfigDict(env_file=None)
