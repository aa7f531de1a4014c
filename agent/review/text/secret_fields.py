"""Find the fields of a form that ask for a secret: a reviewer should not type one where an agent reads it.

A field is judged by the words of its name, title and description in six languages, and by what its JSON Schema says of
it. A text that avoids all of these words, in another language for instance, is not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from agent.review.text.asking_words import asks_for_a_secret

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class SecretField:
    """A field of the form that asks for a secret, itself or somewhere inside it."""

    name: str
    """The property's name; "" for the answer as a whole."""
    why: str
    """The word or keyword that says so, such as `mot de passe` or `format: password`."""


_IN_PLACE = ("allOf", "anyOf", "oneOf")
_BRANCHES = ("if", "then", "else")
_INSIDE = (
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_DEFINITIONS = ("$defs", "definitions")


def secret_fields(schema: Schema) -> tuple[SecretField, ...]:
    """Return the form's fields that ask for a secret, each once, in the order of the schema.

    A field that can only be true or false, or one of given values, asks for none, whatever it is called.
    """
    walked = _Walk(schema)
    found: dict[str, str] = {}
    for name, why in walked.fields():
        if why:
            found.setdefault(name, why)
    return tuple(SecretField(name, why) for name, why in found.items())


@dataclass
class _Node:
    """A part of the schema: what it says by itself, and the parts in it."""

    why: str = ""
    same: list[int] = field(default_factory=list)
    """Parts that describe the same value, such as the branches of an `anyOf`."""
    inner: list[int] = field(default_factory=list)
    """Parts that describe values inside it without a name, such as `items`."""
    named: list[tuple[str, int | None, str]] = field(default_factory=list)
    """Parts that describe a property: its name, the part, and what its name says."""


class _Walk:
    """A schema, each part of it looked at once however often it is referred to."""

    def __init__(self, schema: Schema) -> None:
        self._root = schema
        self._nodes: dict[int, _Node] = {}
        self._to_visit: list[Any] = []
        self._kept: list[Any] = []
        """Keeps what an id stands for alive."""
        self._all_definitions = {"anyOf": [one for key in _DEFINITIONS for one in _values(schema.get(key))]}
        self._first = self._place(schema)
        while self._to_visit:
            self._visit(self._to_visit.pop())
        self._why = self._spread()

    def fields(self) -> Iterator[tuple[str, str]]:
        """Yield each top-level field with the reason why it asks for a secret, or ""; the whole answer is ""."""
        for number in self._parts_of_the_root():
            node = self._nodes[number]
            yield "", node.why
            for inner in node.inner:
                yield "", self._why.get(inner, "")
            for name, part, said in node.named:
                yield name, said or (self._why.get(part, "") if part is not None else "")

    def _parts_of_the_root(self) -> list[int]:
        found, seen = [self._first], {self._first}
        for number in found:
            new = [one for one in self._nodes[number].same if one not in seen]
            seen.update(new)
            found.extend(dict.fromkeys(new))
        return found

    def _spread(self) -> dict[int, str]:
        """Return, for each part in which a secret is asked for somewhere, the reason."""
        why = {number: node.why for number, node in self._nodes.items() if node.why}
        around: dict[int, list[int]] = {}
        for number, node in self._nodes.items():
            said = next((said for _, _, said in node.named if said), "")
            if said:
                why.setdefault(number, said)
            for inner in (*node.same, *node.inner, *(part for _, part, _ in node.named if part is not None)):
                around.setdefault(inner, []).append(number)
        spreading = list(why)
        for number in spreading:
            for outer in around.get(number, ()):
                if outer not in why:
                    why[outer] = why[number]
                    spreading.append(outer)
        return why

    def _place(self, part: Any) -> int:
        """Return the number of a part, which is visited if it was not."""
        if id(part) not in self._nodes:
            self._nodes[id(part)] = _Node()
            self._kept.append(part)
            self._to_visit.append(part)
        return id(part)

    def _visit(self, part: Any) -> None:
        if not isinstance(part, Mapping):
            return
        node = self._nodes[id(part)]
        node.why = _said_by(part)
        node.same = [self._place(one) for one in self._same(part)]
        node.inner = [self._place(one) for key in _INSIDE for one in _listed(part.get(key))]
        node.inner += [self._place(one) for one in _listed(part.get("prefixItems"))]
        properties = {**_mapping(part.get("patternProperties")), **_mapping(part.get("properties"))}
        for name, inner in properties.items():
            said = "" if _is_given(inner) else asks_for_a_secret(str(name))
            node.named.append((str(name), self._place(inner), said))
        required = part.get("required")
        for name in required if isinstance(required, list) else ():
            if isinstance(name, str) and name not in properties:
                node.named.append((name, None, asks_for_a_secret(name)))

    def _same(self, part: Schema) -> Iterator[Any]:
        for key in _IN_PLACE:
            yield from _listed(part.get(key))
        yield from (part[key] for key in _BRANCHES if key in part)
        yield from _values(part.get("dependentSchemas"))
        for key in ("$ref", "$dynamicRef"):
            if isinstance(reference := part.get(key), str):
                found = self._at(reference)
                # What cannot be found here may be any of the definitions, by an anchor for instance.
                yield self._all_definitions if found is None else found

    def _at(self, reference: str) -> Any:
        """Return what a pointer into this schema leads to; None if it is none, or leads nowhere."""
        if reference == "#":
            return self._root
        if not reference.startswith("#/"):
            return None
        found: Any = self._root
        for step in unquote(reference[2:]).split("/"):
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping):
                found = found.get(step)
            elif isinstance(found, list) and step.isascii() and step.isdigit() and len(step) < 10:
                found = found[int(step)] if int(step) < len(found) else None
            else:
                return None
        return found


def _said_by(part: Schema) -> str:
    """Return what a part of the schema says by itself that asks for a secret, or ""."""
    if part.get("format") == "password":
        return "format: password"
    if part.get("writeOnly") is True:
        return "writeOnly"
    if _is_given(part):
        return ""
    texts = (part.get(key) for key in ("title", "description"))
    return next((why for text in texts if isinstance(text, str) and (why := asks_for_a_secret(text))), "")


def _is_given(part: Any) -> bool:
    """Return whether all possible values are given, so that none of them can be a secret of the reviewer's."""
    if not isinstance(part, Mapping):
        return False
    types = part.get("type")
    kinds = types if isinstance(types, list) else [types]
    return (
        "const" in part
        or isinstance(part.get("enum"), list)
        or (bool(kinds) and all(one in ("boolean", "null") for one in kinds))
    )


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _values(value: Any) -> list[Any]:
    return list(_mapping(value).values())


def _mapping(value: Any) -> Schema:
    return value if isinstance(value, Mapping) else {}
