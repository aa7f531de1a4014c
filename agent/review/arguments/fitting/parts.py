"""The entries of a validated value: their names, their values, and the keys under which a proposal may give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from pydantic import AliasChoices, AliasPath, BaseModel


@dataclass(frozen=True)
class ParsedEntry:
    """One entry of a validated object."""

    value: Any
    keys: list[str]
    """The keys under which a proposal may give it."""
    is_set: bool = False
    """True if it is known not to be a default."""


def parts_of(value: Any) -> dict[str, ParsedEntry]:
    """Return the entries of a validated object, by the name under which the tool's function finds them."""
    if isinstance(value, BaseModel):
        model, given = type(value), value.model_fields_set
        parts = {
            name: ParsedEntry(getattr(value, name), keys_of(model, name), name in given)
            for name in model.model_fields
        }
        return parts | {name: ParsedEntry(inner, [name]) for name, inner in (value.model_extra or {}).items()}
    if is_dataclass(value):
        return {
            part.name: ParsedEntry(getattr(value, part.name, None), [part.name]) for part in fields(value)
        }
    if isinstance(value, Mapping):
        return {str(key): ParsedEntry(inner, [str(key)]) for key, inner in value.items()}
    return {}


def key_of(model: type[BaseModel], name: str) -> str:
    """Return the key to give a field under: its name, unless the model takes it by alias only."""
    keys = keys_of(model, name)
    return name if name in keys else keys[0]


def keys_of(model: type[BaseModel], name: str) -> list[str]:
    """Return the keys under which a model takes a field, in the order in which pydantic looks for them."""
    alias, config = model.model_fields[name].validation_alias, model.model_config
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
    aliases = [key for choice in choices if isinstance(key := _first_key(choice), str)]
    if not aliases or config.get("validate_by_alias") is False:
        return [name]
    by_name = config.get("populate_by_name") or config.get("validate_by_name")
    return [*aliases, name] if by_name else aliases


def _first_key(choice: Any) -> Any:
    return choice.path[0] if isinstance(choice, AliasPath) else choice
