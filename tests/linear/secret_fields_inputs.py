"""The worst inputs known for finding the fields of a form that ask for a secret."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.review.text.secret_fields import secret_fields

Case = tuple[Callable[[Any], object], Callable[[int], Any]]


def titled(piece: str) -> Callable[[int], dict[str, Any]]:
    return lambda n: {"title": piece * (n // len(piece))}


def properties(name: str, inner: dict[str, Any]) -> Callable[[int], dict[str, Any]]:
    return lambda n: {"properties": {name.format(place): inner for place in range(n // (len(name) + 20))}}


def nested(n: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"title": "password"}
    for _ in range(n // 40):
        schema = {"properties": {"inner": schema}}
    return schema


def chained(n: int) -> dict[str, Any]:
    """Definitions each of which refers twice to the next."""
    count = n // 100
    defs: dict[str, Any] = {
        f"d{place}": {"properties": {side: {"$ref": f"#/$defs/d{place + 1}"} for side in ("a", "b")}}
        for place in range(count)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{count}": {"title": "password"}}}


def all_definitions(n: int) -> dict[str, Any]:
    """References that may mean any of the definitions."""
    count = n // 80
    return {
        "properties": {f"p{place}": {"$ref": "#anchor"} for place in range(count)},
        "$defs": {f"d{place}": {"title": "a"} for place in range(count)},
    }


TEXTS = {
    "words": "a ",
    "first words of phrases": "mot de ",
    "keys": "key ",
    "keys and connectors": "key de la ",
    "connectors": "de ",
    "capitals": "A",
    "humps": "aB",
    "a word": "a",
    "Korean particles": "키를",
    "Korean words": "가를 ",
    "invisible characters": "\u200b",
    "accents": "e\u0301\u0323",
    "accents in a row": "\u0301\u0323",
    "composed letters": "ḗǭ",
    "ligatures": "\ufdfa",
    "jamo": "\u1107\u1175",
}
CASES: dict[str, Case] = {
    **{f"secret_fields: {name}": (secret_fields, titled(piece)) for name, piece in TEXTS.items()},
    "secret_fields: properties": (secret_fields, properties("field_{}", {"type": "string"})),
    "secret_fields: secret properties": (secret_fields, properties("password_{}", {"type": "string"})),
    "secret_fields: objects in objects": (secret_fields, nested),
    "secret_fields: definitions that refer to each other": (secret_fields, chained),
    "secret_fields: references to any definition": (secret_fields, all_definitions),
    "secret_fields: a long reference": (secret_fields, lambda n: {"$ref": "#" + "/a" * (n // 2)}),
    "secret_fields: required names": (
        secret_fields,
        lambda n: {"required": [f"name{place}" for place in range(n // 12)]},
    ),
}
