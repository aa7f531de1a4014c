"""What a validated pydantic model hands to the tool: which keys, which values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from pydantic import AliasChoices, BaseModel, RootModel
from pydantic_core import to_jsonable_python

from agent.review.digest import canonical


def handed(value: BaseModel) -> dict[str, Any]:
    """The keys and JSON values with which LangChain calls the tool, written so that its schema reads them again."""
    handed = _plain(value, value.model_dump(mode="json", by_alias=False, warnings=False))
    if not isinstance(handed, dict):
        raise TypeError("the schema does not write an object")
    for name in ("args", "kwargs"):  # LangChain's stand-ins for *args and **kwargs: handed over only if given
        if name in type(value).model_fields and name not in value.model_fields_set:
            handed.pop(name, None)
    return handed


def _plain(value: Any, dumped: Any) -> Any:
    """The dump of a validated value, made readable by its own schema: aliases, sets and secrets put right."""
    if isinstance(value, RootModel):
        return _plain(value.root, dumped)
    if hasattr(value, "get_secret_value"):
        return to_jsonable_python(value.get_secret_value())  # the dump is all stars, and would be executed so
    if isinstance(dumped, dict):
        parts = parts_of(value)
        if isinstance(value, BaseModel):
            names = {name: key_of(type(value), name) for name in dumped if name in type(value).model_fields}
            names |= {name: name for name in value.model_extra or {}}
            return {key: _plain(parts[key].value, dumped[name]) for name, key in names.items()}
        return {
            key: _plain(parts[key].value if key in parts else None, inner) for key, inner in dumped.items()
        }
    if isinstance(dumped, list) and isinstance(value, Set | Sequence) and len(value) == len(dumped):
        items = [_plain(inner, item) for inner, item in zip(value, dumped, strict=True)]
        # A set has another order in every process; the digest must not.
        return sorted(items, key=canonical) if isinstance(value, Set) else items
    return dumped


@dataclass(frozen=True)
class Part:
    """One entry of a validated object."""

    value: Any
    keys: list[str]
    """The keys of a proposal it may come under."""
    is_set: bool = False
    """It is known not to be a default."""


def parts_of(value: Any) -> dict[str, Part]:
    """The entries of a validated object, by the key under which they are handed over."""
    if isinstance(value, BaseModel):
        model, given = type(value), value.model_fields_set
        parts = {
            key_of(model, name): Part(getattr(value, name), keys_of(model, name), name in given)
            for name in model.model_fields
        }
        return parts | {name: Part(inner, [name]) for name, inner in (value.model_extra or {}).items()}
    if is_dataclass(value):
        return {part.name: Part(getattr(value, part.name, None), [part.name]) for part in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): Part(inner, [str(key)]) for key, inner in value.items()}
    return {}


def key_of(model: type[BaseModel], name: str) -> str:
    """The key to hand a field over with: its name, unless the model takes it by alias only."""
    keys = keys_of(model, name)
    return name if name in keys else keys[0]


def keys_of(model: type[BaseModel], name: str) -> list[str]:
    """The keys under which a model takes a field, in the order in which pydantic looks for them."""
    alias, config = model.model_fields[name].validation_alias, model.model_config
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
    aliases = [choice for choice in choices if isinstance(choice, str)]
    if not aliases or config.get("validate_by_alias") is False:
        return [name]
    by_name = config.get("populate_by_name") or config.get("validate_by_name")
    return [*aliases, name] if by_name else aliases
